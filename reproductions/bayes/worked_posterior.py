"""BAYES Fig. 2 and 3: the posterior of the running example by sampling and by convolving.

The history, the question and the noisy answers are those of §2 and §3. Both methods are set as the
paper sets them: a million draws, and whole cells with γ = 0.01; the exact density lies beneath.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.inference import ComposedNoise
from eke.inference.papers.monte_carlo import MonteCarloPosterior
from eke.inference.posterior import exact_masses
from eke.inference.posterior.exact import ExactPosterior
from reproductions.answering.figure import Line, Panel, save_grid
from reproductions.answering.report import Report
from reproductions.bayes.blue_time import RandomHistory, blue_weights
from reproductions.bayes.posterior_cost import paper_convolution

MATRIX: NDArray[np.int64] = np.array(
    [
        [1, 1, 0, 0],
        [0, 0, 1, 1],
        [0, 0, 0, 1],
        [0, 0, 1, 0],
        [0, 1, 0, 1],
        [2, 1, 0, 0],
        [0, 0, 2, -1],
        [0, -1, 0, 1],
    ]
)
BUDGETS = np.array([0.05, 0.1, 0.05, 0.1, 0.1, 0.05, 0.05, 0.1])
ANSWERS = np.array([30.8, 30.3, 46.9, 20.2, 30.4, 68.9, 38.9, 9.5])
QUESTION: NDArray[np.int64] = np.array([1, 0, 1, 0])
DRAWS = 1_000_000
CONFIDENCE = 0.95
PRINTED_HALFWIDTH, PRINTED_POSITIVE = 83.0, 0.88  # [-41, 125] and Pr(θ > 0)


def figures_2_and_3(report: Report) -> dict[str, Any]:
    """The probability mass functions, 95 % intervals and Pr(θ > 0) of all methods."""
    scales = np.abs(MATRIX).max(axis=1) / BUDGETS
    weights = blue_weights(RandomHistory(MATRIX, scales), QUESTION)
    value, noise = float(weights @ ANSWERS), ComposedNoise(np.abs(weights) * scales)
    generator = np.random.default_rng([report.seed, 2])
    sampled = MonteCarloPosterior(value, noise, 20_000 if report.quick else DRAWS, generator)
    convolved = paper_convolution(noise)
    exact = ExactPosterior(value, noise)
    by_sampling, by_convolving = sampled.mass(), convolved.mass
    half = exact.interval(CONFIDENCE)[1] - value
    # [-41, 125] is wider than any method gives: as if all noise were so much wider.
    factor = PRINTED_HALFWIDTH / half
    wider = ExactPosterior(value, ComposedNoise(noise.laplace_scales * factor))
    rows = [
        _row(
            "Monte Carlo", value, by_sampling.halfwidth(CONFIDENCE), sampled.probability(above=0.0)
        ),
        _row(
            "convolution, γ = 0.01",
            value,
            by_convolving.halfwidth(CONFIDENCE),
            by_convolving.between(-value, np.inf),
        ),
        _row("exact", value, half, exact.probability(above=0.0)),
        ("printed", -41.0, 125.0, PRINTED_POSITIVE, ""),
        _row(
            f"exact, noise {factor:.2f} times as wide",
            value,
            PRINTED_HALFWIDTH,
            wider.probability(above=0.0),
        ),
    ]
    report.table(
        "Fig. 2 and 3: the example's posterior", ("", "low", "high", "Pr(θ > 0)", "half"), rows
    )
    errors = [
        float(((mass.masses - exact_masses(noise, len(mass.masses)).masses) ** 2).sum())
        for mass in (by_sampling, by_convolving)
    ]
    _draw(report, value, noise, (by_sampling.masses, by_convolving.masses))
    result = {
        "value": value,
        "factor": factor,
        "rows": rows,
        "lengths": [len(by_sampling.masses), len(by_convolving.masses)],
        "errors": errors,
        "held": by_convolving.total,
    }
    report.keep("figures 2 and 3", result)
    report.says(
        "2",
        "a histogram of 10⁶ draws; they reach from −465 to 466, |u| = 933",
        f"{sampled.sample_size:,} draws reach {sampled.draws[0]:.0f} to {sampled.draws[-1]:.0f}, "
        f"|u| = {len(by_sampling.masses)}; squared error against the exact masses {errors[0]:.1e}",
    )
    report.says(
        "3",
        "convolution with γ = 0.01: the same shape; 95 % interval [−41, 125], Pr(θ > 0) = 0.88",
        f"|u| = {len(by_convolving.masses)}, {by_convolving.total:.4f} of the mass, squared error "
        f"{errors[1]:.1e}. 95 % intervals: "
        + "; ".join(f"{row[0]} [{row[1]:.1f}, {row[2]:.1f}]" for row in rows[:3])
        + f"; Pr(θ > 0) = {rows[2][3]:.3f}. The formulas of the paper do not give what it "
        f"prints; with "
        f"noise {factor:.2f} times as wide they give its interval, and Pr(θ > 0) = "
        f"{rows[4][3]:.2f}",
    )
    return result


def _row(
    name: str, value: float, half: float, positive: float
) -> tuple[str, float, float, float, float]:
    return name, value - half, value + half, positive, half


def _draw(
    report: Report, value: float, noise: ComposedNoise, masses: tuple[NDArray[np.float64], ...]
) -> None:
    labels = ("histogram of draws", "convolution")
    panels = []
    for title, label, mass in zip(("Fig. 2", "Fig. 3"), labels, masses, strict=True):
        reach = len(mass) // 2
        points = value + np.arange(-reach, reach + 1)
        near = np.abs(points - value) <= 120.0
        exact = exact_masses(noise, len(mass)).masses
        panels.append(
            Panel(
                [Line(label, points[near], mass[near]), Line("exact", points[near], exact[near])],
                "θ",
                "probability of a cell",
                title,
            )
        )
    save_grid(report.picture("figures2and3"), [panels])
