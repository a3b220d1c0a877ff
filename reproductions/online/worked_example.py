"""ONLINE Fig. 5: the worked example, three observations of one query and their product."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.inference import ComposedNoise
from eke.inference.papers.product import ProductPosterior
from eke.inference.papers.representation import linear_representations
from eke.query import Query, table
from eke.session import History
from reproductions.answering.figure import Line, Panel, save_grid
from reproductions.answering.report import Report

HISTORY: NDArray[np.float64] = np.array(  # H of eq. 10
    [
        [0, 1, 0, 0, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 4, 2, 0, 0, 0],
        [0, 0, 0, 0, 2, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 1, 0, -1, -1],
        [0, 1, 0, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 0, 0, 2, 0, 0, 0],
    ],
    float,
)
COSTS = np.array([0.05, 0.1, 0.05, 0.1, 0.1, 0.05, 0.05])  # A of eq. 11
CELLS = np.array([10, 21, 37, 20, 50, 40, 53, 0, 0])  # x of eq. 5
QUESTION = np.array([0, 0, 0, 0, 1, 1, 0, 0, 0])  # Q of eq. 14
OBSERVED = (73.34, 91.12, 78.46)  # θ̃_i of Fig. 5; y itself is not printed
WITHIN, DELTA = 15.0, 0.2
PRINTED = {"mean": 84.0, "low": 68.0, "high": 102.0, "alpha": 0.108}


def figure_5(report: Report) -> dict[str, Any]:
    """Representations, posterior, interval, necessary budget and system cost of the example."""
    sensitivities = np.abs(HISTORY).max(axis=1)
    laplace_scales = sensitivities / COSTS
    domain = Domain(cell=Integer(0, len(CELLS) - 1))
    rows = [_query(domain, row) for row in HISTORY]
    weights = linear_representations(rows, _query(domain, QUESTION))
    noises = [ComposedNoise(np.abs(w) * laplace_scales) for w in weights]
    posterior = ProductPosterior(list(zip(OBSERVED, noises, strict=True)))
    low, high = posterior.interval(1.0 - DELTA)

    # N₁ as if the sensitivity of the third query were 2 and not 4: this gives the printed numbers.
    slip = ComposedNoise(np.array([20.0, 10.0]))
    slipped = ProductPosterior(list(zip(OBSERVED, [slip, *noises[1:]], strict=True)))
    slipped_interval = slipped.interval(1.0 - DELTA)

    best = History.from_arrays(HISTORY, HISTORY @ CELLS, laplace_scales).estimate(QUESTION)
    alpha = -math.log(DELTA) / WITHIN
    losses = (COSTS / sensitivities) @ np.abs(HISTORY) + alpha * QUESTION
    result = {
        "representations": [w.tolist() for w in weights],
        "mean": posterior.value,
        "low": low,
        "high": high,
        "printed_interval_holds": posterior.probability(
            above=PRINTED["low"], below=PRINTED["high"]
        ),
        "slip_mean": slipped.value,
        "slip_low": slipped_interval[0],
        "slip_high": slipped_interval[1],
        "slip_holds": slipped.probability(above=PRINTED["low"], below=PRINTED["high"]),
        "blue_width": 2.0 * (best.interval(1.0 - DELTA)[1] - best.value),
        "alpha": alpha,
        "cell_losses": losses.tolist(),
    }
    report.table(
        "Fig. 5: the worked example (80 % interval; 30 is the width asked for)",
        ["", "mean", "low", "high", "width", "Pr(68 < θ < 102)"],
        [
            ["printed", 84.0, 68.0, 102.0, 34.0, 0.8],
            _line("product of the likelihoods", posterior),
            _line("the same, S₃ = 2 by mistake", slipped),
            ["BLUE, any y", "-", "-", "-", result["blue_width"], "-"],
        ],
    )
    report.table(
        "The price of a direct answer",
        ["", "α", "ᾱ"],
        [["printed", 0.108, 0.408], ["computed", alpha, float(losses.max())]],
    )
    points = np.linspace(20.0, 150.0, 400)
    likelihoods = [
        Line(f"observation {number}: {value}", points, _density(noise, value - points))
        for number, (value, noise) in enumerate(zip(OBSERVED, noises, strict=True), 1)
    ]
    product = Line("product", points, posterior.density(points))
    save_grid(
        report.picture("figure5"),
        [[Panel([*likelihoods, product], "θ", "density", "posterior of x₅ + x₆ (truth: 90)")]],
    )
    report.keep("figure5", result)
    report.says(
        "5",
        "mean 84, 80 % interval [68, 102]; α = 0.108 and ᾱ = 0.408 for a direct answer",
        f"mean {posterior.value:.2f}, [{low:.1f}, {high:.1f}]; with the sensitivity of the third "
        f"query "
        f"taken as 2 and not 4 the printed numbers come out ({slipped.value:.2f}, "
        f"[{slipped_interval[0]:.1f}, {slipped_interval[1]:.1f}]). α = {alpha:.4f}, ᾱ = "
        f"{losses.max():.4f}",
    )
    return result


def _line(label: str, posterior: ProductPosterior) -> list[object]:
    low, high = posterior.interval(1.0 - DELTA)
    held = posterior.probability(above=PRINTED["low"], below=PRINTED["high"])
    return [label, posterior.value, low, high, high - low, held]


def _density(noise: ComposedNoise, points: NDArray[np.float64]) -> NDArray[np.float64]:
    return ProductPosterior([(0.0, noise)]).density(points)


def _query(domain: Domain, coefficients: NDArray[Any]) -> Query:
    return table(["cell"], coefficients.astype(float)).on(domain)
