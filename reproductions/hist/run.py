"""Reproduces HIST Fig. 2 to 7; see README.md in this folder."""

from __future__ import annotations

import argparse
import os
import platform
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from reproductions.answering.experiment import SEED
from reproductions.answering.report import BUILD, Report
from reproductions.hist.accuracy import figure_2, figure_3, figure_4
from reproductions.hist.publishing import figure_5, figures_6_and_7


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    """Run the figures asked for; their results by figure."""
    draw: dict[str, Callable[[Report], dict[str, Any]]] = {
        "2": figure_2,
        "3": figure_3,
        "4": figure_4,
        "5": figure_5,
        "6": figures_6_and_7,
    }
    parser = argparse.ArgumentParser(description="Reproduces the experiments of HIST.")
    parser.add_argument("--quick", action="store_true", help="smaller settings, seconds each")
    parser.add_argument("--out", type=Path, default=BUILD / "hist", help="folder to write to")
    parser.add_argument(
        "--figures", nargs="+", choices=list(draw), default=list(draw), help="6 draws 7 as well"
    )
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--workers", type=int, default=min(4, os.cpu_count() or 1), help="processes side by side"
    )
    arguments = parser.parse_args(argv)
    report = Report(arguments.out, arguments.quick, arguments.seed, arguments.workers)
    setting = {"quick": arguments.quick, "seed": arguments.seed}
    report.keep("setting", setting | {"python": platform.python_version(), "numpy": np.__version__})
    results = {figure: draw[figure](report) for figure in arguments.figures}
    report.write()
    return results


if __name__ == "__main__":
    main()
