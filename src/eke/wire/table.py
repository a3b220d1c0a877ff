"""Tables: what a result looks like before it is answered, and the dataset as a relation."""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from eke.catalogue import Catalogue, CatalogueColumn, Relation
from eke.domain import (
    Attribute,
    Domain,
)
from eke.errors import EkeError
from eke.privacy.unit import Unit
from eke.question import Question
from eke.session import Answer
from eke.session.ask.question_store import QuestionStore
from eke.sql import parse
from eke.wire.kind import DATE, FLOAT8, TEXT, encoded, literal, shown
from eke.wire.label import ATTRIBUTE_KINDS, key_kind, kind_of, shown_label, value_kind
from eke.wire.parameter import Typical

LOW, HIGH = "_low", "_high"
MOST_CATALOGUES = 16
_Seen: TypeAlias = tuple[str, tuple[str, ...], tuple[Relation, ...]]
_CALL = re.compile(r"([A-Za-z_]\w*)\s*\(.*\)", re.DOTALL)
_CAST = re.compile(r"(?:TRY_)?CAST\s*\((.*)\bAS\b[\w\s,()]*\)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Outline:
    """The columns of the result of a question, known from the question alone.

    With intervals each value is followed by the two ends of its interval.
    """

    question: Question
    intervals: bool
    limit: int | None = None
    offset: int = 0
    is_probe: bool = False

    @property
    def columns(self) -> tuple[CatalogueColumn, ...]:
        labels = self.question.keys()
        rows = [labels[place] for place in self.question.places]
        columns: list[CatalogueColumn] = []
        for column in self.question.columns:
            key, name = column.formula.key, shown_name(column.name, self.question.text)
            if key is not None:
                columns.append(CatalogueColumn(name, self._kind(key, [row[key] for row in rows])))
                continue
            endings = (LOW, HIGH) if self.intervals else ()
            ends = value_kind(column.formula.calendar)
            columns.append(CatalogueColumn(name, TEXT if column.is_text else ends))
            columns += [CatalogueColumn(name + end, ends) for end in endings]
        return tuple(columns)

    def _kind(self, key: int, labels: Sequence[Any]) -> int:
        """The type of a key; days and moments have labels that are texts."""
        return key_kind(self.question.group_by[key].moment, labels)

    @property
    def is_empty(self) -> bool:
        """True when there is no row, whatever the data, as with LIMIT 0."""
        return self.is_probe or 0 in (self.question.limit, self.limit) or not self.question.places

    def rows(self, answer: Answer) -> list[tuple[Any, ...]]:
        """The rows of an answer, in these columns."""
        kinds = iter(self.columns)
        by_column: list[list[tuple[Any, ...]]] = []
        for place, is_key in enumerate(answer.is_key):
            cells = [row[place] for row in answer.rows]
            kind = next(kinds).oid
            if is_key:
                by_column.append([(shown_label(cell, kind),) for cell in cells])
                continue
            is_told = any(cell.calendar is not None for cell in cells)
            values = [
                shown_label(cell.value, kind)
                if is_told
                else shown(cell.value)
                if kind == TEXT and cell.value is not None
                else cell.value
                for cell in cells
            ]
            if self.intervals:
                ends = [(cell.low, cell.high) for cell in cells]
                if is_told:
                    ends = [tuple(shown_label(end, kind) for end in pair) for pair in ends]
                by_column.append([(one, *two) for one, two in zip(values, ends, strict=True)])
                next(kinds), next(kinds)
            else:
                by_column.append([(one,) for one in values])
        rows = [sum(parts, ()) for parts in zip(*by_column, strict=True)]
        return rows[self.offset : None if self.limit is None else self.offset + self.limit]


def shown_name(name: str, text: str) -> str:
    """The name of a column as PostgreSQL gives it: that of its function, unless it has another."""
    if f'"{name}"' in text:
        return name
    inner = name
    while cast := _CAST.fullmatch(inner):  # it has the name of what is cast
        inner = cast[1].strip()
    call = _CALL.fullmatch(inner)
    return inner.strip('"') if call is None else call[1].lower()


class ServedTable:
    """What all connections to one dataset share: its relations, and questions read before."""

    def __init__(self, name: str, domain: Domain, unit: Unit | None = None) -> None:
        self.relations = _relations(name, domain)
        self.names = frozenset(relation.name.lower() for relation in self.relations)
        self.days = frozenset(c.name.lower() for c in self.protected.columns if c.oid == DATE)
        self.columns = _typical(domain, self.relations)
        self.questions = QuestionStore(domain, unit)
        self._catalogues: OrderedDict[_Seen, Catalogue] = OrderedDict()
        self._lock = threading.Lock()

    def catalogue(
        self, user: str, databases: tuple[str, ...], released: tuple[Relation, ...]
    ) -> Catalogue:
        """The catalogue that an account sees; those used last are kept, for one takes a while."""
        key = (user, databases, released)
        with self._lock:
            known = self._catalogues.pop(key, None) or Catalogue(
                databases=databases,
                database=self.protected.name,
                user=user,
                relations=[*self.relations, *released],
            )
            self._catalogues[key] = known
            if len(self._catalogues) > MOST_CATALOGUES:
                self._catalogues.popitem(last=False)  # closed once nobody asks it any more
            return known

    @property
    def protected(self) -> Relation:
        """The table that questions are about."""
        return self.relations[0]


def _relations(name: str, domain: Domain) -> list[Relation]:
    """The protected table with its columns, and the declared lookups beside it."""
    attributes = [
        CatalogueColumn(column, ATTRIBUTE_KINDS.get(type(attribute)) or kind_of(attribute.labels))
        for column, attribute in domain.attributes
    ]
    derived = [
        CatalogueColumn(column, _derived_kind(domain, column)) for column, _ in domain.derived
    ]
    lookups = [
        Relation(
            lookup.name,
            tuple(
                CatalogueColumn(column, kind_of(row[place] for row in lookup.rows))
                for place, column in enumerate(lookup.columns)
            ),
            comment="a public lookup: join it with USING",
        )
        for lookup in domain.lookups
    ]
    protected = Relation(name, (*attributes, *derived), comment="protected: ask for aggregates")
    return [protected, *lookups]


def _typical(domain: Domain, relations: Iterable[Relation]) -> dict[str, Typical]:
    """The types of the columns that parameters may be compared with, and values of each."""
    values: dict[str, Sequence[Any]] = {
        column: sorted({row[place] for row in lookup.rows if row[place] is not None})
        for lookup in domain.lookups
        for place, column in enumerate(lookup.columns)
    }
    values |= {name: _declared(attribute) for name, attribute in domain.attributes}
    return {
        column.name.lower(): _typical_of(values.get(column.name, ()) or ("",), column)
        for relation in relations
        for column in relation.columns
    }


def _declared(attribute: Attribute) -> Sequence[Any]:
    """The declared values; of a wide column the first, one from the middle and the last."""
    if not attribute.is_wide or attribute.progression is None:
        return attribute.declared
    first, step = attribute.progression
    last = attribute.size - attribute.has_bucket - 1
    numbers = [first + step * place for place in (0, last // 2, last)]
    shown_as = float if ATTRIBUTE_KINDS.get(type(attribute)) == FLOAT8 else int
    return [shown_as(number) for number in numbers]


def _typical_of(values: Sequence[Any], column: CatalogueColumn) -> Typical:
    """A column by values in their order: one from the middle, the first and the last."""
    chosen = (values[len(values) // 2], values[0], values[-1])
    return Typical(column.oid, *(_example(value, column) for value in chosen))


def _example(label: Any, column: CatalogueColumn) -> str:
    value = label[0] if isinstance(label, tuple) else label
    return literal(encoded(value, column.oid, 0), column.oid, 0)


def _derived_kind(domain: Domain, column: str) -> int:
    """The type of a derived column, from what it shows as a key."""
    quoted = '"' + column.replace('"', '""') + '"'
    try:
        question = parse(f"SELECT {quoted} FROM t GROUP BY {quoted}", domain)  # noqa: S608 - read only
    except EkeError:
        return TEXT
    return Outline(question, intervals=False).columns[0].oid
