"""Table check: what a domain and a unit do to a table, in exact numbers, for the curator alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from eke.domain import Attribute, Replace, Rule
from eke.domain.fate import Fate
from eke.errors import SecretLeak
from eke.privacy.unit import Unit

MOST_LOST = 0.05
"""The share of rows that a domain and a unit may leave out before somebody must agree."""
MOST_OUTSIDE = 0.5
"""The same for the share of a column's values that are not declared."""
_NEVER = {
    "null": ("missing values", "Write bucket, drop or a replacement"),
    "outside": (
        "values that are not declared",
        "Declare them (wider bounds, a finer step), or say what becomes of them",
    ),
}
_EFFECTS = ("dropped", "clamped", "replaced", "bucket")
_HEADINGS = ("column", "missing", "outside", *_EFFECTS, "rounded", "rules")


@dataclass(frozen=True, slots=True)
class ColumnCheck:
    """How many values of a column are not declared, and what the rules make of them."""

    name: str
    attribute: Attribute
    missing: int
    beyond: int  # numbers below or above all bounds
    undeclared: int  # anything else that is not declared
    rounded: int = 0  # numbers between declared ones

    @property
    def outside(self) -> int:
        """Values that are there, but not declared."""
        return self.beyond + self.undeclared

    @property
    def dropped(self) -> int:
        """Rows that a value of this column takes out of the table."""
        return self.effects["dropped"]

    @property
    def effects(self) -> dict[str, int]:
        """Values by what becomes of them: dropped with their rows, clamped, replaced, bucket."""
        counts = dict.fromkeys(_EFFECTS, 0)
        for fate, count in self._counts():
            counts[_effect(self.attribute.rule_of(fate))] += count
        return counts

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        outside = {"missing": self.missing, "outside": self.outside}
        return {"column": self.name, **outside, **self.effects, "rounded": self.rounded}

    def contradicted(self) -> set[str]:
        """Which of its rules, null and outside, say `never` although there are such values."""
        broken = {
            _rule_name(self.attribute, fate)
            for fate, count in self._counts()
            if count and self.attribute.rule_of(fate) == "never"
        }
        rounds = self.rounded and self.attribute.outside == "never"
        return broken | {"outside"} if rounds else broken

    @property
    def worst_rule(self) -> str:
        """The rule by which most rows are dropped, as the domain writes it."""
        by_null = sum(
            count
            for fate, count in self._counts()
            if _effect(self.attribute.rule_of(fate)) == "dropped"
            and _rule_name(self.attribute, fate) == "null"
        )
        name = "null" if 2 * by_null > self.dropped else "outside"
        return f"{name}: drop"

    def _counts(self) -> tuple[tuple[Fate, int], ...]:
        return (
            (Fate.MISSING, self.missing),
            (Fate.BEYOND, self.beyond),
            (Fate.UNDECLARED, self.undeclared),
        )


@dataclass(frozen=True, slots=True)
class UnitCheck:
    """How many ids there are, and how many rows are left out because an id has too many."""

    unit: Unit
    ids: int
    cut: int  # ids with more rows than are counted
    truncated: int  # rows

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        named = {"column": self.unit.column, "rows": self.unit.rows}
        return {**named, "ids": self.ids, "ids_cut": self.cut, "rows_truncated": self.truncated}


@dataclass(frozen=True, slots=True)
class TableCheck:
    """What becomes of the rows of a table; printed, it is a table. Made by `eke.check`.

    Attributes:
        rows: how many were read.
        dropped: rows with a value that a rule drops.
        columns: of each column how many values are `missing` or `outside`, and what the rules make
            of them (`effects`).
        unit: how many ids there are, and how many have too many rows; None without a unit.

    Privacy: Every number is exact and private, and nothing is spent on it. It is for the eyes of
    whoever may read the table anyway: eke never stores it, sends it to nobody, and no answer
    depends on it. Who changes a domain after looking at it publishes what was seen; see
    docs/concepts/privacy-promise.md.
    """

    rows: int
    dropped: int
    columns: tuple[ColumnCheck, ...]
    unit: UnitCheck | None = None

    @property
    def truncated(self) -> int:
        """Rows left out because their id has too many."""
        return 0 if self.unit is None else self.unit.truncated

    @property
    def kept(self) -> int:
        """Rows that are counted."""
        return self.rows - self.dropped - self.truncated

    @property
    def clamped(self) -> int:
        """Values that were brought to the nearest bound."""
        return sum(column.effects["clamped"] for column in self.columns)

    @property
    def losing_most(self) -> ColumnCheck | None:
        """The column that drops most rows, else the one with most undeclared values, if any."""
        worst = max(self.columns, key=lambda column: (column.dropped, column.outside))
        return worst if worst.dropped or worst.outside else None

    def problems(self) -> list[str]:
        """What a curator must have agreed to, a sentence each with what to do; it has no numbers.

        More than 5 % of the rows are left out, or more than half of the values of a column that
        are there are not declared.
        """
        sentences = []
        if self.dropped + self.truncated > MOST_LOST * self.rows:
            sentences += self._lost_rows()
        for column in self.columns:
            if column.outside > MOST_OUTSIDE * (self.rows - column.missing):
                sentences.append(
                    f"more than half of the values of column {column.name!r} are not declared and "
                    f"follow its rule outside: {_rule_text(column.attribute.outside)}. Check its "
                    "bounds, its unit of measurement, and the spelling of its values"
                )
        return sentences

    def contradictions(self) -> list[str]:
        """Where the table contradicts a rule `never` of the domain: a sentence for each rule."""
        sentences = []
        for rule, (what, advice) in _NEVER.items():
            names = [repr(c.name) for c in self.columns if rule in c.contradicted()]
            if names:
                sentences.append(
                    f"the rule of {', '.join(names)} is {rule}: never, and there are {what}. "
                    f"{advice}; in a CSV file, name texts that mean missing with --null"
                )
        return sentences

    def short(self) -> str:
        """Rows kept and lost in one sentence, and the column that loses most."""
        parts = [f"{self.dropped:,} dropped"]
        if self.unit is not None:
            parts.append(f"{self.truncated:,} truncated")
        text = (
            f"{self.rows:,} rows read, {self.kept:,} kept{self._share()}: {', '.join(parts)}; "
            f"{self.clamped:,} values clamped."
        )
        worst = self.losing_most
        if worst is not None:
            text += (
                f" Column {worst.name!r} loses most: {worst.dropped:,} rows dropped, "
                f"{worst.outside:,} values not declared."
            )
        return text

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "rows": self.rows,
            "kept": self.kept,
            "dropped": self.dropped,
            "columns": [column.to_dict() for column in self.columns],
            "unit": None if self.unit is None else self.unit.to_dict(),
            "problems": [*self.contradictions(), *self.problems()],
        }

    def __str__(self) -> str:
        lines = [f"{self.rows:,} rows read, {self.kept:,} kept{self._share()}"]
        lines.append(f"{self.dropped:,} rows dropped by the domain")
        if self.unit is not None:
            lines.append(
                f"{self.truncated:,} rows truncated: {self.unit.cut:,} of {self.unit.ids:,} ids "
                f"({self.unit.unit.column}) have more than {self.unit.unit.rows:,}"
            )
        cells = [_HEADINGS, *(_line(column) for column in self.columns)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines.append("")
        for name, *numbers, rules in cells:
            right = [text.rjust(width) for text, width in zip(numbers, widths[1:-1], strict=True)]
            lines.append("  ".join([name.ljust(widths[0]), *right, rules]))
        return "\n".join(lines)

    def __reduce__(self) -> NoReturn:
        raise SecretLeak("a table check holds exact counts; print it, do not store it")

    def _lost_rows(self) -> list[str]:
        lost = self.dropped + self.truncated
        sentences = []
        worst = self.losing_most
        if worst is not None and 2 * self.dropped >= lost:
            sentences.append(
                "more than 5 % of the rows would be left out; of all columns "
                f"{worst.name!r} drops most, by its rule {worst.worst_rule}. Declare the public "
                "values that it lacks, or write bucket or a replacement instead of drop"
            )
        if self.unit is not None and 2 * self.truncated >= lost:
            sentences.append(
                "more than 5 % of the rows would be left out, because ids of column "
                f"{self.unit.unit.column!r} have more rows than the {self.unit.unit.rows:,} that "
                "are counted. Count more rows of each id, which costs more, or aggregate the table "
                "to fewer rows an id"
            )
        return sentences

    def _share(self) -> str:
        return f" ({self.kept / self.rows:.1%})".replace("%", " %") if self.rows else ""


def _line(column: ColumnCheck) -> tuple[str, ...]:
    numbers = (column.missing, column.outside, *column.effects.values(), column.rounded)
    null, outside = (_rule_text(rule) for rule in (column.attribute.null, column.attribute.outside))
    return (column.name, *(f"{n:,}" for n in numbers), f"null: {null}, outside: {outside}")


def _effect(rule: Rule | None) -> str:
    if isinstance(rule, Replace):
        return "replaced"
    effects = {"drop": "dropped", "never": "dropped", "clamp": "clamped", "bucket": "bucket"}
    return effects[str(rule)]


def _rule_name(attribute: Attribute, fate: Fate) -> str:
    as_missing = fate is Fate.UNDECLARED and attribute.outside == "clamp"
    return "null" if fate is Fate.MISSING or as_missing else "outside"


def _rule_text(rule: Rule) -> str:
    return f"replace by {rule.value!r}" if isinstance(rule, Replace) else str(rule)
