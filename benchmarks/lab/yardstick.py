"""Yardstick: what somebody who knows the whole trace beforehand would do with the limit.

The least loss found with which every arrival is answered: by the rents alone; by tables alone, each
over the attributes of its questions or over a larger set that is shared; or by tables and single
questions together (`foresight.py`). It is achievable. `bound.py` proves what no mechanism can do.
With a limit, the yardstick may leave questions out: those that need the most precision.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from benchmarks.lab.bound import factorisation_bound, least_loss
from benchmarks.lab.foresight import Problem, Spending
from benchmarks.lab.questions import Questions, questions_of
from benchmarks.lab.traces import UNBOUNDED, Trace
from eke.inference import ComposedNoise, halfwidth
from eke.planning.look_ahead.prospect import MOST_CELLS
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO

FloatArray = NDArray[np.float64]

MOST_JOINT = 1200
"""Questions for which tables and single measurements are optimised together."""


@dataclass(frozen=True, slots=True)
class Yardstick:
    """What foresight achieves within the limit, and the loss with which it answers everything."""

    answered: float
    loss: float
    error: float  # mean error over the half-width asked for
    coverage: float
    all_answered: float
    way: str  # the kind of spending that did it
    rents: float  # the loss of measuring every question once, by itself
    tables: float  # the least of tables only
    least: float  # no mechanism answers everything with less (bound.py)
    alone: float  # no pure mechanism at all, biased or not, answers the dearest question with less


def yardstick(trace: Trace, measure: Measure, steps: int = 60) -> Yardstick:
    """What foresight achieves on a trace; `steps` of descent in each round, or none at all."""
    questions = questions_of(trace)
    rents, tables = _rents(questions, measure), _by_tables(questions, measure)
    ways = {"rents": rents, "tables": tables}
    spending: Spending | None = None
    if steps and len(questions) <= MOST_JOINT:
        spending = _joint(trace, questions, measure, steps)
        ways["tables and rents"] = spending.loss
    way = min(ways, key=lambda name: ways[name])
    limit = math.inf if trace.limit == UNBOUNDED else trace.limit / NANO
    kept, loss, spending = _within(questions, measure, limit, ways[way], spending, steps=steps)
    error = coverage = math.nan
    if spending is not None and kept.any():
        some = questions.only(kept)
        errors = np.abs(
            Problem(some, measure).errors(spending, np.random.default_rng(len(questions)))
        )
        times = some.times / some.times.sum()
        error = float(times @ (errors / some.within))
        coverage = float(times @ (errors <= some.within))
    arrivals = questions.times.sum()
    return Yardstick(
        float(questions.times[kept].sum() / arrivals),
        loss,
        error,
        coverage,
        ways[way],
        way,
        rents,
        tables,
        least_loss(factorisation_bound(questions), measure),
        _alone(questions) if measure == PURE else 0.0,
    )


_SOLVED: dict[tuple[int, Measure], Spending] = {}


def _joint(trace: Trace, questions: Questions, measure: Measure, steps: int) -> Spending:
    """The same for a trace with and without a limit, so it is found once."""
    key = (id(trace.demands), measure)
    if key not in _SOLVED:
        _SOLVED[key] = Problem(questions, measure).solved(steps)
    return _SOLVED[key]


def _within(
    questions: Questions,
    measure: Measure,
    limit: float,
    everything: float,
    spending: Spending | None,
    *,
    steps: int,
) -> tuple[NDArray[np.bool_], float, Spending | None]:
    """The most questions answered within a limit: those that need least precision come first."""
    if everything <= limit:
        return np.ones(len(questions), np.bool_), everything, spending
    order = np.argsort(-np.minimum(questions.gaussian, questions.laplace), kind="stable")
    low, high = 0, len(questions)
    best: tuple[NDArray[np.bool_], float, Spending | None] = (
        np.zeros(len(questions), np.bool_), 0.0, None,
    )  # fmt: skip
    while high - low > max(1, len(questions) // 64):
        middle = (low + high) // 2
        kept = np.zeros(len(questions), np.bool_)
        kept[order[:middle]] = True
        some = questions.only(kept)
        loss, own = min(_rents(some, measure), _by_tables(some, measure)), None
        if steps and len(some) <= MOST_JOINT:
            own = Problem(some, measure).solved(steps)
            loss = min(loss, own.loss)
        if loss <= limit:
            low, best = middle, (kept, loss, own)
        else:
            high = middle
    return best


def _prices(variances: FloatArray, measure: Measure) -> FloatArray:
    return np.sqrt(2.0 / variances) if measure == PURE else 0.5 / variances


def _rents(questions: Questions, measure: Measure) -> float:
    """The largest loss of a record when every question is measured once."""
    single = questions.laplace if measure == PURE else questions.gaussian
    reach = np.abs(questions.coefficients)
    if measure == CONCENTRATED:
        reach = reach**2
    return float((_prices(single, measure).astype(np.float32) @ reach).max())


def _by_tables(questions: Questions, measure: Measure) -> float:
    """The least sum of prices of tables, each good enough for all questions given to it."""
    shape = questions.shape
    own = [
        tuple(k for k in range(len(shape)) if questions.deviations[k][i].any()) or (0,)
        for i in range(len(questions))
    ]
    squares = (questions.coefficients.astype(np.float64) ** 2).sum(axis=1)
    best = math.inf
    for most in (0, 2**6, 2**8, 2**10, 2**12, MOST_CELLS):
        kept: list[tuple[int, ...]] = []
        for names in sorted(set(own), key=lambda one: (-len(one), one)):
            for place, home in enumerate(kept):
                union = tuple(sorted({*home, *names}))
                if set(names) <= set(home) or math.prod(shape[k] for k in union) <= most:
                    kept[place] = union
                    break
            else:
                kept.append(names)
        total = 0.0
        for home in kept:
            inside = np.array([set(names) <= set(home) for names in own])
            first = np.array([next(h for h in kept if set(n) <= set(h)) == home for n in own])
            inside &= first
            # A sum over the whole domain counts every cell of the table so many times.
            cells = squares[inside] * math.prod(shape[k] for k in home) / math.prod(shape)
            if inside.any():
                allowed = _allowed(questions.only(inside), cells, measure)
                total += float(_prices(allowed / cells, measure).max())
        best = min(best, total)
    return best


def _allowed(questions: Questions, cells: FloatArray, measure: Measure) -> FloatArray:
    """The variance that a sum of so many cells may have."""
    if measure == CONCENTRATED:
        return questions.gaussian
    widths = [
        _deviations(2 ** math.floor(math.log2(max(1.0, n))), float(confidence))
        for n, confidence in zip(cells, questions.confidence, strict=True)
    ]
    return np.asarray((questions.within / np.array(widths)) ** 2)


@lru_cache(maxsize=4096)
def _deviations(cells: int, confidence: float) -> float:
    """The half-width of a sum of Laplace noises in standard deviations."""
    noise = ComposedNoise(np.ones(1), 0.0, 0.0, np.array([float(cells)]))
    return halfwidth(noise, confidence) / math.sqrt(noise.variance)


def _alone(questions: Questions) -> float:
    """The price of the dearest question under any pure mechanism.

    With half-width w at confidence 1-δ, tables that differ in k = ⌊2w/S⌋ + 1 records of the right
    kind have answers whose intervals do not meet, so 1-δ ≤ e^{kε}·δ.
    """
    reach = np.abs(questions.coefficients).max(axis=1)
    records = np.floor(2.0 * questions.within / reach) + 1.0
    odds = questions.confidence / (1.0 - questions.confidence)
    return float((np.log(odds) / records).max())
