"""Run the checks of the promise and print one table; `make audit` runs all of them in full.

    python audits/run.py [NAME ...] [--scale full|tiny] [--jobs 2] [--keep FOLDER]
                         [--write docs/security.md] [--as-kept]

Without names, every check is run; `--list` prints the names. Each runs in a process of its own, two
of them side by side, the longest first, and what measures time alone at the end. An audit that was
interrupted goes on with `--keep`: what passed on the same sources is not measured again. With
`--as-kept` nothing is measured: the table is of what is kept, each row with its commit. The exit
code is 0 when every row has passed and every control was caught.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What is audited is this checkout, whatever is installed.
sys.path[:0] = [str(ROOT / "src"), str(ROOT)]

from rich.console import Console  # noqa: E402 - after the path is set

from audits.board import commit, markdown, show, write  # noqa: E402
from audits.checks import CHECKS  # noqa: E402
from audits.kept import Kept  # noqa: E402
from audits.row import Check, Row, Scale, broken  # noqa: E402

MOST_SECONDS = 7200.0  # of one check; by then something hangs


def run_apart(check: Check, scale: Scale, console: Console) -> tuple[Row, ...]:
    """The rows of a check, run in a process of its own; whatever ends it early is a failure."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "rows.json"
        command = [sys.executable, __file__, check.name, "--scale", scale.name, "--into", str(out)]
        log = Path(folder) / "log"
        with log.open("wb") as sink:
            try:
                subprocess.run(
                    command,
                    cwd=ROOT,
                    env=_one_thread(),
                    stdout=sink,
                    stderr=subprocess.STDOUT,
                    check=True,
                    timeout=MOST_SECONDS,
                )
                documents = json.loads(out.read_text("utf-8"))
                rows = tuple(replace(Row(**one), commit=commit()) for one in documents)
            except (subprocess.SubprocessError, OSError, ValueError) as error:
                last = log.read_text("utf-8", "replace").strip().splitlines()[-1:]
                rows = (broken(check.name, (last or [type(error).__name__])[0]),)
            if any(row.verdict != "passed" for row in rows):
                said = log.read_text("utf-8", "replace")[-4000:]
                console.print(f"{check.name} says:\n{said}", markup=False, highlight=False)
    verdicts = ", ".join(row.verdict for row in rows)
    console.print(f"{check.name}: {verdicts} ({time.monotonic() - begun:.0f} s)", highlight=False)
    return rows


def run_all(
    checks: Sequence[Check], scale: Scale, jobs: int, kept: Kept, console: Console
) -> tuple[Row, ...]:
    """The rows of all checks in their own order, some of them measured side by side."""
    found: dict[str, tuple[Row, ...]] = {}

    def run(check: Check) -> None:
        before = kept.find(check, scale)
        found[check.name] = run_apart(check, scale, console) if before is None else before
        if before is None:
            kept.put(check, scale, found[check.name])

    longest_first = sorted(checks, key=lambda check: -check.minutes)
    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(run, (check for check in longest_first if not check.alone)))
    for check in longest_first:
        if check.alone:
            run(check)
    return tuple(row for check in checks for row in found[check.name])


def _one_thread() -> dict[str, str]:
    """The environment of a check: two run side by side, and BLAS would fight over the cores."""
    path = os.pathsep.join([*sys.path[:2], *filter(None, [os.environ.get("PYTHONPATH")])])
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(names, "1"), "MPLBACKEND": "Agg", "PYTHONPATH": path}


def main() -> None:
    """Run the checks that the command line names."""
    names = [check.name for check in CHECKS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="checks to run (default: all)")
    parser.add_argument("--scale", choices=["full", "tiny"], default="full")
    parser.add_argument("--jobs", type=int, default=2, help="checks side by side")
    parser.add_argument("--keep", type=Path, help="where results of these sources are kept")
    parser.add_argument("--write", type=Path, help="the page whose table is replaced")
    parser.add_argument("--as-kept", action="store_true", help="measure nothing")
    parser.add_argument("--list", action="store_true", help="print the names and stop")
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)  # the process of one check
    options = parser.parse_args()
    if options.list:
        print("\n".join(names))
        return
    unknown = set(options.names) - set(names)
    if unknown:
        raise SystemExit(
            f"no check is called {', '.join(sorted(unknown))}; --list prints the names"
        )
    chosen = [check for check in CHECKS if check.name in (options.names or names)]
    scale = Scale(options.scale)
    if options.into:
        documents = [row.to_document() for row in chosen[0].run(scale)]
        options.into.write_text(json.dumps(documents), "utf-8")
        return
    if options.write and len(chosen) < len(CHECKS):
        raise SystemExit("--write is for the whole scoreboard; leave the names out")
    console, kept = Console(), Kept(options.keep)
    missing: list[str] = []
    if options.as_kept:
        found = {check.name: kept.last(check, scale) for check in chosen}
        rows = tuple(row for each in found.values() for row in each)
        missing = [name for name, each in found.items() if not each]
    else:
        rows = run_all(chosen, scale, options.jobs, kept, console)
    show(rows, console)
    if options.write:
        write(options.write, markdown(rows, scale, missing))
    if missing or any(row.verdict != "passed" for row in rows):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
