"""ONLINE Fig. 6 to 10: allocation, inference, the bounded system and its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np

from reproductions.answering.comparison import AXES, LIMITS, MERITS, compare, finals, with_spread
from reproductions.answering.experiment import (
    Experiment,
    final_figures,
    perform_all,
    repeated,
)
from reproductions.answering.figure import Line, Panel, save_grid
from reproductions.answering.histogram import Histogram
from reproductions.answering.report import Report
from reproductions.answering.trace import Curves

BASELINE, PRODUCT = "improved baseline", "product (ONLINE)"
OURS = ("eke direct", "eke top_up")
SWEPT = ("answered", "error", "reliability")
SHOWN = (BASELINE, PRODUCT, "eke direct")
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
    summary = compare(
        report, histograms, experiment, name="figure6", title="Fig. 6, allocation",
        merits=("spent", "answered", "reliability"), repetitions=2 if report.quick else 5,
    )  # fmt: skip
    systems = experiment.systems
    report.says(
        "6",
        "dynamic allocation reaches the confidence with less budget than static allocation; R_a "
        "= 1",
        f"R_i at confidence 0.95: {finals(summary, 'reliability', systems, '{:.3f}')}. R_a: "
        f"{finals(summary, 'answered', systems)}. ᾱ: {finals(summary, 'spent', systems)}",
    )
    return summary


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
    summary = compare(
        report, histograms, experiment, name="figure7", title="Fig. 7, inference",
        merits=("spent", "error", "reliability"), repetitions=1 if report.quick else 2,
    )  # fmt: skip
    systems = experiment.systems
    report.says(
        "7",
        "inference lowers ᾱ and betters E and R_i; R_a = 1",
        f"ᾱ {finals(summary, 'spent', systems)}. E {finals(summary, 'error', systems)}. R_i "
        f"{finals(summary, 'reliability', systems)}",
    )
    return summary


def figure_8(report: Report, histograms: Sequence[Histogram]) -> dict[str, Any]:
    """The bounded system: budget 1, ε uniform in [1, 1000], δ = 0.2."""
    systems = (BASELINE, "least squares", PRODUCT, *OURS)
    summary = compare(
        report, histograms, replace(_bounded(report, histograms[0]), systems=systems),
        name="figure8", title="Fig. 8, bounded",
        merits=("answered", "error", "reliability"), repetitions=1 if report.quick else 3,
    )  # fmt: skip
    report.says(
        "8",
        "at budget 1 the baseline stops answering and inference goes on, with a better E than "
        "least squares",
        f"R_a {finals(summary, 'answered', SHOWN)}. E "
        f"{finals(summary, 'error', (*SHOWN, 'least squares'))}",
    )
    return summary


def figure_9(report: Report, histograms: Sequence[Histogram]) -> dict[str, Any]:
    """The impact of the budget; everything else as in Fig. 8."""
    # A quick look needs the ends only.
    budgets = (0.25, 4.0) if report.quick else (0.25, 0.5, 1.0, 2.0, 4.0)
    base = replace(_bounded(report, histograms[0]), queries=120 if report.quick else 1000)
    result = _sweep(
        report, histograms, {budget: replace(base, budget=budget) for budget in budgets},
        name="figure9", title="Fig. 9, budget", varied="overall budget",
    )  # fmt: skip
    report.says(
        "9",
        "R_a rises with the budget, E and R_i stay",
        f"for budgets {budgets[0]:g} to {budgets[-1]:g}, R_a on "
        f"{_ends(result, 'answered', SHOWN)}. E on "
        f"{_ends(result, 'error', SHOWN)}. R_i on {_ends(result, 'reliability', SHOWN)}",
    )
    return result


def figure_10(report: Report, histograms: Sequence[Histogram]) -> dict[str, Any]:
    """The impact of the accuracy asked for: ε uniform in [1, bound], budget 1."""
    bounds = (200.0, 1000.0) if report.quick else (200.0, 400.0, 600.0, 800.0, 1000.0)
    base = replace(_bounded(report, histograms[0]), queries=120 if report.quick else 1000)
    result = _sweep(
        report, histograms, {bound: replace(base, within=(1.0, bound)) for bound in bounds},
        name="figure10", title="Fig. 10, accuracy", varied="upper bound of ε",
    )  # fmt: skip
    report.says(
        "10",
        "R_a rises as the accuracy asked for is relaxed, E and R_i stay",
        f"for upper bounds {bounds[0]:g} to {bounds[-1]:g}, R_a on "
        f"{_ends(result, 'answered', SHOWN)}. E on {_ends(result, 'error', SHOWN)}. R_i on "
        f"{_ends(result, 'reliability', SHOWN)}",
    )
    return result


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
    histograms: Sequence[Histogram],
    settings: Mapping[float, Experiment],
    *,
    name: str,
    title: str,
    varied: str,
) -> dict[str, dict[str, Any]]:
    """Final figures of merit against one parameter: by histogram, then by parameter and system.

    One run says little here: a budget just large enough for an early, very accurate question may
    be spent on it and answer less in the end than a smaller one. So workloads are averaged, and the
    picture shows the least and the largest besides.
    """
    repetitions = 1 if report.quick else 3
    jobs = [
        run
        for number, histogram in enumerate(histograms)
        for experiment in settings.values()
        for run in repeated(
            replace(experiment, histogram=histogram, histogram_number=number), repetitions
        )
    ]
    done = iter(perform_all(jobs, report.workers))
    result: dict[str, dict[str, Any]] = {}
    columns = []
    for histogram in histograms:
        runs = {value: list(islice(done, repetitions)) for value in settings}
        by_value = {value: final_figures(each) for value, each in runs.items()}
        systems = list(next(iter(by_value.values())))
        for merit in SWEPT:
            report.table(
                f"{title}: {MERITS[merit]}, {histogram.name}, {repetitions} repetition(s)",
                [varied, *systems],
                [
                    [value, *(with_spread(figures[s][merit], repetitions) for s in systems)]
                    for value, figures in by_value.items()
                ],
            )
        columns.append(
            [
                Panel(
                    [_swept(system, merit, runs) for system in systems],
                    varied,
                    AXES[merit],
                    histogram.name if merit == SWEPT[0] else "",
                    ylim=LIMITS.get(merit),
                )
                for merit in SWEPT
            ]
        )
        result[histogram.name] = {str(value): figures for value, figures in by_value.items()}
    save_grid(report.picture(name), list(zip(*columns, strict=True)))
    report.keep(name, result)
    return result


def _swept(system: str, merit: str, runs: Mapping[float, Sequence[dict[str, Curves]]]) -> Line:
    """The mean over repetitions between the least and the largest, for each parameter."""
    last = np.array([[run[system][merit][-1] for run in each] for each in runs.values()])
    return Line(
        system, list(runs), last.mean(axis=1), "o", low=last.min(axis=1), high=last.max(axis=1)
    )


def _ends(result: dict[str, dict[str, Any]], merit: str, systems: Sequence[str]) -> str:
    """The means from the first to the last parameter, in words."""
    parts = []
    for histogram, by_value in result.items():
        rows = [
            " → ".join(f"{figures[system][merit]['mean']:.2f}" for figures in by_value.values())
            + f" ({system})"
            for system in systems
        ]
        parts.append(f"{histogram}: {'; '.join(rows)}")
    return ". ".join(parts)
