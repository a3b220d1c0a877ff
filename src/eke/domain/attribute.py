"""Attribute: the public values of one column, and everything that others need to know of it.

Each attribute maps *every* raw value, NULL, NaN and infinities included, to one of its codes
0..size-1, or says that the row is not part of the protected table (rule ``"drop"``). The mapping
is total, so no raw value can raise an error or change the shape of a result.

A kind of column is one class in a file of its own (`categorical.py`, `integer.py`, ...), entered in
`kinds.py`. It says itself how it is written in a file, how an engine finds codes, what SQL takes it
for, which ranges it has and how people read it; nobody else asks which kind it is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from fractions import Fraction
from typing import Any, ClassVar, Literal, TypeAlias, cast

from eke.domain.fate import Fate
from eke.domain.placing import Listed, Placing
from eke.domain.rule import Replace, Rule, number_text, plain
from eke.domain.wide import is_wide, unlisted
from eke.errors import DomainError, QueryError

Label: TypeAlias = str | int | float | bool | tuple[float, float] | None
End: TypeAlias = float | Fraction | None
"""One end of a range; None leaves it open."""
SqlKind: TypeAlias = Literal[
    "number", "midpoint", "category", "truth", "text", "day", "moment", "clock"
]
"""What a column is in SQL: an exact number, the middle of a bin, a number only to compare, ..."""

BUCKET_TEXT = "missing"
_SHOWN = 12


class Attribute(ABC):
    """What all kinds of columns share: labels, the optional bucket and the rules.

    Attributes:
        null: the rule for NULL and NaN.
        outside: the rule for values that are not declared.

    Example:
        >>> answer = eke.Categorical("yes", "no", null="bucket")
        >>> answer.declared, answer.labels, answer.size
        (('yes', 'no'), ('yes', 'no', None), 3)
        >>> answer.code("no"), answer.code(None), answer.code("maybe")
        (1, 2, None)
    """

    __slots__ = ()
    kind: ClassVar[str]
    """The name of the kind in files."""
    is_ordered: ClassVar[bool] = False
    """Whether values that follow each other are alike, so that they may be joined."""
    null: Rule
    outside: Rule

    # -- values and codes ----------------------------------------------------------------------

    @property
    @abstractmethod
    def declared(self) -> tuple[Label, ...]:
        """The listed values without the bucket, one a code."""

    @property
    @abstractmethod
    def placing(self) -> Placing:
        """How a number or a text finds its code: what data engines are told."""

    @abstractmethod
    def _find(self, raw: object) -> int | None:
        """The code of a plain value that is not missing; None when it is not declared."""

    @property
    def has_bucket(self) -> bool:
        """True when a cell of its own takes missing (or outside) values; its label is None."""
        return self.null == "bucket" or self.outside == "bucket"

    @property
    def drops(self) -> bool:
        """True when some raw value takes its row out of the protected table."""
        return not {"drop", "never"}.isdisjoint((self.null, self.outside))

    @property
    def labels(self) -> tuple[Label, ...]:
        """One public label a code, in order; the bucket, if any, comes last as None."""
        return (*self.declared, None) if self.has_bucket else self.declared

    @property
    def size(self) -> int:
        """How many values it has, the bucket included."""
        return len(self.declared) + self.has_bucket

    @property
    def is_wide(self) -> bool:
        """Whether it has more values than anything may list."""
        return is_wide(self.size)

    def check_listed(self) -> None:
        """Raise unless its values may be listed."""
        if self.is_wide:
            raise DomainError(unlisted(self.size))

    def code(self, raw: object) -> int | None:
        """The code of a raw value, or None when its row is dropped."""
        # The data layer's slow twin.
        value = plain(raw)
        if _is_missing(value):
            return self._by_rule(self.null, None)
        code = self._find(value)
        return self._by_rule(self.outside, value) if code is None else code

    def fate(self, raw: object) -> Fate:
        """What a raw value is to this attribute (the slow twin of the data layer's reports)."""
        value = plain(raw)
        if _is_missing(value):
            return Fate.MISSING
        if self._find(value) is not None:
            return Fate.DECLARED if self._is_exact(value) else Fate.ROUNDED
        bounded = not isinstance(self.placing, Listed)
        return Fate.BEYOND if bounded and self._has_side(value) else Fate.UNDECLARED

    def rule_of(self, fate: Fate) -> Rule | None:
        """The rule that values of a fate follow; None for declared ones."""
        if fate in (Fate.DECLARED, Fate.ROUNDED):
            return None
        as_missing = fate is Fate.UNDECLARED and self.outside == "clamp"
        return self.null if as_missing or fate is Fate.MISSING else self.outside

    def declared_code(self, value: object) -> int | None:
        """The code of a value as a person would write it: no rule applies, and True is not 1."""
        python_value = plain(value)
        return None if isinstance(python_value, bool) else self._find(python_value)

    @property
    def beyond(self) -> tuple[int | None, int | None]:
        """The codes of values below and above all bounds."""
        return self.code(-math.inf), self.code(math.inf)

    def _has_side(self, raw: object) -> bool:
        """True for a value that lies below or above the bounds if it is not between them."""
        return isinstance(raw, (int, float, Fraction))

    def _is_exact(self, raw: object) -> bool:
        """False for a number between declared ones."""
        del raw
        return True

    def _clamp(self, raw: object) -> int | None:
        raise NotImplementedError  # only kinds whose rules may say so

    def _by_rule(self, rule: Rule, raw: object) -> int | None:
        if rule == "drop" or rule == "never":  # noqa: PLR1714 - mypy narrows by it
            return None
        if rule == "bucket":
            return self.size - 1
        if rule == "clamp":
            # Text in a numeric column is not below or above anything: it is as good as NULL.
            return self._clamp(raw) if self._has_side(raw) else self._by_rule(self.null, None)
        return self.declared_code(rule.value)

    def _check_replacements(self) -> None:
        for rule in (self.null, self.outside):
            if isinstance(rule, Replace) and self.declared_code(rule.value) is None:
                raise DomainError(
                    f"replacement value {rule.value!r} is not a declared value; "
                    "declare it or replace by another one"
                )

    # -- files ---------------------------------------------------------------------------------

    @abstractmethod
    def fields(self) -> dict[str, Any]:
        """What a file says of it besides its kind and its rules."""

    @classmethod
    @abstractmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> Attribute:
        """The attribute of such fields and rules; a missing one is a KeyError."""

    # -- questions -----------------------------------------------------------------------------

    @property
    @abstractmethod
    def sql_kind(self) -> SqlKind:
        """What SQL takes the column for."""

    @property
    def has_numbers(self) -> bool:
        """Whether its values can be summed."""
        return True

    def numbers(self) -> tuple[Fraction, ...]:
        """The number each code stands for in sums and moments (the bucket counts as 0)."""
        raise DomainError(
            "this attribute has no numbers to sum; "
            "declare it as Integer, Numeric, Binned or Boolean"
        )

    def whole_numbers(self) -> tuple[list[int], int]:
        """(integers, unit): the number of each code is its integer divided by the unit."""
        return as_whole(self.numbers())

    @property
    def progression(self) -> tuple[Fraction, Fraction] | None:
        """(first number, step) if the numbers of the declared codes are evenly spaced, else None.

        The same as `numbers`, without a number for each of what may be millions of codes.
        """
        return None

    def half_widths(self) -> tuple[Fraction, ...] | None:
        """How far the table's values may be from the number of each code; None: not at all.

        It is about values within the declared bounds; for others see `outside`.
        """
        return None

    @property
    def has_bins(self) -> bool:
        """True when a value stands for a range of numbers, and nobody knows which of them it is."""
        return False

    def widest_half(self, codes: Iterable[int] | None = None) -> Fraction:
        """The largest of `half_widths`: of some codes, or of all."""
        halves = self.half_widths() or ()
        if codes is not None and halves:
            halves = tuple(halves[code] for code in codes)
        return max(halves, default=Fraction(0))

    def chosen_code(self, value: object) -> int:
        """The code of a value in a question; one that is not declared is an error."""
        code = self.declared_code(value)
        if code is None:
            raise QueryError(f"{value!r} is not a declared value; {self._declared_text()}")
        return code

    def range_end(self, end: object) -> End:
        """One end of a range as a number that `codes_between` takes."""
        bound = plain(end)
        if bound is None:
            return None
        is_number = isinstance(bound, (int, float, Fraction)) and not isinstance(bound, bool)
        if not is_number or _is_missing(bound):
            raise QueryError("the ends of a range must be numbers or None, not text, True or NaN")
        return cast("End", bound)

    def last_end(self, end: object) -> End:
        """The same of the upper end."""
        return self.range_end(end)

    def end_text(self, end: End) -> str:
        """One end of a range as people write it."""
        return end_text(end)

    def step_numbers(self) -> tuple[list[int], int]:
        """(numbers, seconds): the step of each code since 1970 or midnight, and how long one is."""
        raise DomainError("only days, moments and times of day have steps")

    def codes_between(self, low: End, high: End) -> slice:
        """The codes of a range, low not above high."""
        del low, high
        raise QueryError(
            "ranges need an attribute of numbers, days or times; list the values instead: "
            + self._declared_text()
        )

    def _declared_text(self) -> str:
        shown = ", ".join(repr(value) for value in self.declared[:_SHOWN])
        more = len(self.declared) - _SHOWN
        return f"declared are {shown}" + (f" and {more} more" if more > 0 else "")

    # -- reading -------------------------------------------------------------------------------

    def label_text(self, code: int) -> str:
        """A code's label as people read it."""
        label = self.labels[code]
        return BUCKET_TEXT if label is None else str(label)

    @property
    def values_text(self) -> str:
        """The declared values in a few words."""
        shown = ", ".join(self.label_text(code) for code in range(min(self._listed, _SHOWN)))
        more = self._listed - _SHOWN
        return f"{shown} and {more:,} more" if more > 0 else shown

    @property
    def _listed(self) -> int:
        return self.size - self.has_bucket

    def range_text(self, first: int, last: int) -> str | None:
        """What a condition on several codes in a row says of a column; None if it lists them."""
        del first, last
        return None

    @property
    def cell_values(self) -> tuple[object, ...]:
        """What a table of new rows holds for each code."""
        return self.labels


def _is_missing(value: object) -> bool:
    """True for None, NaN and pandas' NaT, which differ from themselves."""
    return value is None or (isinstance(value, (float, datetime)) and value != value)  # noqa: PLR0124


def as_whole(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """(integers, unit): each number is its integer divided by the unit."""
    unit = math.lcm(*(number.denominator for number in numbers))
    return [number.numerator * (unit // number.denominator) for number in numbers], unit


def end_text(end: End) -> str:
    """One end of a range as people write it."""
    if end is None:
        return "an open end"
    if isinstance(end, (int, Fraction)) or math.isinf(end):
        return str(end)
    return number_text(end)


def plain_label(label: object) -> object:
    """A label as one value, for tables and files: a bin is a text with its two edges."""
    if not isinstance(label, tuple):
        return label
    return f"{number_text(label[0])} to {number_text(label[1])}"
