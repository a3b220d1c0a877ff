"""Reproduces CUBE Fig. 4 to 6, Table 1, Theorems 2.2 and B.1(2); see README.md in this folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")  # one thread: processor time is then working time
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from reproductions.answering.report import command_line
from reproductions.cube.bounds import table_1, theorem_b1
from reproductions.cube.calibration import theorem_2_2
from reproductions.cube.figures import accuracy, fourier_weights, running_time
from reproductions.cube.findings import say_figure_4, say_figure_5, say_figure_6
from reproductions.cube.tables import (
    add_table_arguments,
    adult_eight,
    binary_attributes,
    read_table,
)

WORKLOADS = ("Q1", "Q*1", "Qa1", "Q2", "Q*2", "Qa2")
SEED = 20130408


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    """Run the figures asked for; their results by figure."""
    figures = ["4", "5", "6", "table1", "theorem22"]
    chosen, report = command_line(
        "CUBE", figures, argv, seed=SEED, data_arguments=add_table_arguments
    )
    workloads = WORKLOADS[:3] if chosen.quick else WORKLOADS
    results: dict[str, Any] = {}
    if "4" in chosen.figures:
        adult = adult_eight()
        results["4"] = accuracy(report, adult, workloads, "4")
        results["fourier"] = fourier_weights(
            report, adult, workloads[1:2] if chosen.quick else workloads
        )
        say_figure_4(report, results["4"], results["fourier"])
    if {"5", "6"} & set(chosen.figures):
        width = 8 if chosen.quick else 16
        table = binary_attributes(width, np.random.default_rng(chosen.seed))
        if chosen.data is not None:
            columns = [name.strip() for name in chosen.columns.split(",") if name.strip()]
            table = read_table(chosen.data, columns)
        results["5"] = accuracy(report, table, workloads[:2] if chosen.quick else workloads, "5")
        say_figure_5(report, results["5"])
        results["6"] = running_time(report, results["5"])
        say_figure_6(report, results["6"])
    if "table1" in chosen.figures:
        results["table1"] = table_1(report)
        results["theorem_b1"] = theorem_b1(report)
    if "theorem22" in chosen.figures:
        results["theorem22"] = theorem_2_2(report)
    report.write()
    return results


if __name__ == "__main__":
    main()
