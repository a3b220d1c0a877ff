"""Where the processor time of a question goes, from its text to its answer, by step.

Questions about random ranges of two of nine attributes (1.3·10¹¹ cells) are asked in SQL of one
session, all paid for; then each length of the history is looked at. Printed are medians of
processor time: of a paid question and its steps, each without those inside it, of a question that
is free and new and of one that is free again, and of appending a measurement to inference alone, in
the same run. What is printed as a ratio is a multiple of the latter.

Then the dataset is opened again in the same process, with its checkpoint and without it: until it
is open, until a question is answered from history, and until one is paid for. The ratio is to
reading every entry of the file, rows and texts, through SQLite; reading its bytes alone is printed,
too. `--command` asks by `eke ask`, in a process of its own. Last comes the peak of memory so far.

    python benchmarks/path.py [--sizes 100 300 1000] [--questions 15] [--command]
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
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import eke
from eke.engine import standing, vault
from eke.history import Row
from eke.inference import Inference
from eke.ledger import Book
from eke.privacy import accountant
from eke.privacy.law import Laplace
from eke.session.ask.answering import Answering
from eke.session.ask.question_store import QuestionStore
from eke.session.ask.request import Request

NINE = (79, 2, 17, 51, 9, 7, 6, 50, 50)
RECORDS = 100_000
DOMAIN = eke.Domain({f"a{i}": eke.Integer(0, size - 1) for i, size in enumerate(NINE)})
STEPS: dict[str, tuple[tuple[Any, str], ...]] = {
    "the text is read": ((QuestionStore, "read"),),
    "looked up in history": ((Answering, "_for_free"),),
    "planned": ((Answering, "_decide"),),
    "losses certified": ((accountant, "_certified"),),
    "reserved and committed": ((Book, "reserve"), (Book, "commit")),
    "entries taken in": ((standing.Standing, "take_in"),),
    "counted": ((vault, "counted_for_parts"),),
    "noise drawn and stored": ((vault, "measured_parts"),),
    "learned by inference": ((standing.Standing, "learn"),),
    "the answer is made": ((Request, "text"),),
    "the answer is read": ((Request, "answer"),),
}


class Watch:
    """The processor time of steps, each without those inside it."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}
        self._inside: list[float] = []

    def watched(self, step: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same work, whose time is taken."""

        def timed(*given: Any, **named: Any) -> Any:
            self._inside.append(0.0)
            began = time.process_time()
            try:
                return work(*given, **named)
            finally:
                whole = time.process_time() - began
                mine = whole - self._inside.pop()
                self.spent[step] = self.spent.get(step, 0.0) + mine
                if self._inside:
                    self._inside[-1] += whole

        return timed

    @contextmanager
    def on(self) -> Iterator[None]:
        """Within it the steps are watched."""
        kept = [
            (place, name, getattr(place, name)) for one in STEPS.values() for place, name in one
        ]
        for step, places in STEPS.items():
            for place, name in places:
                setattr(place, name, self.watched(step, getattr(place, name)))
        try:
            yield
        finally:
            for place, name, work in kept:
                setattr(place, name, work)


def random_condition(rng: np.random.Generator) -> dict[str, tuple[int, int]]:
    """Ranges of two attributes."""
    found = {}
    for place in rng.choice(len(NINE), 2, replace=False):
        low, high = sorted(int(v) for v in rng.integers(0, NINE[place], 2))
        found[f"a{place}"] = (low, high)
    return found


def statement(condition: dict[str, tuple[int, int]]) -> str:
    """The question in SQL."""
    where = " AND ".join(f"{name} BETWEEN {a} AND {b}" for name, (a, b) in condition.items())
    return f"SELECT COUNT(*) FROM t WHERE {where}"  # noqa: S608 - eke reads it


def time_of(work: Callable[..., Any], *given: Any, **named: Any) -> float:
    """Processor time in seconds."""
    began = time.process_time()
    work(*given, **named)
    return time.process_time() - began


def appending(session: eke.Session, rng: np.random.Generator, questions: int) -> float:
    """The median time of appending to what is known, alone."""
    known = Inference(DOMAIN)
    for one in session.history:
        known.append(Row(next(iter(one.query.queries())), float(one.values[0]), Laplace(100.0)))
    times = []
    for _ in range(questions):
        query = eke.count(random_condition(rng)).on(DOMAIN)
        row = Row(query, 0.0, Laplace(100.0))
        times.append(time_of(known.append, row))
    return float(np.median(times))


def looked_at(session: eke.Session, rng: np.random.Generator, questions: int) -> dict[str, Any]:
    """The times at the length that the history has now, in milliseconds."""
    length = len(session.history)
    base = appending(session, rng, questions)
    whole, steps, again, fresh = [], [], [], []
    for _ in range(questions):
        text = statement(random_condition(rng))
        watch = Watch()
        with watch.on():
            whole.append(time_of(session.ask, text, within=400.0))
        steps.append({step: watch.spent.get(step, 0.0) for step in STEPS})
        again.append(time_of(session.ask, text, within=500.0))
        wider = text.replace("COUNT(*)", "2 * COUNT(*)")
        fresh.append(time_of(session.ask, wider, within=1000.0))
    found = {step: float(np.median([one[step] for one in steps])) for step in STEPS}
    found["everything else"] = max(float(np.median(whole)) - sum(found.values()), 0.0)
    told = {
        "a paid question": float(np.median(whole)),
        **{f"  {step}": seconds for step, seconds in found.items()},
        "a question that is free and new": float(np.median(fresh)),
        "a question that is free again": float(np.median(again)),
        "appending to inference alone": base,
    }
    return {"measurements": length, "ms": {name: 1e3 * one for name, one in told.items()}}


def reading(path: Path) -> int:
    """Read every entry of a ledger, as SQLite has it."""
    with closing(sqlite3.connect(path)) as connection:
        return len(connection.execute("SELECT * FROM entry").fetchall())


def opened(path: Path, free: str, paid: str) -> list[float]:
    """The times of opening a dataset, and of its first free and its first paid answer."""
    began = time.process_time()
    session = eke.open(path)
    steps = [time.process_time() - began]
    steps.append(time_of(session.ask, free, within=500.0))
    steps.append(time_of(session.ask, paid, within=400.0))
    return steps


def opening(path: Path, rng: np.random.Generator, free: str, times: int) -> dict[str, Any]:
    """The times of opening a dataset again, in milliseconds."""
    checkpoint = path.with_name(path.name + "-checkpoint")
    found: dict[str, float] = {
        "reading every entry": float(np.median([time_of(reading, path) for _ in range(9)])),
        "reading the bytes": float(np.median([time_of(path.read_bytes) for _ in range(9)])),
    }
    for how in ("with its checkpoint", "without it"):
        runs = []
        for _ in range(times):
            if how == "without it":
                checkpoint.unlink(missing_ok=True)
            runs.append(opened(path, free, statement(random_condition(rng))))
        names = ("opening", "  a free answer after it", "  a paid one after that")
        for name, seconds in zip(names, np.median(runs, axis=0), strict=True):
            found[f"{name} {how}" if name == "opening" else f"{name}, {how}"] = float(seconds)
    return {name: 1e3 * seconds for name, seconds in found.items()}


def by_command(path: Path, rng: np.random.Generator) -> float:
    """The processor time of `eke ask` in a process of its own, in milliseconds."""
    command = [sys.executable, "-m", "eke", "ask", str(path), statement(random_condition(rng))]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, "--within", "400"], check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1e3 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def grown(session: eke.Session, rng: np.random.Generator, length: int) -> None:
    """Ask until the history is so long."""
    while len(session.history) < length:
        session.ask(statement(random_condition(rng)), within=400.0)


def main() -> None:
    """Print a table for each length, then all of it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 300, 1000])
    parser.add_argument("--questions", type=int, default=15)
    parser.add_argument("--command", action="store_true", help="ask by `eke ask`, too")
    options = parser.parse_args()
    rng = np.random.default_rng(20260101)
    table = pd.DataFrame(
        {name: rng.integers(0, n, RECORDS) for name, n in zip(DOMAIN.names, NINE, strict=True)}
    )
    results = []
    with tempfile.TemporaryDirectory() as folder:
        path, file = Path(folder) / "path.eke", Path(folder) / "path.csv"
        table.to_csv(file, index=False)
        session = eke.create(path, eke.CsvFile(file), DOMAIN, epsilon=1e6)
        for size in options.sizes:
            grown(session, rng, size)
            found = looked_at(session, rng, options.questions)
            results.append(found)
            base = found["ms"]["appending to inference alone"]
            print(f"\n{found['measurements']} measurements{'ms':>24}{'of appending':>14}")
            for name, one in found["ms"].items():
                print(f"{name:36}{one:8.1f}{one / base:13.1f}x")
            free = statement(random_condition(rng))
            session.ask(free, within=400.0)
            found["opening"] = opening(path, rng, free, 3)
            if options.command:
                found["opening"]["eke ask, in a process of its own"] = by_command(path, rng)
            entries = found["opening"]["reading every entry"]
            print(f"{'opening it again':36}{'ms':>8}{'of reading':>14}")
            for name, one in found["opening"].items():
                print(f"{name:44}{one:8.1f}{one / entries:9.1f}x")
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"peak of memory so far {peak:,.0f} MiB")
    print(json.dumps(results))


if __name__ == "__main__":
    main()
