"""What a reproduction leaves behind: tables on the terminal, pictures, and results.json."""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.answering.experiment import SEED
from reproductions.answering.histogram import add_data_arguments

BUILD = Path(__file__).resolve().parents[2] / "build" / "reproductions"


@dataclass(slots=True)
class Report:
    """Collects results figure by figure."""

    folder: Path
    quick: bool
    seed: int
    workers: int
    results: dict[str, Any] = field(default_factory=dict)

    def table(self, title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Print a table, numbers with four digits."""
        text = [list(header), *([_shown(cell) for cell in row] for row in rows)]
        widths = [max(len(line[column]) for line in text) for column in range(len(header))]
        print(f"\n{title}")
        for number, line in enumerate(text):
            print("  " + "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)))
            if number == 0:
                print("  " + "  ".join("-" * width for width in widths))

    def picture(self, name: str) -> Path:
        """Where to put a picture."""
        self.folder.mkdir(parents=True, exist_ok=True)
        return self.folder / f"{name}.png"

    def keep(self, name: str, result: object) -> None:
        """Add to results.json."""
        self.results[name] = _plain(result)

    def write(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.results, indent=1, allow_nan=False)
        (self.folder / "results.json").write_text(text + "\n", "utf-8")


def command_line(
    paper: str, figures: Sequence[str], argv: Sequence[str] | None
) -> tuple[argparse.Namespace, Report]:
    """The options that both reproductions share."""
    parser = argparse.ArgumentParser(description=f"Reproduces the experiments of {paper}.")
    parser.add_argument("--quick", action="store_true", help="smaller settings, seconds each")
    add_data_arguments(parser)
    parser.add_argument(
        "--out", type=Path, default=BUILD / paper.lower(), help="folder to write to"
    )
    parser.add_argument("--figures", nargs="+", choices=figures, default=list(figures))
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    chosen = parser.parse_args(argv)
    report = Report(chosen.out, chosen.quick, chosen.seed, chosen.workers)
    report.keep(
        "setting",
        {
            "quick": chosen.quick,
            "seed": chosen.seed,
            "data": None if chosen.data is None else chosen.data.name,
            "python": platform.python_version(),
            "numpy": np.__version__,
        },
    )
    return chosen, report


def processor_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least processor time of several calls, which other programs disturb least."""
    least = math.inf
    for _ in range(repeats):
        started = time.process_time()
        work()
        least = min(least, time.process_time() - started)
    return least


def _shown(cell: object) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)


def _plain(value: object) -> object:
    """The value in JSON's types, numbers with six digits, NaN as null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(entry) for entry in value]
    if isinstance(value, (float, np.floating)):
        return float(f"{value:.6g}") if math.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value
