"""Released relations: what a dataset has released and published, as tables that can be read.

    published_17            the rows of publication 17 of the ledger
    released_12_age_sex     a table of release 12: labels, value, and where the true one lies
    released_12_questions   the single questions of release 12

Privacy: everything here was released before and paid for; reading it again tells nothing new.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from eke.catalogue import CatalogueColumn, Relation
from eke.planning import workload_from_document
from eke.privacy.measures import measure_named
from eke.publish import Published
from eke.session import Record, Release, Session
from eke.session.release.measured import standard_error
from eke.session.release.released import ReleasedTable
from eke.wire.kind import FLOAT8, TEXT
from eke.wire.label import column_kind, shown_label

if TYPE_CHECKING:
    import pyarrow as pa

CONFIDENCE = 0.95
MOST_PREVIEWED = 10_000
"""Rows at the beginning of a publication that a preview of the protected table shows."""
_VALUES = ("value", "low", "high")
_MOST_LETTERS = 63  # of a name, as PostgreSQL has it
_UNFIT = re.compile(r"[^a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Readable:
    """The relations of one release or publication, and who made it."""

    record: Record
    relations: tuple[Relation, ...]


class ReleasedRelations:
    """What a dataset has released so far; each look takes in what is new. Threads may share it."""

    def __init__(self, session: Session, protected: Relation, taken: Iterable[str]) -> None:
        self._session, self._protected = session, protected
        self._taken = frozenset(taken)  # names that stand for something else here
        self._known: dict[int, Readable] = {}
        self._first: tuple[int, Published] | None = None  # the rows that were previewed last
        self._lock = threading.Lock()

    def seen_by(self, analyst: str | None) -> tuple[Relation, ...]:
        """All relations; those that an analyst made where only these are to be seen."""
        with self._lock:
            return tuple(
                relation
                for readable in self._readable()
                if analyst in (None, readable.record.analyst)
                for relation in readable.relations
                if relation.name not in self._taken
            )

    def newest(self, analyst: str | None) -> tuple[int, Published] | None:
        """The number and the first rows of the newest publication that can be seen; or None."""
        with self._lock:
            numbers = [
                readable.record.sequence
                for readable in self._readable()
                if readable.record.kind == "publish" and analyst in (None, readable.record.analyst)
            ]
            if not numbers:
                return None
            if self._first is None or self._first[0] != max(numbers):
                rows = self._session.archive.publication(max(numbers))
                self._first = (max(numbers), replace(rows, codes=rows.codes[:MOST_PREVIEWED]))
            return self._first

    def _readable(self) -> list[Readable]:
        archive = self._session.archive
        records = [one for one in archive.publications() if one.complete] + archive.releases()
        for record in records:
            if record.sequence not in self._known:
                made = self._published if record.kind == "publish" else self._released
                self._known[record.sequence] = Readable(record, made(record))
        return [self._known[record.sequence] for record in records]

    # -- publications --------------------------------------------------------------------------

    def _published(self, record: Record) -> tuple[Relation, ...]:
        published = self._session.archive.publication(record.sequence)
        columns = self.columns_of(published)
        mechanism = published.receipt["mechanism"]
        comment = f"{len(published):,} published rows ({mechanism}); none is a row of the table"

        def rows() -> pa.Table:
            return table_of(columns, self.rows_of(self._session.archive.publication(number)))

        number = record.sequence
        return (Relation(f"published_{number}", columns, "v", comment=comment, rows=rows),)

    def columns_of(self, published: Published) -> tuple[CatalogueColumn, ...]:
        """The columns of published rows, with the types that the table itself has."""
        kinds = {column.name: column.oid for column in self._protected.columns}
        first = replace(published, codes=published.codes[:1])  # all rows have the same columns
        names = [str(name) for name in first.to_pandas().columns]
        return tuple(
            CatalogueColumn(shown, kinds.get(name, TEXT))
            for name, shown in zip(names, different(names), strict=True)
        )

    def rows_of(self, published: Published) -> list[list[Any]]:
        """The values of published rows, column by column."""
        frame = published.to_pandas()
        columns = self.columns_of(published)
        return [
            [shown_label(_plain(value), column.oid) for value in frame[name].tolist()]
            for name, column in zip(frame.columns, columns, strict=True)
        ]

    # -- releases ------------------------------------------------------------------------------

    def _released(self, record: Record) -> tuple[Relation, ...]:
        domain, number = self._session.domain, record.sequence
        workload = workload_from_document(domain, record.about)
        comment = f"release {number}: estimates, and where the true value lies (95 %)"
        relations: list[Relation] = []

        def add(ending: str, columns: Sequence[CatalogueColumn], read: _Read) -> None:
            given = tuple(
                replace(column, name=name)
                for column, name in zip(
                    columns, different([column.name for column in columns]), strict=True
                )
            )
            rows = partial(self._read, number, given, read)
            name = f"released_{number}_{ending}"
            relations.append(Relation(name, given, "v", comment=comment, rows=rows))

        values = [CatalogueColumn(name, FLOAT8) for name in _VALUES]
        for place, target in enumerate(workload.targets):
            along = zip(target.attributes, target.along, strict=True)
            keys = [
                CatalogueColumn(
                    name,
                    column_kind(domain[name], domain[name].labels) if how == "cells" else TEXT,
                )
                for name, how in along
            ]
            ending = "_".join(target.attributes) or "total"
            add(ending, [*keys, *values], partial(_table_rows, place=place, keys=keys))
        if workload.queries:
            question = CatalogueColumn("question", TEXT)
            add("questions", [question, *values], _question_rows)
        names = different([_UNFIT.sub("_", one.name.lower()) for one in relations])
        return tuple(replace(one, name=name) for one, name in zip(relations, names, strict=True))

    def _read(self, number: int, columns: Sequence[CatalogueColumn], read: _Read) -> pa.Table:
        release = self._session.archive.release(number)
        # In standard errors: as far as a plan goes that promises a half-width.
        width = 1.0 / standard_error(1.0, CONFIDENCE, measure_named(release.measure))
        return table_of(columns, read(release, width))


_Read = Callable[[Release, float], list[list[Any]]]


def _table_rows(
    release: Release, width: float, place: int, keys: Sequence[CatalogueColumn]
) -> list[list[Any]]:
    table = release.tables[place]
    each = np.indices(table.values.shape).reshape(len(table.labels), table.values.size)
    labels = [
        [shown_label(along[code], column.oid) for code in codes]
        for along, codes, column in zip(table.labels, each, keys, strict=True)
    ]
    return [*labels, *_ends([table], width)]


def _question_rows(release: Release, width: float) -> list[list[Any]]:
    asked = [table for table in release.tables if table.question is not None]
    return [[table.question for table in asked], *_ends(asked, width)]


def _ends(tables: Sequence[ReleasedTable], width: float) -> list[list[float]]:
    """The values of some tables, one after the other, and the ends of their intervals."""
    values = np.concatenate([np.ravel(table.values) for table in tables])
    errors = [np.ravel(np.broadcast_to(t.standard_error, t.values.shape)) for t in tables]
    half = width * np.concatenate(errors)
    return [values.tolist(), (values - half).tolist(), (values + half).tolist()]


def _plain(value: Any) -> Any:
    """Without what pandas has for a missing value."""
    is_missing = isinstance(value, float) and math.isnan(value)
    return None if is_missing or type(value).__name__ in ("NAType", "NaTType") else value


def table_of(columns: Sequence[CatalogueColumn], values: Sequence[Sequence[Any]]) -> pa.Table:
    """Values column by column, as the catalogue takes them."""
    import pyarrow as pa  # noqa: PLC0415 - slow to load

    return pa.table([pa.array(each) for each in values], names=[column.name for column in columns])


def different(names: Sequence[str]) -> list[str]:
    """Names that differ whatever the case of their letters, none longer than PostgreSQL's."""
    used: set[str] = set()
    chosen: list[str] = []
    for name in names:
        short, number = _cut(name, ""), 1
        while short.lower() in used:
            number += 1
            short = _cut(name, f"_{number}")
        used.add(short.lower())
        chosen.append(short)
    return chosen


def _cut(name: str, ending: str) -> str:
    most = _MOST_LETTERS - len(ending)
    return name.encode()[:most].decode("utf-8", "ignore") + ending
