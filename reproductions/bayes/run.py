"""Reproduces BAYES Fig. 2, 3 and 5 to 10; see README.md in this folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread: processor time is then working time
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from reproductions.answering.histogram import chosen_histograms
from reproductions.answering.report import command_line
from reproductions.bayes.blue_time import figure_5
from reproductions.bayes.posterior_cost import figure_6, figure_7, figure_8
from reproductions.bayes.system_figures import figure_9, figure_10
from reproductions.bayes.worked_posterior import figures_2_and_3


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    """Run the figures asked for; their results by figure."""
    figures = ["2", "5", "6", "7", "8", "9", "10"]
    arguments, report = command_line("BAYES", figures, argv)
    histograms = chosen_histograms(arguments)
    draw: dict[str, Callable[[], dict[str, Any]]] = {
        "2": lambda: figures_2_and_3(report),
        "5": lambda: figure_5(report),
        "6": lambda: figure_6(report),
        "7": lambda: figure_7(report),
        "8": lambda: figure_8(report),
        "9": lambda: figure_9(report, histograms),
        "10": lambda: figure_10(report, histograms),
    }
    results = {figure: draw[figure]() for figure in figures if figure in arguments.figures}
    report.write()
    return results


if __name__ == "__main__":
    main()
