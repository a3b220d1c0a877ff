"""What a column of very many numbers costs: time, memory and ledger against a narrow one.

A table of 50,000 rows, asked through `session.ask`, each width in a process of its own: with no
history and after some ranges, one after the other. Printed: processor seconds, by how much the peak
of memory grew while it was asked, bytes of the largest ledger entry, and seconds as a multiple of
those of the narrowest column of the same run.

    python benchmarks/wide_numbers.py [--values 10000 1000000 1000000000] [--history 0 50]
"""

from __future__ import annotations

import argparse
import json
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import eke

ROWS = 50_000
STEP = 0.01
QUESTIONS = {
    "AVG(x)": ("SELECT AVG(x) FROM t", 1 / 50),
    "SUM(x)": ("SELECT SUM(x) FROM t", ROWS / 50),
    "BETWEEN": ("SELECT COUNT(*) FROM t WHERE x BETWEEN {low} AND {high}", None),
    # Squares of more than 2^22 steps are too large to be added up, so x is cut off below.
    "STDDEV(x)": ("SELECT STDDEV(LEAST(x, 40000)) FROM t", 1 / 50),
    "AVG(x) by g": ("SELECT g, AVG(x) FROM t GROUP BY g", 1 / 10),
    "MEDIAN(x)": ("SELECT MEDIAN(x) FROM t", 1 / 500),
    "two of g = 1": (
        "SELECT QUANTILE_DISC(x, 0.25), QUANTILE_DISC(x, 0.75) FROM t WHERE g = 1",
        1 / 200,
    ),
}
_WITHIN = 500


def peak_mb() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def entry_bytes(path: Path) -> int:
    """The longest payload of a ledger."""
    with sqlite3.connect(path) as ledger:
        columns = [row[1] for row in ledger.execute("PRAGMA table_info(entry)")]
        lengths = (f"max(length({column}))" for column in columns)
        query = f"SELECT {', '.join(lengths)} FROM entry"  # noqa: S608
        return max(length or 0 for length in ledger.execute(query).fetchone())


def measured(values: int, history: int) -> dict[str, list[float]]:
    """(seconds, MB, bytes) of each question."""
    top = round((values - 1) * STEP, 2)
    rng = np.random.Generator(np.random.PCG64(1))
    codes = np.minimum(rng.lognormal(0, 1, ROWS) / 20, 1) * (values - 1)
    table = pd.DataFrame({"x": (codes.round() * STEP).round(2), "g": rng.integers(0, 5, ROWS)})
    domain = eke.Domain(x=eke.Numeric(0, top, step=STEP), g=eke.Integer(0, 4))
    costs = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "wide.eke"
        session = eke.create(path, table, domain, epsilon=1e6)
        session.ask(eke.count(), within=_WITHIN)
        for k in range(history):
            ends = (k / 2 / history, 0.4 + k / 2 / history)
            low, high = (round(top * share, 2) for share in ends)
            session.ask(eke.count(x=(low, high)), within=_WITHIN)
        for name, (text, share) in QUESTIONS.items():
            sql = text.format(low=round(top / 30, 2), high=round(top / 3, 2))
            before, began = peak_mb(), time.process_time()
            session.ask(sql, within=_WITHIN if share is None else top * share)
            seconds = time.process_time() - began
            costs[name] = [seconds, peak_mb() - before, entry_bytes(path)]
    return costs


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--values", type=int, nargs="+", default=[10_000, 10**6, 10**9])
    parser.add_argument("--history", type=int, nargs="+", default=[0, 50])
    parser.add_argument("--one", type=int, nargs=2, metavar=("VALUES", "HISTORY"))
    options = parser.parse_args()
    if options.one:
        json.dump(measured(*options.one), sys.stdout)
        return
    for history in options.history:
        narrow: dict[str, list[float]] = {}
        for values in options.values:
            command = [sys.executable, __file__, "--one", str(values), str(history)]
            child = subprocess.run(command, check=True, capture_output=True)
            costs = json.loads(child.stdout)
            narrow = narrow or costs
            for name, (seconds, memory, size) in costs.items():
                ratio = seconds / narrow[name][0]
                print(
                    f"{values:>13,} values, {history:>3} answers before, {name:<12}"
                    f"{seconds:7.2f} s ({ratio:5.1f}x) {memory:7.0f} MB {size:>12,.0f} bytes"
                )


if __name__ == "__main__":
    main()
