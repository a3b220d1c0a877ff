"""ONLINE Fig. 6 to 10: allocation, inference, the bounded system and its parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from reproductions.answering.comparison import AXES, LIMITS, MERITS, compare, with_spread
from reproductions.answering.experiment import (
    Experiment,
    final_figures,
    perform_all,
    repeated,
)
from reproductions.answering.figure import Line, Panel, save_grid
from reproductions.answering.histogram import Histogram
from reproductions.answering.report import Report

BASELINE, PRODUCT = "improved baseline", "product (ONLINE)"
OURS = ("eke direct", "eke top_up")
STATIC = ("static 0.001", "static 0.002", "static 0.004")  # 0.004 is the budget 4 over 1000 queries


def figure_6(report: Report, histograms: Sequence[Histogram]) -> dict[str, Any]:
    """Dynamic against static allocation: ε uniform in [50, 10⁴], budget 4, δ = 0.05."""
    experiment = Experiment(
        histogram=histograms[0],
        within=(50.0, 1e4),
        delta=0.05,
        budget=4.0,
        systems=("dynamic", *STATIC),
        scoring="online",
        seed=report.seed,
    )
    return compare(
        report, histograms, experiment, name="figure6", title="Fig. 6, allocation",
        merits=("spent", "answered", "reliability"), repetitions=2 if report.quick else 5,
    )  # fmt: skip


def figure_7(report: Report, histograms: Sequence[Histogram]) -> dict[str, Any]:
    """Inference from a tree that cost 0.3: budget 6, ε uniform in [50, 1000], δ = 0.2."""
    experiment = Experiment(
        histogram=histograms[0],
        within=(50.0, 1e3),
        delta=0.2,
        budget=6.0,
        systems=(BASELINE, PRODUCT, *OURS),
        scoring="online",
        queries=60 if report.quick else 1000,
        tree_epsilon=0.3,
        seed=report.seed,
    )
    return compare(
        report, histograms, experiment, name="figure7", title="Fig. 7, inference",
        merits=("spent", "error", "reliability"), repetitions=1,
    )  # fmt: skip


def figure_8(report: Report, histograms: Sequence[Histogram]) -> dict[str, Any]:
    """The bounded system: budget 1, ε uniform in [1, 1000], δ = 0.2."""
    systems = (BASELINE, "least squares", PRODUCT, *OURS)
    return compare(
        report, histograms, replace(_bounded(report, histograms[0]), systems=systems),
        name="figure8", title="Fig. 8, bounded",
        merits=("answered", "error", "reliability"), repetitions=1 if report.quick else 3,
    )  # fmt: skip


def figure_9(report: Report, histograms: Sequence[Histogram]) -> dict[str, Any]:
    """The impact of the budget; everything else as in Fig. 8."""
    # A quick look needs the ends only.
    budgets = (0.25, 4.0) if report.quick else (0.25, 0.5, 1.0, 2.0, 4.0)
    base = replace(_bounded(report, histograms[0]), queries=120 if report.quick else 1000)
    return _sweep(
        report, histograms[0], {budget: replace(base, budget=budget) for budget in budgets},
        name="figure9", title="Fig. 9, budget", varied="overall budget",
    )  # fmt: skip


def figure_10(report: Report, histograms: Sequence[Histogram]) -> dict[str, Any]:
    """The impact of the accuracy asked for: ε uniform in [1, bound], budget 1."""
    bounds = (200.0, 1000.0) if report.quick else (200.0, 400.0, 600.0, 800.0, 1000.0)
    base = replace(_bounded(report, histograms[0]), queries=120 if report.quick else 1000)
    return _sweep(
        report, histograms[0], {bound: replace(base, within=(1.0, bound)) for bound in bounds},
        name="figure10", title="Fig. 10, accuracy", varied="upper bound of ε",
    )  # fmt: skip


def _bounded(report: Report, histogram: Histogram) -> Experiment:
    return Experiment(
        histogram=histogram,
        within=(1.0, 1e3),
        delta=0.2,
        budget=1.0,
        systems=(BASELINE, PRODUCT, *OURS),
        scoring="online",
        queries=200 if report.quick else 1000,
        seed=report.seed,
    )


def _sweep(
    report: Report,
    histogram: Histogram,
    settings: dict[float, Experiment],
    *,
    name: str,
    title: str,
    varied: str,
) -> dict[str, Any]:
    """Final figures of merit against one parameter, by parameter and system.

    One run says little here: a budget just large enough for an early, very accurate question may
    be spent on it and answer less in the end than a smaller one. So workloads are averaged, and
    the second histogram, whose errors would be the same, is left out.
    """
    repetitions = 1 if report.quick else 3
    jobs = [run for experiment in settings.values() for run in repeated(experiment, repetitions)]
    done = perform_all(jobs, report.workers)
    finals = {
        value: final_figures(done[number * repetitions : (number + 1) * repetitions])
        for number, value in enumerate(settings)
    }
    systems = list(done[0])
    merits = ("answered", "error", "reliability")
    for merit in merits:
        report.table(
            f"{title}: {MERITS[merit]}, {histogram.name}, {repetitions} repetition(s)",
            [varied, *systems],
            [
                [value, *(with_spread(figures[system][merit], repetitions) for system in systems)]
                for value, figures in finals.items()
            ],
        )
    panels = [
        Panel(
            [
                Line(
                    system,
                    list(finals),
                    [figures[system][merit]["mean"] for figures in finals.values()],
                    "o",
                )
                for system in systems
            ],
            varied,
            AXES[merit],
            ylim=LIMITS.get(merit),
        )
        for merit in merits
    ]
    save_grid(report.picture(name), [panels])
    report.keep(name, finals)
    return {str(value): figures for value, figures in finals.items()}
