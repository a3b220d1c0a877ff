"""BAYES Fig. 9 and 10: the utility-driven answering system, without and with a bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from reproductions.answering.comparison import compare, finals
from reproductions.answering.experiment import Experiment
from reproductions.answering.histogram import Histogram
from reproductions.answering.report import Report

SYSTEMS = ("improved baseline", "BLUE (BAYES)", "least squares", "eke direct", "eke top_up")


def figure_9(report: Report, histograms: Sequence[Histogram]) -> dict[str, Any]:
    """No bound; a tree released with 0.3-DP as history; 2ε uniform in [50, 1000], δ = 0.2."""
    experiment = Experiment(
        histogram=histograms[0],
        within=(25.0, 500.0),
        delta=0.2,
        budget=math.inf,
        systems=SYSTEMS,
        scoring="bayes",
        queries=100 if report.quick else 1000,
        tree_epsilon=0.3,
        seed=report.seed,
    )
    summary = compare(
        report, histograms, experiment, name="figure9", title="Fig. 9, unbounded",
        merits=("spent", "error", "reliability"), repetitions=1 if report.quick else 3,
    )  # fmt: skip
    shown = ("improved baseline", "BLUE (BAYES)", "eke top_up")
    report.says(
        "9",
        "inference keeps ᾱ far below the baseline's, with better E and R_i",
        f"ᾱ {finals(summary, 'spent', shown)}. E {finals(summary, 'error', shown)}. R_i "
        f"{finals(summary, 'reliability', shown)}",
    )
    return summary


def figure_10(report: Report, histograms: Sequence[Histogram]) -> dict[str, Any]:
    """Budget 1, no history; 2ε uniform in [1, 1000], δ = 0.2."""
    experiment = Experiment(
        histogram=histograms[0],
        within=(0.5, 500.0),
        delta=0.2,
        budget=1.0,
        systems=SYSTEMS,
        scoring="bayes",
        queries=300 if report.quick else 1000,
        seed=report.seed,
    )
    summary = compare(
        report, histograms, experiment, name="figure10", title="Fig. 10, bounded",
        merits=("answered", "error", "reliability"), repetitions=1 if report.quick else 3,
    )  # fmt: skip
    shown = ("improved baseline", "BLUE (BAYES)", "eke direct", "eke top_up")
    report.says(
        "10",
        "the baseline stops answering after a while, inference goes on; E of least squares is "
        "larger",
        f"R_a {finals(summary, 'answered', shown)}. E "
        f"{finals(summary, 'error', ('BLUE (BAYES)', 'eke direct', 'least squares'))}",
    )
    return summary
