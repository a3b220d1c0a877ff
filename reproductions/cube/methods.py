"""The seven methods of CUBE §5 and eke's own, each planned, released and measured alike.

The noise of a simulation is continuous Laplace noise from a seeded generator; nothing here is a
release.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from eke.planning.workload.consistency import consistent_tables
from eke.planning.workload.options import Noise
from eke.planning.workload.release import ReleasePlan, plan_release
from eke.planning.workload.workload import (
    Workload,
    all_marginals,
    marginals_and_half_of_next,
    marginals_and_those_with,
)
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.query import Block, Kronecker
from reproductions.cube.tables import CodedTable

EKE = "eke auto"
METHODS: dict[str, tuple[str, Noise]] = {
    "I": ("I", "uniform"),
    "Q": ("Q", "uniform"),
    "Q+": ("Q", "groups"),
    "F": ("F", "uniform"),
    "F+": ("F", "groups"),
    "C": ("C", "uniform"),
    "C+": ("C", "groups"),
}
NAMES = (*METHODS, EKE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Errors at epsilon = 1 and the seconds that one release took."""

    relative: float  # mean absolute error of a cell over the mean count of its marginal's cells
    uncertain: float  # the standard error of that mean over the releases
    absolute: float  # mean absolute error of a cell
    expected: float  # root of the mean expected squared error, before consistency
    seconds: float


def workload_of(table: CodedTable, name: str) -> Workload:
    """Q1, Q*1, Qa1, Q2, Q*2 or Qa2."""
    ways = int(name[-1])
    if name.startswith("Q*"):
        return marginals_and_half_of_next(table.domain, ways)
    if name.startswith("Qa"):
        return marginals_and_those_with(table.domain, ways, table.fixed)
    return all_marginals(table.domain, ways)


def as_plotted(workload: Workload) -> Workload:
    """The workload with the weights of the plotted measure: variances count as their cells squared.

    The error of a cell is divided by the mean count of its marginal's cells, n over their number.
    """
    targets = (
        replace(t, weight=float(t.questions(workload.domain)) ** 2) for t in workload.targets
    )
    return replace(workload, targets=tuple(targets))


def plan_of(
    workload: Workload, method: str, measure: Measure = PURE, budget: float = 1.0
) -> ReleasePlan:
    """The method's plan; other budgets only divide its errors."""
    if method == EKE:
        return plan_release(workload, measure=measure, budget=budget)
    strategy, noise = METHODS[method]
    return plan_release(
        workload,
        measure=measure,
        budget=budget,
        strategy=strategy,
        noise=noise,
        recovery="initial",
    )


def simulate(
    table: CodedTable, workload: Workload, method: str, generator: np.random.Generator, runs: int
) -> Outcome:
    """The mean errors of several releases; consistency as in the paper's §4.3 (L2)."""
    started = time.process_time()
    plan = plan_of(workload, method)
    sizes = dict(zip(table.domain.names, table.domain.shape, strict=True))
    blocks = [(part, exact_answers(table, part.measured)) for part in plan.parts]
    planned = time.process_time() - started
    relative, absolute, seconds = [], [], []
    for _ in range(runs):
        started = time.process_time()
        noisy = [
            exact + generator.laplace(0.0, part.noise_scale, exact.shape) for part, exact in blocks
        ]
        found = {t.attributes: t.values for t in plan.recover(noisy)}
        if method in {"Q", "Q+", "C", "C+"}:
            found = consistent_tables(found, sizes)
        seconds.append(time.process_time() - started)
        errors = {n: np.abs(values - table.counts(n)) for n, values in found.items()}
        cells = sum(error.size for error in errors.values())
        absolute.append(sum(float(e.sum()) for e in errors.values()) / cells)
        scaled = sum(float(e.sum()) * e.size / table.records for e in errors.values())
        relative.append(scaled / cells)
    return Outcome(
        float(np.mean(relative)),
        float(np.std(relative, ddof=1) / np.sqrt(runs)),
        float(np.mean(absolute)),
        plan.rmse,
        planned + float(np.mean(seconds)),
    )


def exact_answers(table: CodedTable, measured: Block) -> NDArray[np.float64]:
    """The true answers of a block."""
    if measured.is_single:  # only the total is measured as a single query here
        return np.array(float(table.records))
    counts = table.counts(measured.attributes)
    if isinstance(measured, Kronecker):  # of whole tables; the engine's have non-empty cells only
        return np.asarray(measured.exact(counts), np.float64)
    return counts.astype(np.float64)
