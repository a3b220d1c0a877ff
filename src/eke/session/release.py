"""Releases: a planned workload measured at once; its tables agree and sharpen every later answer.

plan = session.plan(eke.all_marginals(session.domain, 2), budget=0.5)
print(plan.explain())
release = session.release(plan)
release.table("sex", "income").to_pandas()
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from eke.domain import Domain
from eke.errors import AccuracyError, QueryError
from eke.history import Measurement
from eke.inference import table_weight
from eke.planning import (
    Facts,
    Part,
    Plan,
    ReleasePlan,
    Requirement,
    Workload,
    consistent_tables,
    direct,
    grouping_sets,
    plan_for_accuracies,
    plan_release,
    whole_tables,
)
from eke.planning.consistency import Norm
from eke.planning.release import Table
from eke.planning.strategy.matrices import MatrixStrategy
from eke.privacy.accountant import Measure
from eke.privacy.record_loss import NANO
from eke.query import Expression, Marginal, MarginalExpression, Neighbours, Query
from eke.sql import parse_grouping_sets

Asked: TypeAlias = Workload | str | Iterable[Any]
"""A workload, SQL with GROUP BY CUBE, ROLLUP or GROUPING SETS, or a list of what `Workload.of`
takes."""
FloatArray = NDArray[np.float64]

_GRID = 2.0**-19  # drawing noise on a grid makes it larger by less than this share
MOST_SINGLE_ANSWERS = 4096
"""Of a block that is taken apart: answers that cannot be kept as a table cost more to infer from.
"""


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedTable:
    """One table of a release: estimated answers with their standard error."""

    attributes: tuple[str, ...]
    values: FloatArray
    standard_error: FloatArray  # of each value, or one number for all
    labels: tuple[tuple[Any, ...], ...]  # along each axis

    def to_pandas(self) -> pd.DataFrame:
        """One row for each cell: its labels, its value, its standard error."""
        index = np.indices(self.values.shape).reshape(len(self.attributes), -1)
        columns: dict[str, Any] = {
            name: [self.labels[axis][i] for i in index[axis]]
            for axis, name in enumerate(self.attributes)
        }
        columns["value"] = self.values.ravel()
        spread = np.broadcast_to(self.standard_error, self.values.shape)
        columns["standard_error"] = spread.ravel()
        return pd.DataFrame(columns)


@dataclass(frozen=True, slots=True, eq=False)
class Release:
    """The tables of a workload, all of one release, consistent with each other."""

    plan: ReleasePlan
    tables: tuple[ReleasedTable, ...]
    cost: float  # by how much the dataset's loss grew
    measure: Measure
    sequence: int  # the ledger entry that holds the noisy answers

    def __repr__(self) -> str:
        return f"Release({len(self.tables)} tables, cost {self.measure} {self.cost:.6g})"

    def table(self, *attributes: str) -> ReleasedTable:
        """The table over some attributes."""
        wanted = set(attributes)
        for table in self.tables:
            if set(table.attributes) == wanted and len(table.attributes) == len(attributes):
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


def workload_of(asked: Asked, domain: Domain) -> Workload:
    """The workload that was meant."""
    if isinstance(asked, Workload):
        if asked.domain != domain:
            raise QueryError("the workload is over another domain than this dataset's")
        return asked
    if isinstance(asked, str):
        return grouping_sets(domain, parse_grouping_sets(asked, domain))
    if isinstance(asked, (Query, Marginal, Expression, MarginalExpression)):
        return Workload.of(domain, [asked])
    if not isinstance(asked, Iterable):
        raise QueryError(
            "a workload is made by eke.all_marginals and the like, by SQL with GROUP BY CUBE, or "
            "by a list of marginals"
        )
    return Workload.of(domain, asked)


def planned(
    workload: Workload,
    measure: Measure,
    neighbours: Neighbours,
    *,
    budget: float | None,
    within: float | Mapping[Any, float] | None,
    confidence: float,
    strategy: str | MatrixStrategy,
) -> ReleasePlan:
    """The plan for a budget, or the cheapest one for the accuracies required."""
    if (budget is None) == (within is None):
        raise AccuracyError(
            "a plan is for a budget (budget=0.5) or for an accuracy (within=50); give one of them"
        )
    if within is None:
        return plan_release(
            workload,
            measure=measure,
            budget=float(budget or 0.0),
            strategy=strategy,
            neighbours=neighbours,
        )
    if strategy != "auto":
        raise AccuracyError("with accuracies the strategy is chosen by cost; leave it out")
    each = _by_target(workload, within)
    errors = [standard_error(width, confidence, measure) for width in each]
    return plan_for_accuracies(workload, errors, measure, neighbours=neighbours)


def standard_error(within: float, confidence: float, measure: Measure) -> float:
    """The standard error with which an estimate is within the half-width.

    Sums of several noises have lighter tails than the single Laplace noise assumed here.
    """
    noise_scale = direct(Requirement(within, confidence), None, measure) * (1.0 - _GRID)
    return noise_scale * math.sqrt(2.0) if measure == "epsilon" else noise_scale


def _by_target(workload: Workload, within: float | Mapping[Any, float]) -> list[float]:
    if not isinstance(within, Mapping):
        return [float(within)] * len(workload.targets)
    given = {
        workload.domain.in_order((names,) if isinstance(names, str) else names): float(width)
        for names, width in within.items()
    }
    if set(given) != {target.attributes for target in workload.targets}:
        raise AccuracyError("within gives the half-width of each marginal of the workload")
    return [given[target.attributes] for target in workload.targets]


def parts_of(plan: ReleasePlan) -> Plan:
    """What the engine is to measure for a plan."""
    parts = []
    for measured, law in plan.laws():
        if (
            not isinstance(measured, Query)
            and table_weight(measured) is None
            and measured.cells > MOST_SINGLE_ANSWERS
        ):
            raise QueryError(
                f"the strategy {plan.strategy} measures a block of {measured.cells:,} answers that "
                f"later answers could not use; at most {MOST_SINGLE_ANSWERS:,} such answers are "
                "kept. Choose another strategy or a smaller workload"
            )
        parts.append(Part(measured, law))
    return Plan(tuple(parts))


def release_digest(plan: Plan) -> str:
    """SHA-256 of what will be measured: an idempotency key is bound to it."""
    text = json.dumps({"release": plan.to_document()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def release_text(_facts: Facts, released: Sequence[Measurement], cost: int) -> str:
    """What is stored of a release besides its measurements."""
    return json.dumps({"release": released[0].sequence, "cost_nano": cost})


def release_of(
    plan: ReleasePlan, text: str, measurements: Sequence[Measurement], measure: Measure
) -> Release:
    """The release that a stored text speaks of."""
    stored = json.loads(text)
    sequence = int(stored["release"])
    own = [one for one in measurements if one.sequence == sequence]
    found = plan.recover([np.array(one.values) for one in own])
    tables = tuple(_labelled(table, plan.workload.domain) for table in found)
    return Release(plan, tables, stored["cost_nano"] / NANO, measure, sequence)


def _labelled(table: Table, domain: Domain) -> ReleasedTable:
    labels = tuple(
        _labels(domain, name, along)
        for name, along in zip(table.attributes, table.along, strict=True)
    )
    if not table.attributes:  # single questions, one after the other
        labels = tuple((tuple(range(size)),) for size in table.values.shape)
    return ReleasedTable(
        table.attributes, np.asarray(table.values), np.sqrt(table.variance), labels
    )


def _labels(domain: Domain, name: str, along: str) -> tuple[Any, ...]:
    own = domain[name].labels
    if along == "cells":
        return tuple(own)
    if along == "prefixes":
        return tuple(f"up to {label}" for label in own)
    places = range(len(own))
    return tuple(f"{own[low]} to {own[high]}" for low in places for high in places[low:])
