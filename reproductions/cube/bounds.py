"""CUBE Table 1, both halves, its lower bounds, and Theorem B.1(2): noise against what is claimed.

Bounds are the paper's with the constants that its proofs give. Where a bound is one on the expected
L1 noise of a marginal, the noise is simulated over all k-way marginals and several releases.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb, log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.planning.workload.workload import Workload
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from reproductions.answering.figure import Line, Panel, save_grid
from reproductions.answering.report import Report
from reproductions.cube.methods import EKE, plan_of, workload_of
from reproductions.cube.tables import binary_attributes

DELTA = 1e-6
RELEASES = {1: 160, 2: 40, 3: 10}  # few large marginals share more of their noise
TAILS = (0.1, 0.01, 0.001)
SMALL_TAILS = (1e-2, 1e-6, 1e-12)
SETTINGS = ((8, 1), (8, 2), (8, 3), (12, 1), (12, 2), (12, 3), (16, 1), (16, 2), (16, 3))
METHODS = ("I", "Q", "F", "F+", EKE)


def pure_bounds(width: int, ways: int) -> dict[str, float]:
    """Expected L1 noise of a marginal at ε = 1 under Laplace noise, at most."""
    subsets = comb(width, ways)
    return {
        "I": sqrt(2) * 2 ** ((width + ways) / 2),
        "Q": sqrt(2) * 2**ways * subsets,
        "F": coefficients(width, ways) * sqrt(2 ** (3 + ways)),
        "F+": sqrt(6) * (ways + 1) * sqrt(comb(width + ways, ways) * subsets),
    }


def gaussian_bounds(width: int, ways: int) -> dict[str, float]:
    """The same for (1, δ)-differential privacy, with the noise of Theorem 2.2.

    Each is √(2^k · the sum of variances of a marginal's cells), which Jensen's inequality gives.
    For F+ the appendix's Cauchy-Schwarz step leaves 2·log(2/δ)·(k + 1)·C(d + k, k).
    """
    twice_log = 2.0 * log(2.0 / DELTA)
    return {
        "I": sqrt(twice_log) * 2 ** ((width + ways) / 2),
        "Q": 2**ways * sqrt(twice_log * comb(width, ways)),
        "F": sqrt(twice_log * 2**ways * coefficients(width, ways)),
        "F+": sqrt(twice_log * (ways + 1) * comb(width + ways, ways)),
    }


def coefficients(width: int, ways: int) -> int:
    """How many Fourier coefficients all k-way marginals need: |B|."""
    return sum(comb(width, i) for i in range(ways + 1))


def lower_bound(width: int, ways: int, delta: float = 0.0) -> float:
    """√C(d, k)·(1 - δ/ε) at ε = 1, without the constant and the logarithms that Ω̃ hides."""
    return sqrt(comb(width, ways)) * (1.0 - delta)


def table_1(report: Report) -> dict[str, Any]:
    """The mean L1 noise of a k-way marginal against the bounds, above and below."""
    generator = np.random.default_rng(report.seed)
    settings = SETTINGS[1:2] if report.quick else SETTINGS
    # ρ with which Gaussian noise has the variance 2·Δ²·log(2/δ) of Theorem 2.2.
    halves: tuple[tuple[str, Measure, float, Callable[[int, int], dict[str, float]], float], ...]
    halves = (
        ("ε = 1", PURE, 1.0, pure_bounds, 0.0),
        (
            f"ε = 1, δ = {DELTA:g}",
            CONCENTRATED,
            1.0 / (4.0 * log(2.0 / DELTA)),
            gaussian_bounds,
            DELTA,
        ),
    )
    result: dict[str, Any] = {}
    for title, measure, budget, bounds, delta in halves:
        rows = []
        for width, ways in settings:
            workload = workload_of(binary_attributes(width, generator, 1000), f"Q{ways}")
            limits = bounds(width, ways)
            least = lower_bound(width, ways, delta)
            for method in METHODS:
                noise, error = _mean_noise(
                    workload, method, measure, budget, generator, quick=report.quick
                )
                limit = limits.get(method)
                shown = ("", "") if limit is None else (limit, noise / limit)
                rows.append([width, ways, method, noise, error, *shown, noise / least])
        header = ["d", "k", "method", "L1 noise", "±", "bound", "over bound", "over √C(d, k)"]
        report.table(f"Table 1, {title}: expected L1 noise of a marginal", header, rows)
        result[measure.name] = rows
    report.keep("table1", result)
    pure, gaussian = (_ratios(result[measure.name]) for measure in (PURE, CONCENTRATED))
    ratios = [row[6] for rows in result.values() for row in rows if row[2] != EKE]
    tried, held = len(ratios), sum(ratio < 1.0 for ratio in ratios)
    report.says(
        "Table 1",
        "bounds on the expected L1 noise of a k-way marginal, with ε and with (ε, δ); "
        "non-uniform noise improves F asymptotically; lower bounds "
        "Ω̃(√C(d, k)/ε) and Ω̃(√C(d, k)·(1 − δ/ε)/ε)",
        f"{held} of {tried} simulated means keep to the bounds with the proofs' constants, for "
        f"{len(settings)} pairs of d ≤ {settings[-1][0]} and k ≤ {max(k for _, k in settings)}. "
        f"Noise over bound with ε: {pure}; with (1, {DELTA:g}): {gaussian}. Over √C(d, k), "
        f"from d = {settings[0][0]} to {settings[-1][0]} the least of all methods is "
        f"{_least(result[PURE.name])} with ε and {_least(result[CONCENTRATED.name])} with (ε, δ)",
    )
    return result


def _ratios(rows: Sequence[Sequence[Any]]) -> str:
    parts = []
    for method in METHODS[:-1]:
        ratios = [row[6] for row in rows if row[2] == method]
        parts.append(f"{method} {min(ratios):.2f} to {max(ratios):.2f}")
    return ", ".join(parts)


def _least(rows: Sequence[Sequence[Any]]) -> str:
    """The least noise over the lower bound at the first and last setting of each k, in words."""
    parts = []
    for ways in sorted({row[1] for row in rows}):
        widths = sorted({row[0] for row in rows if row[1] == ways})
        best = [min(r[7] for r in rows if r[:2] == [width, ways]) for width in widths]
        parts.append(f"{' → '.join(f'{b:.1f}' for b in best)} (k = {ways})")
    return ", ".join(parts)


def _mean_noise(
    workload: Workload,
    method: str,
    measure: Measure,
    budget: float,
    generator: np.random.Generator,
    *,
    quick: bool,
) -> tuple[float, float]:
    """The mean over marginals and releases of Σ |noise| of a marginal, with its standard error."""
    plan = plan_of(workload, method, measure, budget)
    draw = generator.laplace if measure is PURE else generator.normal
    ways = len(workload.targets[0].attributes)
    releases = []
    for _ in range(10 if quick else RELEASES[ways]):
        noise = [draw(0.0, part.noise_scale, part.measured.shape) for part in plan.parts]
        releases.append(float(np.mean([np.abs(t.values).sum() for t in plan.recover(noise)])))
    return float(np.mean(releases)), float(np.std(releases, ddof=1) / sqrt(len(releases)))


def theorem_b1(report: Report) -> dict[str, Any]:
    """Theorem B.1(2): what the largest L1 noise of all marginals exceeds with probability δ.

    The claim is O(|B|·√(2^k·log(|B|/δ))/ε) for uniform noise on Fourier coefficients. The quotient
    must stay bounded. With k = 1 the noise of a marginal is |B|·max(|L|, |L′|) for two unit Laplace
    noises, whose tail falls as e^-t: there the quantile is known and grows as log(1/δ).
    """
    generator = np.random.default_rng(report.seed)
    runs = 200 if report.quick else 4000
    rows = []
    for width, ways in SETTINGS[1:2] if report.quick else SETTINGS:
        largest = largest_noise(width, ways, runs, generator)
        number = coefficients(width, ways)
        quotients = [
            float(np.quantile(largest, 1.0 - tail)) / claimed(width, ways, tail) for tail in TAILS
        ]
        rows.append([width, ways, number, *quotients])
    header = ["d", "k", "Fourier coefficients", *(f"δ = {tail:g}" for tail in TAILS)]
    report.table(
        f"Theorem B.1(2): quantile over |B|·√(2^k·log(|B|/δ)), {runs:,} releases", header, rows
    )
    exact = [[tail, one_way_quantile(16, tail) / claimed(16, 1, tail)] for tail in SMALL_TAILS]
    report.table("Theorem B.1(2), one marginal of d = 16, k = 1, exactly", ["δ", "quotient"], exact)
    deltas = np.logspace(-12, -1, 60)
    lines = [
        Line(
            "k = 1, one marginal, exactly",
            deltas,
            [one_way_quantile(16, d) / claimed(16, 1, d) for d in deltas],
        ),
        *(
            Line(f"k = {ways}, largest of all, simulated", TAILS, row[3:], "o")
            for ways in (1, 2, 3)
            for row in rows
            if row[:2] == [16, ways]
        ),
    ]
    panel = Panel(
        lines, "δ", "quantile over claim", title="Theorem B.1(2), d = 16", xlog=True, ylim=(0, 4.2)
    )
    save_grid(report.picture("theorem_b1"), [[panel]])
    result = {"rows": rows, "one_way": exact}
    report.keep("theorem_b1", result)
    shares = [row[3:] for row in rows]
    report.says(
        "Theorem B.1(2)",
        "the L1 noise of every marginal under F is O(|B|·√(2^k·log(|B|/δ))/ε) with probability "
        "1 − δ",
        f"what the largest noise of all marginals exceeds with probability {TAILS[0]:g} to "
        f"{TAILS[-1]:g} is "
        f"{np.min(shares):.2f} to {np.max(shares):.2f} times that, over {runs:,} releases. It "
        "is no bound for every δ, though: Laplace tails fall as e^−t, so for k = 1 the quantile of "
        "a single marginal grows as log(1/δ), not as its root: "
        + ", ".join(f"{quotient:.2f} times at δ = {tail:g}" for tail, quotient in exact)
        + ". The inequality of the proof holds while log(1/δ) is of the order of the number of "
        "coefficients in a marginal, 2^k",
    )
    return result


def claimed(width: int, ways: int, tail: float) -> float:
    """|B|·√(2^k·log(|B|/δ)), the claim without its constant."""
    number = coefficients(width, ways)
    return number * sqrt(2**ways * log(number / tail))


def one_way_quantile(width: int, tail: float) -> float:
    """What |B|·max(|L|, |L′|) exceeds with this probability."""
    return -coefficients(width, 1) * log(tail / (1.0 + sqrt(1.0 - tail)))


def largest_noise(
    width: int, ways: int, runs: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    """The largest L1 noise of all k-way marginals in each of some releases of F at ε = 1.

    A cell is 2^-k·|B|·Σ ± L over the subsets of its marginal's attributes, for unit Laplace L.
    """
    place = {
        subset: number
        for number, subset in enumerate(
            s for size in range(ways + 1) for s in combinations(range(width), size)
        )
    }
    within = np.array(
        [
            [place[s] for size in range(ways + 1) for s in combinations(marginal, size)]
            for marginal in combinations(range(width), ways)
        ]
    )  # (marginals, 2^k)
    subsets = [frozenset(s) for size in range(ways + 1) for s in combinations(range(ways), size)]
    signs = np.array([[(-1.0) ** len(a & b) for b in subsets] for a in subsets])
    largest = np.empty(runs)
    for run in range(runs):
        noise = generator.laplace(size=len(place))[within]
        largest[run] = np.abs(noise @ signs).sum(axis=1).max()
    return np.asarray(largest * len(place) / 2**ways)
