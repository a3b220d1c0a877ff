"""Reproduces HIST Fig. 2 to 7; see README.md in this folder."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from reproductions.answering.report import Report, command_line
from reproductions.hist.accuracy import figure_2, figure_3, figure_4
from reproductions.hist.publishing import figure_5, figures_6_and_7
from reproductions.hist.setting import choose_table


def add_table_arguments(parser: argparse.ArgumentParser) -> None:
    """Let the user name another table."""
    parser.add_argument(
        "--data", type=Path, help="a CSV file with a header, such as the paper's extract of IPUMS"
    )
    parser.add_argument(
        "--columns", default="", help="the columns to use, separated by commas; all if not given"
    )


def main(argv: Sequence[str] | None = None) -> dict[str, Any]:
    """Run the figures asked for (6 draws 7 as well); their results by figure."""
    draw: dict[str, Callable[[Report], dict[str, Any]]] = {
        "2": figure_2,
        "3": figure_3,
        "4": figure_4,
        "5": figure_5,
        "6": figures_6_and_7,
    }
    arguments, report = command_line("HIST", list(draw), argv, data_arguments=add_table_arguments)
    if arguments.data is not None:
        columns = [name.strip() for name in arguments.columns.split(",") if name.strip()]
        try:
            choose_table(arguments.data, columns)
        except (ValueError, OSError) as error:
            raise SystemExit(f"{arguments.data}: {error}") from None
    results = {figure: draw[figure](report) for figure in arguments.figures}
    report.write()
    return results


if __name__ == "__main__":
    main()
