"""Release: the tables of a workload after they were measured.

Marginals agree with each other. Ranges and single questions are measured and recovered apart from
them; `session.ask` puts everything together.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eke.domain import Domain, plain_label
from eke.errors import QueryError
from eke.history import Measurement
from eke.planning import ReleasePlan, consistent_tables, whole_tables
from eke.planning.consistency import Norm
from eke.planning.release import Table
from eke.privacy.accountant import Measure
from eke.privacy.record_loss import NANO
from eke.query import Query, describe

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedTable:
    """One table of a release, or one question of it: estimated answers with standard errors."""

    attributes: tuple[str, ...]
    along: tuple[str, ...]  # cells, ranges or prefixes of each attribute
    values: FloatArray
    standard_error: FloatArray  # of each value, or one number for all
    labels: tuple[tuple[Any, ...], ...]  # along each axis
    question: str | None = None  # in words, of a single question

    def __repr__(self) -> str:
        over = self.question or ", ".join(self.attributes) or "the total"
        return f"ReleasedTable({over}; {self.values.size:,} answers)"

    def to_pandas(self) -> pd.DataFrame:
        """One row for each answer: its labels, its value, its standard error."""
        columns: dict[str, Any] = {}
        if self.question is not None:
            columns["question"] = [self.question]
        for axis, labels in enumerate(self.labels):
            place = [1] * len(self.labels)
            place[axis] = len(labels)
            index = np.broadcast_to(np.arange(len(labels)).reshape(place), self.values.shape)
            columns[self.attributes[axis]] = [labels[i] for i in index.ravel()]
        columns["value"] = np.ravel(self.values)
        columns["standard_error"] = np.ravel(
            np.broadcast_to(self.standard_error, self.values.shape)
        )
        return pd.DataFrame(columns)


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """The tables of a workload, all of one release; its marginals agree with each other."""

    plan: ReleasePlan
    tables: tuple[ReleasedTable, ...]
    cost: float  # by how much the dataset's loss grew
    measure: Measure
    sequence: int  # the ledger entry that holds the noisy answers

    def __repr__(self) -> str:
        return f"Release({len(self.tables)} tables, cost {self.measure} {self.cost:.6g})"

    def table(self, *attributes: str) -> ReleasedTable:
        """The table over some attributes; of none of them, the total."""
        wanted = set(attributes)
        for table in self.tables:
            same = set(table.attributes) == wanted and len(table.attributes) == len(attributes)
            if same and table.question is None:
                return table
        raise QueryError(
            f"the release has no table over {', '.join(attributes) or 'nothing (the total)'}; "
            "`tables` lists those it has"
        )

    def consistent(
        self, norm: Norm = "l2", *, nonnegative: bool = False
    ) -> dict[tuple[str, ...], FloatArray]:
        """The marginals nearest to the released ones that agree with each other.

        With `nonnegative`, small counts become too large on average.
        """
        return consistent_tables(*self._marginals(), norm, nonnegative=nonnegative)

    def whole(self) -> dict[tuple[str, ...], NDArray[np.int64]]:
        """The marginals as whole numbers, none negative, with one total.

        Small counts become too large on average.
        """
        return whole_tables(*self._marginals()).tables

    def _marginals(self) -> tuple[dict[tuple[str, ...], FloatArray], dict[str, int]]:
        if not self.plan.workload.is_marginal:
            raise QueryError("only a release of whole marginals can be made consistent this way")
        domain = self.plan.workload.domain
        sizes = dict(zip(domain.names, domain.shape, strict=True))
        return {table.attributes: table.values for table in self.tables}, sizes


def release_of(
    plan: ReleasePlan, text: str, measurements: Sequence[Measurement], measure: Measure
) -> Release:
    """The release that a stored text speaks of."""
    stored = json.loads(text)
    sequence = int(stored["release"])
    own = [one for one in measurements if one.sequence == sequence]
    found = plan.recover([np.array(one.values) for one in own])
    targets, domain = len(plan.workload.targets), plan.workload.domain
    tables = [_labelled(table, domain) for table in found[:targets]]
    tables += [
        _single(table, query)
        for table, query in zip(found[targets:], plan.workload.queries, strict=True)
    ]
    return Release(plan, tuple(tables), stored["cost_nano"] / NANO, measure, sequence)


def _labelled(table: Table, domain: Domain) -> ReleasedTable:
    labels = tuple(
        _labels(domain, name, along)
        for name, along in zip(table.attributes, table.along, strict=True)
    )
    return ReleasedTable(
        table.attributes,
        table.along,
        np.asarray(table.values),
        np.sqrt(table.variance),
        labels,
    )


def _single(table: Table, query: Query) -> ReleasedTable:
    value, error = np.reshape(table.values, ()), np.sqrt(np.reshape(table.variance, ()))
    return ReleasedTable(query.attributes, (), value, error, (), describe(query))


def _labels(domain: Domain, name: str, along: str) -> tuple[Any, ...]:
    own = domain[name].labels
    if along == "cells":
        return tuple(own)
    if along == "prefixes":
        return tuple(f"up to {_word(label)}" for label in own)
    places = range(len(own))
    return tuple(f"{_word(own[i])} to {_word(own[j])}" for i in places for j in places[i:])


def _word(label: Any) -> str:
    """A label within a longer one: a bin with its edges, what is missing by that word."""
    if label is None:
        return "missing"
    return str(plain_label(label))
