"""How long tables of many rows take: all two-way marginals of nine attributes, engine by engine.

Nine skewed attributes, 1.3·10¹¹ cells. Each engine opens the same rows (coded and counted by the
engine, only counts collected), then eke sums all 36 marginals. Printed: seconds to open and to sum,
ratios to DuckDB and to the smaller table of the same run, and peak memory of eke's own process and
of the engine beside it (DuckDB works inside eke's process).

    python benchmarks/scale.py [--rows 1000000 10000000] [--engines duckdb postgresql spark]
                               [--folder /var/tmp] [--out scale.json]

PostgreSQL needs the server's programs, Spark needs Java; both are started here.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import eke  # noqa: E402
from eke.data import PostgreSQLTable, SparkTable, open_source  # noqa: E402
from tests.postgresql_server import running_server  # noqa: E402
from tests.spark_session import running_spark  # noqa: E402

NINE = (79, 2, 17, 51, 9, 7, 6, 50, 50)
SKEW = 6
SPARK = {
    "spark.master": "local[2]",
    "spark.driver.memory": "4g",
    "spark.driver.maxResultSize": "4g",
    "spark.sql.codegen.wholeStage": "true",
    "spark.sql.codegen.factoryMode": "FALLBACK",
    "spark.driver.extraJavaOptions": "",
    "spark.sql.shuffle.partitions": "8",
}
SETTLE_SECONDS = 0.05


def domain() -> eke.Domain:
    """Nine integer attributes."""
    return eke.Domain({f"x{i}": eke.Integer(0, size - 1) for i, size in enumerate(NINE)})


def write_rows(folder: Path, rows: int) -> Path:
    """A Parquet file of skewed values, the same in every run."""
    path = folder / f"rows-{rows}.parquet"
    columns = ", ".join(
        f"CAST(floor({size} * pow(random(), {SKEW})) AS INTEGER) AS x{i}"
        for i, size in enumerate(NINE)
    )
    with duckdb.connect() as connection:
        connection.execute("SET threads = 1")
        connection.execute("SELECT setseed(0.5)")
        connection.execute(f"COPY (SELECT {columns} FROM range({rows})) TO '{path}'")  # noqa: S608
    return path


def fill(address: str, path: Path, rows: int) -> None:
    """Copy a Parquet file into a table of PostgreSQL."""
    import psycopg  # noqa: PLC0415 -- only if PostgreSQL is asked for

    columns = ", ".join(f"x{i} integer" for i in range(len(NINE)))
    text = path.with_suffix(".csv")
    with duckdb.connect() as source:
        source.execute(f"COPY (FROM read_parquet('{path}')) TO '{text}' (HEADER false)")
    with psycopg.connect(address) as connection, text.open("rb") as lines:
        connection.execute(f"CREATE TABLE rows_{rows} ({columns})".encode())
        into = f"COPY rows_{rows} FROM STDIN (FORMAT CSV)".encode()
        with connection.cursor().copy(into) as copy:
            while block := lines.read(2**20):
                copy.write(block)
    text.unlink()
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"VACUUM ANALYZE rows_{rows}".encode())


@contextmanager
def peak_of_children(programs: tuple[str, ...]) -> Iterator[Callable[[], int]]:
    """The largest sum, so far, of the anonymous memory of some programs of this user's tree."""
    peak, done = [0], threading.Event()

    def watch() -> None:
        while not done.wait(SETTLE_SECONDS):
            peak[0] = max(peak[0], sum(map(_anonymous, _running(programs))))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield lambda: peak[0]
    finally:
        done.set()
        thread.join()


def _running(programs: tuple[str, ...]) -> list[Path]:
    """The processes of some names that were started from here, and their children."""
    mine = os.environ.get("EKE_BENCHMARK", "")
    named, parents = {}, set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if (process / "comm").read_text().strip() not in programs:
                continue
            named[process] = (process / "stat").read_text().rsplit(")", 1)[1].split()[1]
            if mine in (process / "environ").read_text(errors="replace"):
                parents.add(process.name)
        except OSError:
            continue
    return [p for p, parent in named.items() if p.name in parents or parent in parents]


def _anonymous(process: Path) -> int:
    try:
        lines = (process / "status").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon"))


def measure(engine: str, data: Any) -> dict[str, Any]:
    """Seconds and megabytes of one engine on one table, in this fresh process."""
    names = domain().names
    programs = {"postgresql": ("postgres",), "spark": ("java",)}.get(engine, ())
    with peak_of_children(programs) as beside:
        begun = time.perf_counter()
        source = open_source(data, domain())
        opened = time.perf_counter()
        tables = source.counts(list(combinations(names, 2)))
        summed = time.perf_counter()
    return {
        "open_seconds": opened - begun,
        "sum_seconds": summed - opened,
        "eke_megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "engine_megabytes": beside() / 1024,
        "cells": len(source.load().counts),
        "rows": tables[0].total,
        "digest": source.load().sha256(),
    }


def run_one(engine: str, where: str, rows: int) -> dict[str, Any]:
    """The figures of an engine, warmed up by a table of a few rows."""
    if engine == "postgresql":
        return measure(engine, PostgreSQLTable(where, f"public.rows_{rows}"))
    if engine == "duckdb":
        return measure(engine, Path(where))
    with tempfile.TemporaryDirectory() as folder, running_spark(Path(folder), **SPARK):
        small = write_rows(Path(folder), 1000)
        open_source(SparkTable(parquet=str(small)), domain())  # the JVM is warm from here on
        return measure(engine, SparkTable(parquet=where))


def in_a_fresh_process(engine: str, where: str, rows: int) -> dict[str, Any]:
    """The same, where nobody else has used memory before."""
    command = [sys.executable, __file__, "--one", engine, where, str(rows)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return figures


def show(results: list[dict[str, Any]]) -> None:
    """Print the figures as a table."""
    titles = ("engine", "rows", "cells", "open s", "x DuckDB", "x fewer rows", "36 sums s")
    print("  ".join(f"{title:>12}" for title in (*titles, "eke MB", "engine MB")))
    for one in results:
        figures = (
            one["engine"],
            f"{one['rows']:,}",
            f"{one['cells']:,}",
            f"{one['open_seconds']:.1f}",
            f"{one['ratio']:.1f}",
            f"{one['growth']:.1f}" if one["growth"] else "-",
            f"{one['sum_seconds']:.2f}",
            f"{one['eke_megabytes']:.0f}",
            f"{one['engine_megabytes']:.0f}",
        )
        print("  ".join(f"{figure:>12}" for figure in figures))


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--engines", nargs="+", default=["duckdb", "postgresql", "spark"])
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        engine, where, rows = options.one
        print(json.dumps(run_one(engine, where, int(rows))))
        return
    os.environ["EKE_BENCHMARK"] = f"eke-scale-{os.getpid()}"
    wants_server = "postgresql" in options.engines
    results: list[dict[str, Any]] = []
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        running_server(options.folder or Path(tempfile.gettempdir()))
        if wants_server
        else nullcontext() as server,
    ):
        for rows in sorted(options.rows):
            path = write_rows(Path(folder), rows)
            if server is not None:
                fill(server.address(), path, rows)
            for engine in options.engines:
                where = server.address() if server and engine == "postgresql" else str(path)
                figures = {"engine": engine, **in_a_fresh_process(engine, where, rows)}
                same = [r for r in results if r["rows"] == figures["rows"]]
                fewer = [r for r in results if r["engine"] == engine]
                assert all(r["digest"] == figures["digest"] for r in same), "engines disagree"
                first = same[0] if same else figures
                figures["ratio"] = figures["open_seconds"] / first["open_seconds"]
                figures["growth"] = (
                    figures["open_seconds"] / fewer[-1]["open_seconds"] if fewer else None
                )
                results.append(figures)
    show(results)
    if options.out is not None:
        options.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
