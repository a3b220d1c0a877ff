"""Scope: which table a SELECT reads, and what each name in it means."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from eke.sql.diagram import Diagram
from eke.sql.place import echo, strange_letters, suggestion
from eke.sql.value import Reading, Value


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """A table as a SELECT sees it: its columns, and which rows of the protected table it keeps."""

    columns: Mapping[str, Value]
    kept: Diagram  # rows where this is True
    qualifiers: frozenset[str] = frozenset()  # in lower case: what may stand before the dot

    def called(self, names: Iterable[str]) -> Relation:
        return Relation(self.columns, self.kept, frozenset(n.casefold() for n in names))


class LazyColumns(Mapping[str, Value]):
    """The columns of a table, each worked out when it is first used."""

    def __init__(self, makers: Mapping[str, Callable[[], Value]]) -> None:
        self._makers = makers
        self._made: dict[str, Value] = {}

    def __getitem__(self, name: str) -> Value:
        if name not in self._made:
            self._made[name] = self._makers[name]()
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


@dataclass(slots=True)
class Tables:
    """The tables that a FROM may name: the protected one, and CTEs before it."""

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
        if self.name is None:
            self.name = written
        if key != self.name.casefold():
            known = [self.name, *self.common]
            raise reading.error(
                node,
                f"there is no table {echo(written)!r}{strange_letters(written)}; "
                + suggestion(written, known),
            )
        return self.protected.called(self._names(node, written))

    @staticmethod
    def _names(node: exp.Table, written: str) -> list[str]:
        # Once a table has an alias, SQL knows it by the alias only.
        alias = node.args.get("alias")
        return [str(alias.this.this)] if alias is not None and alias.this else [written]


def find_column(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    """What a column holds."""
    return relation.columns[column_name(reading, relation, node)]


def column_name(reading: Reading, relation: Relation, node: exp.Expr) -> str:
    """The column that a name means; in upper or lower case unless it is quoted."""
    qualifier, identifier = node.args.get("table"), node.this
    if isinstance(identifier, exp.Star):
        raise reading.error(node, "* stands for whole records here; name the columns")
    if qualifier is not None and str(qualifier.this).casefold() not in relation.qualifiers:
        raise reading.error(
            node,
            f"nothing is called {echo(str(qualifier.this))!r} here; "
            + suggestion(str(qualifier.this), sorted(relation.qualifiers)),
        )
    written = str(identifier.this)
    name = matching(relation.columns, written, quoted=bool(identifier.args.get("quoted")))
    if name is None:
        named = written.casefold() in map(str.casefold, relation.columns)
        meant = bool(identifier.args.get("quoted")) and not named
        text = f"a text stands in single quotes: '{echo(written)}'; " if meant else ""
        raise reading.error(
            node,
            f"there is no column {echo(written)!r}{strange_letters(written)}; {text}"
            + suggestion(written, relation.columns),
        )
    if name == "":
        raise reading.error(
            node,
            f"several columns differ from {echo(written)!r} in upper and lower case only; write "
            "the name in double quotes",
        )
    return name


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
