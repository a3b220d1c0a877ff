"""One experiment: several systems asked the same questions about the same histogram.

Randomness is documented and repeatable: with seed s, repetition r of an experiment on
the i-th histogram draws its questions from SeedSequence([s, i, r, 0]) and the noise of every system
from SeedSequence([s, i, r, 1]), so that systems differ by what they do and not by luck.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eke.planning import direct, top_up
from reproductions.answering.eke_system import EkeSystem
from reproductions.answering.histogram import Histogram
from reproductions.answering.paper_systems import (
    Baseline,
    InferringSystem,
    LeastSquaresSystem,
    StaticBaseline,
    System,
    infer_blue,
    infer_product,
)
from reproductions.answering.source import NoisySource, measured_tree
from reproductions.answering.trace import Curves, bayes_curves, online_curves, run
from reproductions.answering.workload import draw_workload

SEED = 2012

Build = Callable[[NoisySource, float], System]
SYSTEMS: dict[str, Build] = {
    "improved baseline": Baseline,
    "dynamic": Baseline,
    "BLUE (BAYES)": lambda source, budget: InferringSystem(source, budget, infer_blue),
    "least squares": LeastSquaresSystem,
    "product (ONLINE)": lambda source, budget: InferringSystem(source, budget, infer_product),
    "eke direct": lambda source, budget: EkeSystem(source, budget, direct),
    "eke top_up": lambda source, budget: EkeSystem(source, budget, top_up),
}
"""The papers' systems and eke's, by the names that tables and pictures use."""

WITHOUT_HISTORY = ("improved baseline", "dynamic", "static")
SCORES = {"bayes": bayes_curves, "online": online_curves}


@dataclass(frozen=True, slots=True)
class Experiment:
    """What is asked, of whom, and how it is scored."""

    histogram: Histogram
    within: tuple[float, float]  # ε is uniform between the two
    delta: float
    budget: float
    systems: tuple[str, ...]  # names of SYSTEMS, or "static <α>"
    scoring: str  # "bayes" or "online"
    queries: int = 1000
    tree_epsilon: float = 0.0  # above 0: systems with inference start from a tree that cost this
    seed: int = SEED
    histogram_number: int = 0
    repetition: int = 0


def perform(experiment: Experiment) -> dict[str, Curves]:
    """The curves of each system."""
    cells = experiment.histogram.cells
    workload = draw_workload(
        cells,
        experiment.queries,
        within=experiment.within,
        delta=experiment.delta,
        generator=_generator(experiment, 0),
    )
    curves = {}
    for name in experiment.systems:
        source = NoisySource(experiment.histogram, _generator(experiment, 1))
        system = _build(name, source, experiment.budget)
        if experiment.tree_epsilon and not name.startswith(WITHOUT_HISTORY):
            system.start_from(*measured_tree(source, experiment.tree_epsilon))
        curves[name] = SCORES[experiment.scoring](run(system, workload, source))
    return curves


def perform_all(experiments: Sequence[Experiment], workers: int) -> list[dict[str, Curves]]:
    """The curves of all experiments, on several cores if wanted."""
    if workers <= 1 or len(experiments) == 1:
        return [perform(experiment) for experiment in experiments]
    with ProcessPoolExecutor(workers) as pool:
        return list(pool.map(perform, experiments))


def repeated(experiment: Experiment, repetitions: int) -> list[Experiment]:
    """The same experiment with fresh questions and fresh noise each time."""
    return [replace(experiment, repetition=number) for number in range(repetitions)]


def final_figures(runs: Sequence[dict[str, Curves]]) -> dict[str, dict[str, Any]]:
    """Mean and standard deviation over repetitions of each figure of merit after the last query."""
    summary: dict[str, dict[str, Any]] = {}
    for name in runs[0]:
        summary[name] = {}
        for merit in runs[0][name]:
            last = np.array([curves[name][merit][-1] for curves in runs])
            spread = float(last.std(ddof=1)) if len(last) > 1 else 0.0
            summary[name][merit] = {"mean": float(last.mean()), "deviation": spread}
    return summary


def _build(name: str, source: NoisySource, budget: float) -> System:
    if name.startswith("static "):
        return StaticBaseline(source, budget, float(name.removeprefix("static ")))
    return SYSTEMS[name](source, budget)


def _generator(experiment: Experiment, stream: int) -> np.random.Generator:
    numbers = [experiment.seed, experiment.histogram_number, experiment.repetition, stream]
    return np.random.default_rng(np.random.SeedSequence(numbers))
