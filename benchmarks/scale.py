"""How long tables of many rows take: all two-way marginals of nine attributes, engine by engine.

Nine skewed attributes, 1.3·10¹¹ cells. Each engine opens the same rows and gives all 36 marginals;
with --collect marginals they are counted by the engine in one scan and nothing else is collected,
with --collect cells all non-empty cells are collected at opening and summed by eke. Printed:
seconds to open and to count, processor seconds of eke and engine together (whatever else the
machine does), these as a multiple of DuckDB's and of the next smaller table's of the same run,
cells collected, and peak memory of eke's own process and of the engine beside it (DuckDB works
inside eke's process). The counts of all engines are compared.

    python benchmarks/scale.py [--rows 1000000 10000000] [--engines duckdb postgresql spark]
                               [--collect marginals] [--limit 3600] [--folder /var/tmp]
                               [--out scale.json]

PostgreSQL needs the server's programs, Spark needs Java; both are started here. A case that takes
longer than the limit is given up, and said so. 10⁸ rows take 0.6 GB as Parquet, 7 GB in PostgreSQL.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import combinations, product
from pathlib import Path
from typing import Any

import duckdb

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import eke  # noqa: E402
from eke.data import ParquetFile, PostgreSQLTable, SparkTable, open_source  # noqa: E402
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
        f"CAST(floor({size} * pow(hash(range * {len(NINE)} + {i}) / 18446744073709551616.0, "
        f"{SKEW})) AS INTEGER) AS x{i}"
        for i, size in enumerate(NINE)
    )
    with duckdb.connect() as connection:
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
        connection.execute(f"CREATE UNLOGGED TABLE rows_{rows} ({columns})".encode())
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


def peak_of_this_process() -> int:
    """The most memory that this program has held, in KiB; ru_maxrss would begin at the parent's."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def processor_seconds(programs: tuple[str, ...]) -> float:
    """Processor time that this process and the engine beside it have used so far."""
    total = time.process_time()
    for process in _running(programs):
        try:
            fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        # Those that have ended are counted by their parents: user, system, and both of children.
        total += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return total


def measure(engine: str, data: Any) -> dict[str, Any]:
    """Seconds and megabytes of one engine on one table, in this fresh process."""
    names = domain().names
    programs = {"postgresql": ("postgres",), "spark": ("java",)}.get(engine, ())
    with peak_of_children(programs) as beside:
        used = processor_seconds(programs)
        begun = time.perf_counter()
        source = open_source(data, domain())
        opened = time.perf_counter()
        tables = source.counts(list(combinations(names, 2)))
        counted = time.perf_counter()
    digest = hashlib.sha256()
    for table in tables:
        digest.update(table.codes.tobytes() + table.counts.tobytes())
    return {
        "processor_seconds": processor_seconds(programs) - used,
        "open_seconds": opened - begun,
        "count_seconds": counted - opened,
        "eke_megabytes": peak_of_this_process() / 1024,
        "engine_megabytes": beside() / 1024,
        "cells": source.held_cells,
        "rows": tables[0].total,
        "digest": digest.hexdigest(),
    }


def run_one(engine: str, where: str, rows: int, collect: Any) -> dict[str, Any]:
    """The figures of an engine; Spark is warmed up by a table of a few rows."""
    if engine == "postgresql":
        return measure(engine, PostgreSQLTable(where, f"public.rows_{rows}", collect))
    if engine == "duckdb":
        return measure(engine, ParquetFile(where, collect))
    with tempfile.TemporaryDirectory() as folder, running_spark(Path(folder), **SPARK):
        small = SparkTable(parquet=str(write_rows(Path(folder), 1000)), collect=collect)
        measure(engine, small)  # the JVM is warm from here on
        return measure(engine, SparkTable(parquet=where, collect=collect))


def in_a_fresh_process(
    engine: str, where: str, rows: int, collect: str, limit: float
) -> dict[str, Any] | None:
    """The same, where nobody else has used memory before; None if it takes longer than allowed."""
    command = [sys.executable, __file__, "--one", engine, where, str(rows), collect]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        try:
            said, _ = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return None
    if process.returncode:
        raise SystemExit(f"{engine} failed on {rows} rows")
    figures: dict[str, Any] = json.loads(said.splitlines()[-1])
    return figures


TITLES = (
    "engine",
    "collect",
    "rows",
    "open s",
    "count s",
    "processor s",
    "x DuckDB",
    "x fewer rows",
    "cells",
)


def show_titles() -> None:
    """Print the head of the table."""
    print("  ".join(f"{title:>12}" for title in (*TITLES, "eke MB", "engine MB")), flush=True)


def show(one: dict[str, Any]) -> None:
    """Print the figures of one case."""
    figures = (
        one["engine"],
        one["collect"],
        f"{one['rows']:,}",
        f"{one['open_seconds']:.1f}",
        f"{one['count_seconds']:.1f}",
        f"{one['processor_seconds']:.1f}",
        f"{one['ratio']:.1f}" if one["ratio"] else "-",
        f"{one['growth']:.1f}" if one["growth"] else "-",
        f"{one['cells']:,}",
        f"{one['eke_megabytes']:.0f}",
        f"{one['engine_megabytes']:.0f}",
    )
    print("  ".join(f"{figure:>12}" for figure in figures), flush=True)


def compare(figures: dict[str, Any], results: list[dict[str, Any]]) -> None:
    """Add the ratios to what was measured before; all engines must have counted the same."""
    same = [r for r in results if r["rows"] == figures["rows"]]
    assert all(r["digest"] == figures["digest"] for r in same), "engines disagree"
    alike = [r for r in results if r["collect"] == figures["collect"]]
    first = [
        r for r in (*alike, figures) if (r["engine"], r["rows"]) == ("duckdb", figures["rows"])
    ]
    fewer = [r for r in alike if r["engine"] == figures["engine"]]
    for name, others in (("ratio", first[-1:]), ("growth", fewer[-1:])):
        figures[name] = None
        for other in others:
            figures[name] = figures["processor_seconds"] / other["processor_seconds"]


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--engines", nargs="+", default=["duckdb", "postgresql", "spark"])
    parser.add_argument("--collect", nargs="+", default=["marginals"])
    parser.add_argument("--limit", type=float, default=3600, help="seconds for one case")
    parser.add_argument("--folder", type=Path, default=None)
    parser.add_argument("--out", type=Path, default=None)
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        engine, where, rows, collect = options.one
        print(json.dumps(run_one(engine, where, int(rows), collect)))
        return
    os.environ["EKE_BENCHMARK"] = f"eke-scale-{os.getpid()}"
    wants_server = "postgresql" in options.engines
    results: list[dict[str, Any]] = []
    show_titles()
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as folder,
        running_server(options.folder or Path(tempfile.gettempdir()))
        if wants_server
        else nullcontext() as server,
    ):
        for rows, collect in product(sorted(options.rows), options.collect):
            path = Path(folder) / f"rows-{rows}.parquet"
            if not path.exists():
                write_rows(Path(folder), rows)
                if server is not None:
                    fill(server.address(), path, rows)
            for engine in options.engines:
                where = server.address() if server and engine == "postgresql" else str(path)
                found = in_a_fresh_process(engine, where, rows, collect, options.limit)
                if found is None:
                    print(f"{engine} {collect} {rows:,}: given up after {options.limit:.0f} s")
                    continue
                figures = {"engine": engine, "collect": collect, **found}
                compare(figures, results)
                results.append(figures)
                show(figures)
    if options.out is not None:
        options.out.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
