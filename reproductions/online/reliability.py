"""What R_i can be in one run of the bounded system, over all the noise there might have been.

Both papers say that R_i converges to the confidence level. Each answer's interval does hold the
truth with that probability, but the answers of one run are made from the same few noises, so they
are right or wrong together, and their share does not settle however many questions are asked.

What is asked and paid for is independent of the noise, so the answers of a run are a fixed matrix
times the noise of its measurements: one run gives the matrix, and the noise can be drawn again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.answering.histogram import Histogram
from reproductions.answering.paper_systems import InferringSystem, Query, Reply, infer_blue
from reproductions.answering.report import Report
from reproductions.answering.source import NoisySource
from reproductions.answering.workload import draw_workload

Reals = NDArray[np.float64]


class RecordingSystem(InferringSystem):
    """BLUE on history, which notes how each answer is made of the measurements."""

    def __init__(self, source: NoisySource, budget: float) -> None:
        super().__init__(source, budget, infer_blue)
        self.multipliers: list[Reals] = []
        self.halfwidths: list[float] = []

    def ask(self, query: Query, within: float, delta: float) -> Reply | None:
        reply = super().ask(query, within, delta)
        if reply is None:
            return None
        if reply.paid:
            made_of = np.zeros(len(self.history))
            made_of[-1] = 1.0
        else:
            estimate = self.history.best_linear_unbiased(query)
            assert estimate is not None, "a free answer is determined"
            made_of = estimate.multipliers
        self.multipliers.append(made_of)
        self.halfwidths.append(0.5 * (reply.high - reply.low))
        return reply


def reliability_spread(report: Report, histogram: Histogram) -> dict[str, Any]:
    """Mean and quantiles of R_i over fresh noise, in the setting of Fig. 8."""
    queries, draws = (200, 2000) if report.quick else (1000, 20_000)
    generator = np.random.default_rng([report.seed, 8])
    workload = draw_workload(
        histogram.cells, queries, within=(1.0, 1e3), delta=0.2, generator=generator
    )
    system = RecordingSystem(NoisySource(histogram, generator), 1.0)
    for query, within in zip(workload.coefficients, workload.within, strict=True):
        system.ask(query, float(within), workload.delta)
    scales = system.history.laplace_scales
    noise = generator.laplace(scale=scales[:, None], size=(len(scales), draws))
    held = np.zeros(draws)
    by_query = []
    for made_of, half in zip(system.multipliers, system.halfwidths, strict=True):
        inside = np.abs(made_of @ noise[: len(made_of)]) <= half
        held += inside
        by_query.append(float(inside.mean()))
    reliability = held / len(by_query)
    low, median, high = (float(q) for q in np.quantile(reliability, [0.05, 0.5, 0.95]))
    result = {
        "queries": queries,
        "draws": draws,
        "least_query": min(by_query),
        "most_query": max(by_query),
        "mean": float(reliability.mean()),
        "deviation": float(reliability.std()),
        "low": low,
        "median": median,
        "high": high,
    }
    report.table(
        f"R_i of one run over fresh noise: {queries} queries, budget 1, {draws} draws",
        ["mean", "deviation", "5 %", "median", "95 %", "single questions, from", "to"],
        [[result["mean"], result["deviation"], low, median, high, min(by_query), max(by_query)]],
    )
    report.keep("reliability", result)
    report.says(
        "R_i",
        "R_i converges to the confidence level",
        f"over {draws:,} draws of the noise of one bounded run at confidence 0.8, R_i has the mean "
        f"{result['mean']:.4f} and the deviation {result['deviation']:.3f}, while every single "
        f"question "
        f"is covered with a probability between {min(by_query):.3f} and {max(by_query):.3f}: "
        f"answers "
        "of one run share their noises, so R_i does not converge",
    )
    return result
