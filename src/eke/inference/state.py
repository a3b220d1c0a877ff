"""Inference: everything released so far, ready to answer any question for free.

`Inference` keeps the regression of `regression.py` up to date and turns linear estimates into
posteriors. It has no handle on data, noise sources or the ledger: whatever it says is
post-processing of what was released before.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import groupby
from typing import Literal, TypeAlias

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.history import Measurement, Outside, Row
from eke.history.measurement import PUBLIC
from eke.inference.alike import Classes, alike, kinds_of, value_classes
from eke.inference.chains import as_drawn, lasting_rows
from eke.inference.estimate_noise import noise_of
from eke.inference.exactly import is_large_table, known_exactly
from eke.inference.kept import Foreign, Kept
from eke.inference.known_table import KnownTable, summed_inside
from eke.inference.late_rows import LateRows, ReadRows
from eke.inference.memo import Memo
from eke.inference.mixed import RESOLUTION_OF_FACTS, MixedRegression
from eke.inference.posterior import ComposedNoise, ExactPosterior
from eke.inference.regression import LinearEstimate, Regression, SetAside
from eke.inference.tables import ReleasedTables, is_coarse, table_weight
from eke.privacy.law import NoiseLaw, charged_from_json, noise_in
from eke.query import Block, Query, count
from eke.query.parts import Parts, as_bytes, from_bytes, under, within
from eke.query.view import view_with

LEAST_CELLS = 256
"""Released tables of counts are taken apart while there are so few answers; else they are kept."""
MOST_COARSE_ROWS = 256
"""Counts over groups of values are taken apart too, but only as long as there are so few rows."""

Method: TypeAlias = Literal["exact", "convolution", "monte_carlo", "product"]


class Inference:
    """The posterior of any query given a history that grows."""

    def __init__(
        self,
        domain: Domain,
        measurements: Iterable[Measurement] = (),
        outside: Sequence[Outside] = (),
        public: Sequence[Row] = (),
    ) -> None:
        self.domain = domain
        self.outside = tuple(outside)  # what is known from elsewhere
        self.exactly = known_exactly(domain, public, outside)
        self.rows = LateRows()
        self.tables = ReleasedTables(domain)
        self.kept: list[Kept] = []  # of each measurement, in the order they came
        self._refined: dict[int, int] = {}  # rows that were refined, and the rows that did it
        self._regression: Regression | MixedRegression | None = Regression(domain)
        # All views of one state fill it; whoever changes theirs begins a new one.
        self.memo = Memo()
        self._tables_shared = False
        self.foreign = Foreign()
        self._take_outside()
        for _, released in groupby(measurements, key=lambda one: one.sequence):
            self.take_in(list(released))
        self.settle()

    def view(self) -> Inference:
        """What is known now, for good: neither of the two sees what the other takes in later.

        Cheap: what only grows is shared. Any number of threads may ask one view at a time, as long
        as none of them lets it take in anything.
        """
        self.settle()
        self._tables_shared = True
        return view_with(
            self,
            rows=self.rows.view(),
            kept=list(self.kept),
            _refined=dict(self._refined),
            _regression=self.regression.view(),
            _tables_shared=True,
        )

    def parts(self) -> Parts | None:
        """Everything in it but the domain and the rows, as arrays; None with released tables."""
        if not isinstance(self.regression, Regression):
            return None
        laws = list(dict.fromkeys(self.regression.laws))
        places = {law: place for place, law in enumerate(laws)}
        aside = self.regression.aside.rows()
        rows = [] if not aside else [self.rows[place] for place in aside]
        documents = {
            "total": self.total,
            "laws": [law.to_json() for law in laws],
            "refined": list(self._refined.items()),
            "aside": [
                [place, row.query.to_document(), row.value]
                for place, row in zip(aside, rows, strict=True)
            ],
        }
        return {
            "documents": as_bytes(documents),
            "law_of_row": np.array([places[law] for law in self.regression.laws], np.int64),
            "kept": np.array([(one.rows.start, one.rows.stop) for one in self.kept]).reshape(-1, 2),
            **within("regression", self.regression.parts()),
        }

    @classmethod
    def from_parts(cls, domain: Domain, parts: Parts, read: ReadRows) -> Inference:
        """What was known when the parts were taken; `read` gives the rows that it came from."""
        documents = from_bytes(parts["documents"])
        kinds = [charged_from_json(document) for document in documents["laws"]]
        laws = [kinds[place] for place in parts["law_of_row"].tolist()]
        aside = SetAside()
        for place, document, value in documents["aside"]:
            aside.add(place, Row(Query.from_document(domain, document), value, laws[place]))
        return view_with(
            cls(domain),
            rows=LateRows(len(laws), read),
            kept=[Kept(range(start, stop)) for start, stop in parts["kept"].tolist()],
            _refined=dict(documents.get("refined", ())),
            exactly=known_exactly(domain, _number_of_records(domain, documents["total"]), ()),
            _regression=Regression.from_parts(domain, laws, under("regression", parts), aside),
        )

    def extend(self, measurement: Measurement) -> None:
        """Take one more measurement into account."""
        self.extend_all([measurement])

    def extend_all(self, released: Sequence[Measurement]) -> None:
        """Take everything that was released together into account."""
        self.take_in(released)
        self.settle()

    def take_in(self, released: Sequence[Measurement]) -> None:
        """The same, but the regression waits for `settle`.

        Following a ledger with many tables then does that work once: what is single is told apart
        anew after each of them. Tables of counts stay tables, unless they are so few cells that
        single answers are cheaper; small ones that come again and again are kept, too.
        """
        tables = [
            one for one in released if one.refines is None and table_weight(one.query) is not None
        ]
        cells = sum(len(one.values) for one in tables)
        if len(self.rows) + cells <= LEAST_CELLS:
            tables = []
        finer = [self.kept[one.refines.place] for one in released if one.refines is not None]
        if tables or any(one.table is not None for one in finer):
            if self._tables_shared:
                self.tables, self._tables_shared = deepcopy(self.tables), False
            # What is single is told apart anew: more of it may follow from the tables now.
            self._regression = None
            self.memo = Memo()
        for measurement in released:
            if any(measurement is table for table in tables):
                self.kept.append(Kept(table=len(self.tables)))
                self.tables.append(measurement)
            else:
                self._keep(measurement)

    def _keep(self, measurement: Measurement) -> None:
        """Take in what is no new table: rows, or less noise in a table that is there."""
        refines = measurement.refines
        table = None if refines is None else self.kept[refines.place].table
        if refines is not None and table is not None:
            self.tables.refine(table, measurement)
            self.kept[refines.place] = Kept()  # nothing of it is left
            self.kept.append(Kept(table=table))
            return
        # Coarse counts come by the ten thousand, for models, and the regression takes time
        # quadratic in its rows. Least squares on fewer answers is as honest.
        if len(self.rows) + len(measurement.values) > MOST_COARSE_ROWS and is_coarse(
            measurement.query
        ):
            self.kept.append(Kept())
            return
        first = len(self.rows)
        for row in measurement.rows():
            self._take(row)
        self.kept.append(Kept(range(first, len(self.rows))))
        if refines is not None:
            coarse = self.kept[refines.place].rows
            self._refined |= zip(coarse, self.kept[-1].rows, strict=True)

    @property
    def total(self) -> int | None:
        """The number of records, where it is public."""
        return self.exactly.total

    def public(self, query: Query) -> float | None:
        """The exact answer to a question that follows from what is public; None for any other."""
        return self.exactly.value(query)

    def append(self, row: Row) -> None:
        """Take one more noisy answer into account."""
        self._take(row)
        if self._regression is not None:
            self.settle()

    def _take(self, row: Row) -> None:
        if row.is_public and not row.query.attributes and not row.query.is_zero:
            self.exactly = self.exactly.with_public(row)
        shorter = self.exactly.reduced(row.query)
        self.rows.append(row if shorter is row.query else replace(row, query=shorter))
        self.memo = Memo()

    def _take_outside(self) -> None:
        """Facts first, then what others measured; none of it is in `kept`."""
        owners = [at for at, one in enumerate(self.outside) for _ in one.facts]
        for place, row in self.exactly.rows:
            self.foreign.rows.append(None if place is None else owners[place])
            self.rows.append(row)
        for place, table in self.exactly.tables:
            self.foreign.tables.append(owners[place])
            self.tables.append(table)
        for at, item in enumerate(self.outside):
            for learned in item.learned:
                if is_large_table(learned.query):
                    self.foreign.tables.append(at)
                    self.tables.append(learned)
                    continue
                for row in learned.rows():
                    self.foreign.rows.append(at)
                    self._take(row)
        if len(self.tables):
            self._regression = None

    def settle(self) -> None:
        """Finish what `take_in` left to do."""
        if self._regression is None:
            resolution = RESOLUTION_OF_FACTS if self.outside else 0.0
            self._regression = MixedRegression(self.domain, self.tables, self.rows, resolution)
        for row in self.rows[len(self._regression) :]:
            self._regression.append(row)

    @property
    def regression(self) -> Regression | MixedRegression:
        """Least squares on everything that is known."""
        if self._regression is None or len(self._regression) < len(self.rows):
            raise ValueError("settle before asking")
        return self._regression

    def linear(self, query: Query) -> tuple[float, ComposedNoise] | None:
        """The BLUE of a query and the noise in it; None when history does not determine it."""

        def estimated() -> tuple[float, ComposedNoise] | None:
            estimate = self.estimate(query)
            return None if estimate is None else (estimate.value, self.noise(estimate))

        return self.memo.get(("linear", query.digest), estimated, _numbers_in)

    def noise(self, estimate: LinearEstimate) -> ComposedNoise:
        """The law of the error of a linear estimate."""
        return noise_of(estimate, self.regression.laws, self.tables)

    def estimate(self, query: Query) -> LinearEstimate | None:
        """The same with the weight of each released noisy answer in it.

        What is public is known exactly, whatever was measured; nothing has a weight in it.
        """
        known = self.public(query)
        if known is not None:
            return LinearEstimate(known, np.empty(0, np.intp), np.empty(0))
        shorter = self.exactly.reduced(query)
        short = self._as_drawn(self.regression.estimate(shorter))
        if shorter is query or not len(self.tables):
            return short
        # Released tables hold the question as it was asked, and may know it better.
        whole = self._as_drawn(self.regression.estimate(query))
        if short is None or whole is None:
            return whole if short is None else short
        return min((short, whole), key=lambda one: self.noise(one).variance)

    def _as_drawn(self, estimate: LinearEstimate | None) -> LinearEstimate | None:
        return as_drawn(estimate, self._refined, self.regression.laws)

    def lasting_rows(self) -> list[Row]:
        """The answers with noises of their own: of each chain of refinements, the last one."""
        return lasting_rows(list(self.rows), self._refined)

    def table(self, block: Block) -> KnownTable | None:
        """What is known about all cells of a block at once; None where they are asked one by one.

        That is where released tables determine the table over all its attributes.
        """
        inside = block.inside
        if not block.grouped or inside is None or block.people:
            return None
        if not isinstance(self.regression, MixedRegression):
            return None
        grouped = block.grouped
        values = self.regression.table(self.domain.in_order({*grouped, *inside.attributes}))
        if values is None or self.exactly.zeros:
            return None
        cells = alike(self._classes(block))
        known = [self.linear(block.cell(int(place))) for place in cells.examples]
        noises = tuple(found[1] for found in known if found is not None)
        if len(noises) < len(known):
            return None
        summed = summed_inside(values, grouped, inside)
        for place in np.flatnonzero([not noise.variance for noise in noises]).tolist():
            for cell in np.flatnonzero(cells.kinds == place).tolist():  # they are public
                fact = self.public(block.cell(cell))
                summed[cell] = summed[cell] if fact is None else fact
        return KnownTable(summed, cells.kinds, noises)

    def examples(self, block: Block) -> Iterable[Query]:
        """A cell of each kind of a table, in order: the others are known as well as these."""
        return (cell for _, cell in self.example_cells(block))

    def example_cells(self, block: Block) -> Iterable[tuple[int, Query]]:
        """The same with their places."""
        if not block.grouped or block.inside is None:
            return enumerate(block.queries())
        firsts = np.sort(alike(self._classes(block)).examples).tolist()
        return ((place, block.cell(place)) for place in firsts)

    def kinds(self, block: Block) -> int:
        """How many kinds of cells a plain table of counts has: so many laws of error at most."""
        return kinds_of(self._classes(block))

    def may_know(self, block: Block) -> bool:
        """False when there are more cells than what is known can determine."""
        inside = () if block.inside is None else block.inside.attributes
        names = self.domain.in_order({*block.attributes, *inside})
        known = sum(
            math.prod(self.domain[name].size - 1 for name in subset)
            for subset in self.tables.known_within(names)
        )
        return known + len(self.rows) >= block.cells or bool(self.exactly.zeros)

    def _classes(self, block: Block) -> list[Classes]:
        """The classes of values along each axis of a block by columns.

        What the block itself weighs or leaves out along an attribute counts as an answer, too.
        """
        inside = [] if block.inside is None else [Row(block.inside, 0.0, PUBLIC)]
        return [
            value_classes([*self.rows, *inside], name, size)
            if self.tables.treats_alike(name)
            else np.arange(size)
            for name, size in zip(block.grouped or (), block.shape, strict=True)
        ]

    def weights(self, query: Query) -> list[float] | None:
        """The weight of each measurement in the BLUE of a query; None when there is no BLUE.

        Of a measurement of many answers, that of the answer that counts most, with its sign.
        """
        estimate = self.estimate(query)
        if estimate is None:
            return None
        single = np.zeros(len(self.rows))
        single[estimate.rows] = estimate.weights
        by_table = {part.table: part.weights for part in estimate.cells}
        return [
            _foremost(
                single[one.rows.start : one.rows.stop]
                if one.table is None
                else by_table.get(one.table, np.empty(0))
            )
            for one in self.kept
        ]

    def law(self, row: int) -> NoiseLaw:
        """The law of the noise in one released answer."""
        return noise_in(self.regression.laws[row])

    def posterior(self, query: Query) -> ExactPosterior | None:
        """What history says about the answer; None when it says nothing."""
        estimate = self.linear(query)
        return None if estimate is None else ExactPosterior(*estimate)


def _foremost(weights: FloatArray) -> float:
    """The weight that counts most; none counts for nothing."""
    flat = weights.reshape(-1)
    return float(flat[np.argmax(np.abs(flat))]) if flat.size else 0.0


def _numbers_in(known: tuple[float, ComposedNoise] | None) -> int:
    return 0 if known is None else known[1].laplace_scales.size


def _number_of_records(domain: Domain, total: int | None) -> list[Row]:
    return [] if total is None else [Row(count().on(domain), float(total), PUBLIC)]
