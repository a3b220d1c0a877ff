"""Reproduces COMP Fig. 1 to 4; see README.md in this folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from reproductions.answering.report import command_line
from reproductions.comp.adult import chosen_records
from reproductions.comp.height_weight import figure_1
from reproductions.comp.lda_figures import figures_3_and_4
from reproductions.comp.pca_figures import figure_2
from reproductions.comp.records import add_record_arguments
from reproductions.comp.sampler import sampler_table


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    """Run the figures asked for; their results by figure."""
    figures = ["1", "2", "sampler", "3"]
    arguments, report = command_line("COMP", figures, argv, data_arguments=add_record_arguments)
    records = chosen_records(arguments)
    draw: dict[str, Callable[[], dict[str, Any]]] = {
        "1": lambda: figure_1(report),
        "2": lambda: figure_2(report, records),
        "sampler": lambda: sampler_table(report, records),
        "3": lambda: figures_3_and_4(report, records),  # both come from the same releases
    }
    results = {figure: draw[figure]() for figure in figures if figure in arguments.figures}
    report.write()
    return results


if __name__ == "__main__":
    main()
