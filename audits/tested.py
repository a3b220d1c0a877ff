"""Checks that are tests already: run by pytest, counted by `audits/tally.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from audits import tally
from audits.place import memory_folder
from audits.row import ROOT, Row, Scale, number

LONG = 2900.0


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What became of some tests, those that are controls apart."""

    found: tuple[Mapping[str, Any], ...]

    def only(self, *words: str) -> Outcomes:
        """Those whose name has one of some words."""
        return Outcomes(tuple(t for t in self.found if any(word in t["name"] for word in words)))

    def without(self, *words: str) -> Outcomes:
        return Outcomes(
            tuple(t for t in self.found if not any(word in t["name"] for word in words))
        )

    def count(self, *, control: bool) -> tuple[int, int]:
        """(all, those that failed)."""
        own = [test for test in self.found if test["control"] is control]
        return len(own), sum(not test["passed"] for test in own)

    def figure(self, name: str) -> int:
        """The sum of a figure that the tests recorded; 0 when none did."""
        return sum(int(test["figures"].get(name, 0)) for test in self.found)


def run_tests(
    *arguments: str, long: bool = False, plugin: str | None = None, **variables: str
) -> Outcomes:
    """The outcome of a run of pytest; with `long`, tests marked so, too."""
    with memory_folder() as folder:
        out = folder / "tally.json"
        environment = {**os.environ, **variables, tally.VARIABLE: str(out)}
        environment["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(filter(None, sys.path)))
        plugins = ["-p", "audits.tally", *(["-p", plugin] if plugin else [])]
        marks = ["-m", "long or not long"] if long else []
        # The project's settings, for files that lie elsewhere, too.
        settings = ["-c", str(ROOT / "pyproject.toml"), "-p", "no:cacheprovider", "-q"]
        command = [sys.executable, "-m", "pytest", *settings, *plugins, *marks]
        done = subprocess.run(
            [*command, *arguments],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONG,
        )
        if not out.exists():
            raise AssertionError(f"pytest did not run: {done.stderr[-500:]}")
        found = Outcomes(tuple(json.loads(out.read_text("utf-8"))))
    if any(not test["passed"] for test in found.found) and plugin is None:
        sys.stderr.write(done.stdout[-8000:])
    return found


def row_of(title: str, tests: Outcomes, samples: str, *, control: str = "") -> Row:
    """A row from tests of which some are controls."""
    honest, failed = tests.count(control=False)
    controls, missed = tests.count(control=True)
    return Row(
        title=title,
        samples=samples,
        figure=f"{failed} of {honest} tests failed",
        control=control or f"{controls - missed} of {controls} broken versions noticed",
        passed=honest > 0 and failed == 0,
        caught=controls > 0 and missed == 0,
    )


def numbered(tests: Outcomes, name: str, otherwise: str) -> str:
    """`10,000 triples` when the tests recorded so, else a text."""
    total = tests.figure(name)
    return f"{number(total)} {name}" if total else otherwise


# -- decisions -----------------------------------------------------------------------------------

DECISIONS = "tests/privacy/test_replay.py"


def decisions(scale: Scale) -> tuple[Row, ...]:
    """Decisions follow from the ledger alone."""
    words = ("recomputed", "decisions", "decision")
    found = run_tests(DECISIONS, long=scale.full).only(*words)
    samples = numbered(found, "decisions", f"{len(found.found)} tests")
    return (row_of("decisions recomputed from the exported ledger", found, samples),)


# -- ids -----------------------------------------------------------------------------------------


def ids(scale: Scale) -> tuple[Row, ...]:
    """Ids are compared as their table compares them, on every kind of source."""
    found = run_tests(*IDS, long=scale.full)
    samples = numbered(found, "tables", f"{len(found.found)} tests")
    return (row_of("ids: neither merged nor split", found, samples),)


IDS = tuple(f"tests/unit/data/test_{kind}ids.py" for kind in ("", "file_", "server_"))


# -- who may do what -----------------------------------------------------------------------------

PERMISSION = tuple(f"tests/unit/{door}/test_permission.py" for door in ("service", "wire"))


def permissions(_scale: Scale) -> tuple[Row, ...]:
    """Every route and every statement with every kind of caller.

    The control lets everybody see every dataset.
    """
    honest = run_tests(*PERMISSION)
    broken = run_tests(*PERMISSION, "-k", "the_matrix", plugin="audits.open_doors")
    matrix = [test["name"] for test in honest.only("test_the_matrix[").found]
    statements = sum("wire" in name for name in matrix)
    noticed = broken.count(control=False)[1]
    return (
        Row(
            title="auth matrix: every route and statement × every kind of caller",
            samples=f"{len(matrix) - statements} routes × 10 callers, {statements} kinds of "
            "statements over PostgreSQL's protocol × 4 callers",
            figure=f"{honest.count(control=False)[1]} of {len(honest.found)} tests failed",
            control=f"everybody sees every dataset: {noticed} routes and statements noticed",
            passed=bool(honest.found) and honest.count(control=False)[1] == 0,
            caught=noticed > 0,
        ),
    )
