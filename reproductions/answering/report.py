"""What a reproduction leaves behind: tables on the terminal, pictures, and results.json.

For every figure it prints a sentence that says what is seen, beside what the paper states (`says`).
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import shutil
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from reproductions.answering import kept
from reproductions.answering.experiment import SEED
from reproductions.answering.histogram import add_data_arguments

REPRODUCTIONS = Path(__file__).resolve().parents[1]
BUILD = REPRODUCTIONS.parent / "build" / "reproductions"


@dataclass(slots=True)
class Report:
    """Collects results figure by figure."""

    folder: Path
    quick: bool
    seed: int
    workers: int
    home: Path | None = None  # the folder of the paper, when the run is to be kept there
    options: str = ""  # of the run, as they are kept
    results: dict[str, Any] = field(default_factory=dict)
    _figures: dict[str, kept.Figure] = field(default_factory=dict)
    _tables: dict[str, str] = field(default_factory=dict)  # not yet of a figure
    _pictures: list[Path] = field(default_factory=list)

    def table(self, title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Print a table, numbers with four digits."""
        text = [list(header), *([_shown(cell) for cell in row] for row in rows)]
        widths = [max(len(line[column]) for line in text) for column in range(len(header))]
        print(f"\n{title}")
        for number, line in enumerate(text):
            print("  " + "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)))
            if number == 0:
                print("  " + "  ".join("-" * width for width in widths))
        self._tables[title] = kept.markdown(text[0], text[1:])

    def says(self, figure: str, paper: str, here: str) -> None:
        """Print what a figure shows, beside what the paper states; tables before it go along."""
        if paper:
            print(f"\n{figure}, the paper: {paper}", end="")
        print(f"\n{figure}, here: {here}", flush=True)
        self._figures[figure] = kept.Figure(paper, here, self.options, self._tables)
        self._tables = {}
        self._keep_at_home()

    def picture(self, name: str) -> Path:
        """Where to put a picture."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{name}.png"
        self._pictures.append(path)
        return path

    def keep(self, name: str, result: object) -> None:
        """Add to results.json."""
        self.results[name] = _plain(result)

    def write(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.results, indent=1, allow_nan=False)
        (self.folder / "results.json").write_text(text + "\n", "utf-8")
        self._keep_at_home()
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        seconds = sum(each.ru_utime + each.ru_stime for each in used)
        print(f"\nAll of it took {seconds:,.0f} processor seconds.")

    def _keep_at_home(self) -> None:
        """Keep what there is so far, so that a long run that is stopped is not lost."""
        if self.home is None:
            return
        kept.keep(self.home, self._figures)
        for path in self._pictures:
            if path.exists():
                shutil.copy(path, self.home / "plots" / path.name)


def command_line(
    paper: str,
    figures: Sequence[str],
    argv: Sequence[str] | None,
    *,
    seed: int = SEED,
    data_arguments: Callable[[argparse.ArgumentParser], None] = add_data_arguments,
) -> tuple[argparse.Namespace, Report]:
    """The options that all reproductions share."""
    parser = argparse.ArgumentParser(description=f"Reproduces the experiments of {paper}.")
    parser.add_argument("--quick", action="store_true", help="smaller settings, seconds each")
    data_arguments(parser)
    parser.add_argument(
        "--out", type=Path, default=BUILD / paper.lower(), help="folder to write to"
    )
    parser.add_argument("--figures", nargs="+", choices=figures, default=list(figures))
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--workers", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument(
        "--keep", action="store_true", help="write pictures, tables and the README's table here"
    )
    chosen = parser.parse_args(argv)
    if chosen.keep and (chosen.quick or chosen.data is not None):
        parser.error("--keep is for full runs on the tables of this repository")
    home = REPRODUCTIONS / paper.lower() if chosen.keep else None
    options = f"--figures {' '.join(chosen.figures)} --seed {chosen.seed}"
    report = Report(chosen.out, chosen.quick, chosen.seed, chosen.workers, home, options)
    print(f"{paper}: seed {chosen.seed}; pictures and results.json in {chosen.out}")
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
