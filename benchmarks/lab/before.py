"""This commit against another one: the same benchmarks, by turns in one run.

    python -m benchmarks.lab.before REVISION [--rounds 3] [NAME ...]

Each revision is checked out into a folder of its own. Of every figure the smallest of all rounds
counts, for whatever else the machine does only makes it larger. Printed: now divided by before.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
#: For each benchmark its options, and the figures that are compared (parts of their names).
COMPARED: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "inference": (("--sizes", "100", "1000"), ("append_ms", "answer_ms", "exact_ms")),
    "accounting": (("--questions", "400"), ("median_ms",)),
    "release": (("--questions", "300"), ("_seconds", "answer_ms")),
    "service": (("--measurements", "300", "--seconds", "4"), ("server_ms",)),
}
_UNSTEADY = ("worst", "_99")


def checked_out(revision: str, folder: Path) -> Path:
    """The files of a revision, with a link to the data."""
    place = folder / revision.replace("/", "-")
    command = ["git", "worktree", "add", "--detach", "--quiet", str(place), revision]
    subprocess.run(command, cwd=ROOT, check=True)
    return place


def figures(document: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of a document by their places in it."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from figures(value, f"{name}.{key}" if name else str(key))
    elif isinstance(document, list):
        for place, value in enumerate(document):
            yield from figures(value, f"{name}[{place}]")
    elif isinstance(document, (int, float)):
        yield name, float(document)


def measured(place: Path, name: str) -> dict[str, float]:
    """What one run of a benchmark gives, as far as it is compared."""
    options, wanted = COMPARED[name]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        says = subprocess.run(
            [
                *(sys.executable, str(place / f"benchmarks/{name}.py"), *options),
                *(() if name == "service" else ("--out", str(out))),
            ],
            cwd=place,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(place / "src"), str(place)])},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        text = out.read_text("utf-8") if out.exists() else says.strip().splitlines()[-1]
    return {
        name: value
        for name, value in figures(json.loads(text))
        if any(part in name for part in wanted) and not any(part in name for part in _UNSTEADY)
    }


def main() -> None:
    """Print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("revision")
    parser.add_argument("names", nargs="*", metavar="NAME", help="benchmarks (default: all four)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        before = checked_out(options.revision, Path(folder))
        try:
            for name in options.names or COMPARED:
                _compare(name, before, options.rounds)
        finally:
            command = ["git", "worktree", "remove", "--force", str(before)]
            subprocess.run(command, cwd=ROOT, check=True)


def _compare(name: str, before: Path, rounds: int) -> None:
    best: dict[Path, dict[str, float]] = {before: {}, ROOT: {}}
    for turn in range(rounds):
        for place in (before, ROOT) if turn % 2 else (ROOT, before):
            for figure, value in measured(place, name).items():
                best[place][figure] = min(value, best[place].get(figure, value))
    for figure, value in best[ROOT].items():
        if figure in best[before]:
            ratio = value / best[before][figure]
            print(f"{name:<12}{figure:<48}{value:10.3f}{ratio:8.2f}", flush=True)


if __name__ == "__main__":
    main()
