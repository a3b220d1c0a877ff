"""Published rows as files: how much memory and time they take, and how often progress is told.

Each line is a process of its own. It makes rows of six columns (codes drawn evenly, as rows are
held), and writes them in one of three ways: piece by piece as Parquet or as CSV, which is what
`published.to_parquet` and `published.to_csv` do, or as a whole pandas table. Memory is the peak of
what the process had resident, divided by what it had before it wrote; the pause is the longest one
between two tellings of progress.

    python benchmarks/row_files.py [--rows 1000000 10000000] [--ways parquet csv whole]
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
import pyarrow.parquet

import eke
from eke.publish.published import Published

WAYS = ("parquet", "csv", "whole")
LEAST = 1000
PAGE = resource.getpagesize()


def rows_of(number: int) -> Published:
    """Rows of six columns; of a day another one is derived."""
    domain = eke.Domain(
        age=eke.Integer(0, 99),
        sex=eke.Categorical("Female", "Male", null="bucket"),
        region=eke.Categorical(*(f"region {n}" for n in range(40))),
        hours=eke.Binned(range(0, 100, 5), null="bucket"),
        day=eke.Date("2013-01-01", "2013-12-31"),
        member=eke.Boolean(null="bucket"),
    ).with_derived(month="EXTRACT(MONTH FROM day)")
    draw = np.random.default_rng(0)
    codes = np.empty((number, len(domain)), np.int64)
    for column, size in enumerate(domain.shape):
        codes[:, column] = draw.integers(0, size, number, np.int64)
    return Published(domain, domain.names, codes, {})


def resident() -> int:
    """What the process has in memory now, in bytes."""
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * PAGE


def measure(way: str, number: int, folder: Path) -> tuple[float, float, float, float]:
    """(memory before in MB, peak in multiples of it, seconds, longest pause)."""
    few = rows_of(LEAST)  # whatever is loaded once is there before anything is measured
    few.to_parquet(folder / "few.parquet")
    few.to_csv(folder / "few.csv")
    few.to_pandas().to_parquet(folder / "few.parquet")
    published = rows_of(number)
    before, began = resident(), time.perf_counter()
    told = [began]

    def tell(_: str, __: float) -> None:
        told.append(time.perf_counter())

    if way == "whole":
        published.to_pandas().to_parquet(folder / "rows.parquet", index=False)
    elif way == "csv":
        published.to_csv(folder / "rows.csv", progress=tell)
    else:
        published.to_parquet(folder / "rows.parquet", progress=tell)
    told.append(time.perf_counter())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    pause = max(later - earlier for earlier, later in pairwise(told))
    return before / 1e6, peak / before, told[-1] - began, pause


def main() -> None:
    """Print a line for each number of rows and each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10**6, 10**7])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.inside:  # the process of one line
        with tempfile.TemporaryDirectory() as folder:
            found = measure(arguments.ways[0], arguments.rows[0], Path(folder))
        before, ratio, seconds, pause = found
        print(
            f"{arguments.rows[0]:>12,} {arguments.ways[0]:>8} {before:>10.0f} {ratio:>8.2f} "
            f"{seconds:>8.1f} {pause:>8.2f}"
        )
        return
    print(f"{'rows':>12} {'way':>8} {'before, MB':>10} {'peak':>8} {'seconds':>8} {'pause, s':>8}")
    for number in arguments.rows:
        for way in arguments.ways:
            words = ["--inside", "--rows", str(number), "--ways", way]
            subprocess.run([sys.executable, __file__, *words], check=True)


if __name__ == "__main__":
    assert pd.__version__  # loaded before anything is measured
    assert pyarrow.parquet.ParquetWriter
    main()
