"""BAYES Fig. 5: how long the best linear unbiased estimate takes.

The paper solves the normal equations from scratch for every question (eq. 16). eke keeps its
regression up to date, so a new measurement and a new question cost one rank-one update and a few
triangular solves.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.history import Row
from eke.inference import Inference
from eke.privacy.law import Laplace
from eke.query import Query, Term
from reproductions.answering.figure import Line, Panel, save_grid
from reproductions.answering.report import Report, processor_seconds

Reals = NDArray[np.float64]
LARGE_CELLS = [*range(100, 1001, 100), *range(1200, 2001, 200)]
NORMAL, BUILD, STEP = "normal equations", "eke, whole history", "eke, one more question"


@dataclass(frozen=True, slots=True)
class RandomHistory:
    """The paper's random history: coefficients up to max(S), α uniform in (0, 1]."""

    matrix: NDArray[np.int64]  # (m, n)
    laplace_scales: Reals  # (m,) S./α


def random_history(m: int, n: int, largest: int, generator: np.random.Generator) -> RandomHistory:
    """A history of m measurements over n cells, with coefficients from 0 to `largest`."""
    matrix = generator.integers(0, largest + 1, (m, n))
    alpha = 1.0 - generator.uniform(0.0, 1.0, m)
    return RandomHistory(matrix, matrix.max(axis=1) / alpha)


def blue_weights(history: RandomHistory, query: NDArray[np.int64]) -> Reals:
    """A = Q(Hᵀ diag²(α./S) H)⁻¹ Hᵀ diag²(α./S), as printed (BAYES eq. 16)."""
    weighted = history.matrix / history.laplace_scales[:, None] ** 2
    inverse = np.linalg.inv(history.matrix.T @ weighted)
    return np.asarray(query @ inverse @ weighted.T)


@dataclass(frozen=True, slots=True)
class Timing:
    """Processor seconds at one size."""

    m: int
    n: int
    normal: float
    build: float
    step: float


def timings(sizes: list[int], n: int, largest: int, generator: np.random.Generator) -> list[Timing]:
    """One history of n cells grown through the sizes given, timed at each."""
    history = random_history(sizes[-1], n, largest, generator)
    domain = Domain(cell=Integer(0, n - 1))
    rows = [
        Row(_query(domain, row), 0.0, Laplace(float(scale)))
        for row, scale in zip(history.matrix, history.laplace_scales, strict=True)
    ]
    question = generator.integers(0, largest + 1, n)
    asked = _query(domain, question)
    inference = Inference(domain)
    built, at = 0.0, 0
    result = []
    for m in sizes:
        started = process_time()
        for row in rows[at:m]:
            inference.append(row)
        grown = process_time() - started
        built += grown
        estimate = processor_seconds(lambda: inference.regression.estimate(asked))
        part = RandomHistory(history.matrix[:m], history.laplace_scales[:m])
        normal = processor_seconds(partial(blue_weights, part, question))
        result.append(Timing(m, n, normal, built, grown / (m - at) + estimate))
        at = m
    return result


def figure_5(report: Report) -> dict[str, Any]:
    """Time against m with n = 100, and against n with m = 2n."""
    generator = np.random.default_rng([report.seed, 5])
    sizes = [200, 600, 1000] if report.quick else list(range(100, 2001, 100))
    cells = [50, 150, 300] if report.quick else LARGE_CELLS
    timings([20, 40], 20, 10, generator)  # compiles what is compiled on first use
    by_m = timings(sizes, 100, 10, generator)
    # The last stretch of each history is timed by itself: there the rank is n.
    by_n = [timings([2 * n - 20, 2 * n], n, 10, generator)[-1] for n in cells]
    for label, series in (("m (n = 100)", by_m), ("n (m = 2n)", by_n)):
        report.table(
            f"Fig. 5: BLUE, milliseconds of processor time against {label}",
            ["m", "n", NORMAL, BUILD, STEP],
            [[t.m, t.n, 1e3 * t.normal, 1e3 * t.build, 1e3 * t.step] for t in series],
        )
    save_grid(
        report.picture("figure5"),
        [[_panel(by_m, "m", "n = 100"), _panel(by_n, "n", "m = 2n")]],
    )
    result = {
        key: [{"m": t.m, "n": t.n, "normal": t.normal, "build": t.build, "step": t.step} for t in s]
        for key, s in (("by_m", by_m), ("by_n", by_n))
    }
    report.keep("figure5", result)
    few, many, largest = by_m[0], by_m[-1], by_n[-1]
    report.says(
        "5, left",
        "the time of BLUE rises slowly with m (n = 100, m to 2000)",
        f"normal equations {1e3 * few.normal:.2f} ms at m = {few.m}, {1e3 * many.normal:.2f} ms at "
        f"m = {many.m}; one more question to eke's regression, history kept, "
        f"{1e3 * min(t.step for t in by_m):.2f} to {1e3 * max(t.step for t in by_m):.2f} ms",
    )
    report.says(
        "5, right",
        "it rises significantly with n (m = 2n, n to 2000)",
        f"normal equations {1e3 * by_n[0].normal:.2f} ms at n = {by_n[0].n}, "
        f"{largest.normal:.2f} s at "
        f"n = {largest.n}; one more question {1e3 * by_n[0].step:.2f} and "
        f"{1e3 * largest.step:.1f} ms; "
        f"the whole history, measurement by measurement, {largest.build:.1f} s",
    )
    return result


def _panel(series: list[Timing], size: str, title: str) -> Panel:
    x = [t.m if size == "m" else t.n for t in series]
    lines = [
        Line(NORMAL, x, [1e3 * t.normal for t in series], "o"),
        Line(BUILD, x, [1e3 * t.build for t in series], "s"),
        Line(STEP, x, [1e3 * t.step for t in series], "^"),
    ]
    return Panel(lines, size, "milliseconds", title, ylog=True)


def _query(domain: Domain, coefficients: NDArray[np.int64]) -> Query:
    return Query.of(domain, [Term(Fraction(1), (("cell", coefficients),))])
