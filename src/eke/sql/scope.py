"""Scope: which table a SELECT reads, and what each name in it means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from eke.errors import DomainError
from eke.sql.diagram import Diagram
from eke.sql.place import echo, strange_letters, suggestion
from eke.sql.value import Reading, Value

_ONE_DATASET = "a question is about one dataset: ask each by itself"


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """A table as a SELECT sees it: its columns, and which rows of the protected table it keeps."""

    columns: Mapping[str, Value]  # by names that need nothing before a dot
    kept: Diagram  # rows where this is True
    tables: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    """What may stand before the dot, in lower case, and the columns after it."""
    ambiguous: frozenset[str] = frozenset()
    """In lower case: names that several joined tables have."""
    people: frozenset[str] = frozenset()
    """The names of the id that is protected, which is no column (`people.py`)."""
    carriers: frozenset[str] = frozenset()
    """What may stand before the dot and the id, in lower case."""

    def called(self, names: Iterable[str]) -> Relation:
        called = [name.casefold() for name in names]
        carriers = frozenset(called if self.people else ())
        return replace(self, tables=dict.fromkeys(called, self.columns), carriers=carriers)

    def keeping(self, kept: Diagram) -> Relation:
        return replace(self, kept=kept)


class LazyColumns(Mapping[str, Value]):
    """The columns of a table, each worked out when it is first used."""

    def __init__(self, makers: Mapping[str, Callable[[], Value]]) -> None:
        self._makers = makers
        self._made: dict[str, Value] = {}
        self._making: list[str] = []

    def __getitem__(self, name: str) -> Value:
        if name not in self._made:
            if name in self._making:
                circle = " → ".join([*self._making[self._making.index(name) :], name])
                raise DomainError(f"derived columns are made of each other: {circle}; mend one")
            self._making.append(name)
            try:
                self._made[name] = self._makers[name]()
            finally:
                self._making.pop()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(slots=True)
class Tables:
    """The tables that a FROM may name: the protected one, and CTEs before it.

    Declared lookups stand after JOIN only: by themselves they say nothing of any record.
    """

    protected: Relation
    name: str | None  # of the protected table; None accepts the first name that is used
    common: dict[str, Relation] = field(default_factory=dict)  # by name in lower case

    def find(self, reading: Reading, node: exp.Table) -> Relation:
        """The relation that a table name means."""
        identifier = node.this
        if not isinstance(identifier, exp.Identifier):
            raise reading.error(
                node,
                "functions and files are not read from a question; write FROM and the name of the "
                "protected table",
            )
        written = str(identifier.this)
        if reading.text.characters[identifier.meta.get("start", 0)] == "'":
            raise reading.error(
                node, "files are not read from a question; write FROM and the table's own name"
            )
        key = written.casefold()
        if key in self.common:
            return self.common[key].called(self._names(node, written))
        lookup = next((o for o in reading.domain.lookups if o.name.casefold() == key), None)
        if lookup is not None and key != (self.name or "").casefold():
            raise reading.error(
                node,
                f"{lookup.name!r} is a public lookup and holds no records; begin with the "
                f"protected table: FROM t JOIN {lookup.name} USING ({', '.join(lookup.keys)})",
            )
        if self.name is None:
            self.name = written
        if key != self.name.casefold():
            advice = suggestion(written, [self.name, *self.common])
            if not advice.startswith("did you mean"):
                advice += f"; {_ONE_DATASET}"
            raise reading.error(
                node, f"there is no table {echo(written)!r}{strange_letters(written)}; {advice}"
            )
        return self.protected.called(self._names(node, written))

    @staticmethod
    def _names(node: exp.Table, written: str) -> list[str]:
        # Once a table has an alias, SQL knows it by the alias only.
        alias = node.args.get("alias")
        return [str(alias.this.this)] if alias is not None and alias.this else [written]


def find_column(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    """What a column holds."""
    columns, name = named_column(reading, relation, node)
    return columns[name]


def named_column(
    reading: Reading, relation: Relation, node: exp.Expr
) -> tuple[Mapping[str, Value], str]:
    """The columns among which a name is looked for, and the one that it means.

    In upper or lower case unless it is quoted.
    """
    qualifier, identifier = node.args.get("table"), node.this
    if isinstance(identifier, exp.Star):
        raise reading.error(node, "* stands for whole records here; name the columns")
    columns = relation.columns if qualifier is None else behind(reading, relation, node)
    written = str(identifier.this)
    if qualifier is None and written.casefold() in relation.ambiguous:
        owners = [t for t, own in relation.tables.items() if matching(own, written, quoted=False)]
        ways = " or ".join(f"{owner}.{written}" for owner in owners)
        raise reading.error(
            node, f"several tables have a column {echo(written)!r}; write {echo(ways)}"
        )
    name = matching(columns, written, quoted=bool(identifier.args.get("quoted")))
    if name is None and matching(relation.people, written, quoted=False):
        raise reading.error(
            node,
            f"{echo(written)!r} is the id that is protected, and can only be counted, as in "
            f"COUNT(DISTINCT {echo(written)})",
        )
    if name is None:
        named = written.casefold() in map(str.casefold, columns)
        meant = bool(identifier.args.get("quoted")) and not named
        text = f"a text stands in single quotes: '{echo(written)}'; " if meant else ""
        raise reading.error(
            node,
            f"there is no column {echo(written)!r}{strange_letters(written)}; {text}"
            + suggestion(written, columns),
        )
    if name == "":
        raise reading.error(
            node,
            f"several columns differ from {echo(written)!r} in upper and lower case only; write "
            "the name in double quotes",
        )
    return columns, name


def behind(reading: Reading, relation: Relation, node: exp.Expr) -> Mapping[str, Value]:
    """The columns of what stands before the dot."""
    written = str(node.args["table"].this)
    if written.casefold() not in relation.tables:
        raise reading.error(
            node,
            f"nothing is called {echo(written)!r} here; "
            + suggestion(written, sorted(relation.tables)),
        )
    return relation.tables[written.casefold()]


def matching(names: Iterable[str], written: str, *, quoted: bool) -> str | None:
    """The name that is meant; None if there is none, "" if there are several."""
    known = list(names)
    if written in known:
        return written
    if quoted:
        return None
    alike = [name for name in known if name.casefold() == written.casefold()]
    if len(alike) > 1:
        return ""
    return alike[0] if alike else None
