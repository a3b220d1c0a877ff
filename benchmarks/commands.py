"""Processor time of commands, as multiples of `python -c "import sqlite3, rich"` in the same run.

Each command runs in a process of its own, on a dataset after so many measurements: counts and sums
over boxes of six attributes, one of them with 5,000 values, and a grouped answer among every seven.
A table of 20,000 rows and the datasets are made first. Times are user and system time of the child,
the median of some rounds in which all commands and the yardstick take turns, after one round that
warms up (bytecode, Numba's cache, checkpoints).

Last, the first paid answer of a process against the second: the processor time of two calls of
`session.ask` in one process, after the session was opened.

    python benchmarks/commands.py [--measurements 0 28 200] [--rounds 3] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd

import eke
from eke.engine import CHECKPOINT_ENDING

# As for a user, whose second command finds bytecode, also where a shell does not want it kept.
KEEPING = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
YARDSTICK = [sys.executable, "-c", "import sqlite3, rich"]
# What any answer needs, and what a paid one needs besides: the least that a process can take.
# One thread of BLAS, as `eke ask` has it.
_ALONE = "import os; os.environ['OPENBLAS_NUM_THREADS'] = '1'; "
IMPORTS = {
    "import numpy, sqlglot": _ALONE + "import sqlite3, rich.console, numpy, sqlglot",
    "import numpy, duckdb": _ALONE + "import numpy, duckdb",
}
EKE = [sys.executable, "-c", "from eke.cli import main; main()"]
KNOWN = "SELECT COUNT(*) FROM people WHERE income BETWEEN 500 AND 2500"
ROWS = 20_000
DOMAIN = eke.Domain(
    income=eke.Integer(0, 4999),
    age=eke.Integer(0, 99),
    hours=eke.Integer(0, 98),
    education=eke.Categorical(*(f"level {n}" for n in range(16))),
    region=eke.Categorical(*(f"region {n}" for n in range(8))),
    married=eke.Boolean(),
)
IN_ONE_PROCESS = """
import json, sys, time, eke
marks = [time.process_time()]
session = eke.open(sys.argv[1])
marks.append(time.process_time())
for low in (700, 900):
    answer = session.ask(f"SELECT COUNT(*) FROM people WHERE income BETWEEN {low} AND 4321", 3.0)
    assert answer.cost > 0
    marks.append(time.process_time())
print(json.dumps([after - before for before, after in zip(marks, marks[1:])]))
"""
Times: TypeAlias = dict[str, list[float]]


# -- datasets ----------------------------------------------------------------------------------


def people() -> pd.DataFrame:
    """A table that is the same each time."""
    draw = np.random.default_rng(11)
    return pd.DataFrame(
        {
            "income": draw.integers(0, 5000, ROWS),
            "age": draw.integers(0, 100, ROWS),
            "hours": draw.integers(0, 99, ROWS),
            "education": [f"level {n}" for n in draw.integers(0, 16, ROWS)],
            "region": [f"region {n}" for n in draw.integers(0, 8, ROWS)],
            "married": draw.random(ROWS) < 0.5,
        }
    )


def question(number: int) -> str:
    """The SQL of one measurement; different numbers ask different things."""
    draw = np.random.default_rng(number)
    low, high = sorted(draw.integers(0, 5000, 2).tolist())
    young, old = sorted(draw.integers(0, 100, 2).tolist())
    shapes = (
        ("COUNT(*)", f"income BETWEEN {low} AND {high}"),
        ("COUNT(*)", f"age BETWEEN {young} AND {old} AND married"),
        ("SUM(income)", f"age <= {old}"),
        ("region, COUNT(*)", f"income >= {low} GROUP BY region"),
        ("COUNT(*)", f"hours > {young % 98} AND education = 'level {number % 16}'"),
        ("SUM(age)", f"income <= {high} AND region = 'region {number % 8}'"),
        ("COUNT(*)", f"income BETWEEN {low} AND {high} AND hours < {old + 1}"),
    )
    columns, condition = shapes[number % len(shapes)]
    return f"SELECT {columns} FROM people WHERE {condition}"  # noqa: S608 - eke reads it


def datasets(folder: Path, sizes: list[int]) -> dict[int, Path]:
    """A copy of one dataset at each number of measurements; from 1 on it has answered `KNOWN`."""
    table = folder / "people.parquet"
    people().to_parquet(table)
    session = eke.create(folder / "people.eke", table, DOMAIN, epsilon=1e6)
    found, asked = {}, 0
    for size in sorted(sizes):
        while len(session.history) < size:
            within = 40.0 if asked == 0 else 400_000.0 if "SUM" in question(asked) else 150.0
            session.ask(KNOWN if asked == 0 else question(asked), within, policy="direct")
            asked += 1
        found[size] = copied(folder / "people.eke", folder / f"after-{size}.eke")
    return found


def copied(path: Path, other: Path) -> Path:
    """A dataset under another name, with its checkpoint if there is one."""
    shutil.copy(path, other)
    if beside(path).exists():
        shutil.copy(beside(path), beside(other))
    return other


def beside(path: Path) -> Path:
    """Where the checkpoint of a dataset is."""
    return path.with_name(path.name + CHECKPOINT_ENDING)


# -- measuring ---------------------------------------------------------------------------------


def processor_seconds(command: list[str]) -> tuple[float, str]:
    """(user and system time of a child that ran to its end, what it printed)."""
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=KEEPING)
    assert child.stdout is not None
    printed = child.stdout.read()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert child.returncode == 0, command
    return usage.ru_utime + usage.ru_stime, printed


def commands(path: Path, *, answered: bool) -> dict[str, list[str]]:
    """What is run on one dataset, by its name in the table."""
    found = {
        "budget": ["budget", str(path)],
        "history": ["history", str(path)],
        "history -n 3": ["history", str(path), "-n", "3"],
    }
    if answered:
        found["ask, free"] = ["ask", str(path), KNOWN, "--within", "60"]
    return found


def measure(places: dict[int, Path], rounds: int) -> Times:
    """Processor times by command and dataset; the first round is thrown away."""
    found: Times = {}
    for turn in range(rounds + 1):
        row: dict[str, float] = {}
        row["yardstick"] = statistics.median(processor_seconds(YARDSTICK)[0] for _ in range(5))
        for name, statement in IMPORTS.items():
            row[name] = processor_seconds([sys.executable, "-c", statement])[0]
        row["--help"] = processor_seconds([*EKE, "--help"])[0]
        for size, path in places.items():
            for name, arguments in commands(path, answered=size > 0).items():
                row[f"{name} after {size}"] = processor_seconds([*EKE, *arguments])[0]
            with tempfile.TemporaryDirectory() as folder:
                own = copied(path, Path(folder) / "own.eke")
                asking = [sys.executable, "-c", IN_ONE_PROCESS, str(own)]
                opening, first, second = json.loads(processor_seconds(asking)[1])
                row[f"eke.open after {size}"] = opening
                row[f"first paid answer after {size}"] = first
                row[f"second paid answer after {size}"] = second
        for name, seconds in row.items():
            if turn:
                found.setdefault(name, []).append(seconds)
    return found


def main() -> None:
    """Print the table, or the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measurements", type=int, nargs="+", default=[0, 28, 200])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        times = measure(datasets(Path(folder), options.measurements), options.rounds)
    middle = {name: statistics.median(each) for name, each in times.items()}
    yardstick = middle["yardstick"]
    if options.json:
        print(json.dumps({name: {"s": s, "x": s / yardstick} for name, s in middle.items()}))
        return
    print(f"{'':34}{'ms':>9}{'x':>9}")
    for name, seconds in middle.items():
        print(f"{name:34}{1000 * seconds:9.0f}{seconds / yardstick:9.1f}")
    for size in options.measurements:
        first, second = (middle[f"{n} paid answer after {size}"] for n in ("first", "second"))
        print(f"first / second paid answer after {size}: {first / second:.1f}")


if __name__ == "__main__":
    main()
