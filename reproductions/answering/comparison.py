"""Figures that compare systems over the same questions, as both papers draw them.

A column for each histogram, a row for each figure of merit, a curve for each system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reproductions.answering.experiment import (
    Experiment,
    final_figures,
    perform_all,
    repeated,
)
from reproductions.answering.figure import Line, Panel, save_grid
from reproductions.answering.histogram import Histogram
from reproductions.answering.report import Report
from reproductions.answering.trace import Reals

MERITS = {
    "spent": "ᾱ",
    "answered": "R_a",
    "error": "E",
    "reliability": "R_i",
    "paid": "paid",
}
AXES = {
    "spent": r"system cost $\bar\alpha$",
    "answered": "answered $R_a$",
    "error": "relative error $E$",
    "reliability": "reliability $R_i$",
}
LIMITS = {"answered": (0.0, 1.05), "reliability": (0.5, 1.02)}
_KEPT_POINTS = 50


def compare(
    report: Report,
    histograms: Sequence[Histogram],
    experiment: Experiment,
    *,
    name: str,
    title: str,
    merits: Sequence[str],
    repetitions: int,
) -> dict[str, dict[str, Any]]:
    """Run, print, draw and keep one figure; the final figures of merit by histogram and system.

    The picture shows means of all repetitions with the least and largest as a band, the table means
    and standard deviations.
    """
    jobs = [
        run
        for number, histogram in enumerate(histograms)
        for run in repeated(
            replace(experiment, histogram=histogram, histogram_number=number), repetitions
        )
    ]
    done = perform_all(jobs, report.workers)
    asked = np.arange(1, experiment.queries + 1)
    summary: dict[str, dict[str, Any]] = {}
    columns: list[list[Panel]] = []
    kept: dict[str, Any] = {}
    for number, histogram in enumerate(histograms):
        runs = done[number * repetitions : (number + 1) * repetitions]
        summary[histogram.name] = final_figures(runs)
        report.table(
            f"{title}: {histogram.name} ({histogram.cells} cells), {experiment.queries} queries, "
            f"{repetitions} repetition(s)",
            ["system", *MERITS.values()],
            [
                [system, *(with_spread(figures[merit], repetitions) for merit in MERITS)]
                for system, figures in summary[histogram.name].items()
            ],
        )
        columns.append(
            [
                Panel(
                    [
                        _with_band(system, asked, [run[system][merit] for run in runs])
                        for system in runs[0]
                    ],
                    "queries",
                    AXES[merit],
                    histogram.name if merit == merits[0] else "",
                    ylim=LIMITS.get(merit),
                )
                for merit in merits
            ]
        )
        places = np.unique(np.linspace(0, len(asked) - 1, _KEPT_POINTS).round().astype(int))
        kept[histogram.name] = {
            "final": summary[histogram.name],
            "queries": asked[places],
            "curves": {
                system: {
                    merit: _mean([run[system][merit] for run in runs])[places] for merit in MERITS
                }
                for system in runs[0]
            },
        }
    save_grid(report.picture(name), list(zip(*columns, strict=True)))
    report.keep(name, kept)
    return summary


def _with_band(label: str, asked: NDArray[np.int64], curves: Sequence[Reals]) -> Line:
    """The mean over repetitions between the least and the largest."""
    if len(curves) == 1:
        return Line(label, asked, curves[0])
    low, high = np.min(curves, axis=0), np.max(curves, axis=0)
    return Line(label, asked, _mean(curves), low=low, high=high)


def _mean(curves: Sequence[Reals]) -> Reals:
    """The mean after each query, from where every repetition has answered something."""
    return np.asarray(np.mean(curves, axis=0))


def finals(
    summary: dict[str, dict[str, Any]], merit: str, systems: Sequence[str], form: str = "{:.2f}"
) -> str:
    """The means of a figure of merit after the last query, histogram by histogram, in words."""
    parts = []
    for histogram, figures in summary.items():
        values = (f"{form.format(figures[s][merit]['mean'])} ({s})" for s in systems)
        parts.append(f"{', '.join(values)} on {histogram}")
    return "; ".join(parts)


def with_spread(figure: dict[str, float], repetitions: int) -> str:
    """Mean ± standard deviation; the mean alone if there is one repetition."""
    text = f"{figure['mean']:.3f}"
    return f"{text} ± {figure['deviation']:.3f}" if repetitions > 1 else text
