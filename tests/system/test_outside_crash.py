"""A crash while a fact is registered or removed: it is in force or not, and all is intact."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pandas as pd
import pytest

import eke

TABLE = pd.DataFrame({"sex": ["F", "M"] * 50})
DOMAIN = eke.Domain(sex=eke.Categorical("F", "M"))
# One interpreter loads everything; each crash is that of a child of it.
REGISTER = """
import json, os, sys, pandas as pd, eke
import eke.session.opening, ibis.backends.sql.compilers, sqlalchemy.dialects.sqlite
eke.open, eke.Fact, eke.count  # loaded when they are named
TABLE = pd.DataFrame({"sex": ["F", "M"] * 50})
for line in sys.stdin:
    path, what, place = json.loads(line)
    child = os.fork()
    if child == 0:
        os.environ["EKE_FAILPOINT"] = place
        session = eke.open(path, data=TABLE)
        if what == "add":
            session.add_fact(eke.Fact(eke.count(), 100, "Yearbook"))
        else:
            session.forget(int(what))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
Crash = Callable[[Path, str, str], None]


@pytest.fixture(scope="module")
def crash() -> Iterator[Crash]:
    """Let a process register or remove a fact, and die at a place."""
    # A process with threads is a poor place to fork.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-c", REGISTER],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as started:
        said, told = started.stdin, started.stdout
        assert said is not None
        assert told is not None

        def run(path: Path, what: str, place: str) -> None:
            said.write(json.dumps([str(path), what, place]) + "\n")
            said.flush()
            assert int(told.readline()) == -signal.SIGKILL

        yield run
        said.close()


@pytest.mark.parametrize(
    ("place", "is_kept"),
    [
        ("ledger.charged", False),
        ("ledger.appended", False),
        ("ledger.before_commit", False),
        ("ledger.after_commit", True),
    ],
)
def test_a_fact_is_whole_or_not_there(
    tmp_path: Path, crash: Crash, place: str, *, is_kept: bool
) -> None:
    path = tmp_path / "people.eke"
    first = eke.create(path, TABLE, DOMAIN, epsilon=1)
    first.ask(eke.count(sex="F"), within=40)
    spent = first.budget
    crash(path, "add", place)
    session = eke.open(path, data=TABLE)
    assert session.verify().intact
    assert [one.source for one in session.outside] == (["Yearbook"] if is_kept else [])
    assert session.budget == spent
    number = (
        session.facts[0].sequence
        if is_kept
        else session.add_fact(eke.Fact(eke.count(), 100, "Yearbook"))
    )
    assert session.ask(eke.count(), within=1).value == 100.0
    crash(path, str(number), place)
    again = eke.open(path, data=TABLE)
    assert again.verify().intact
    assert bool(again.outside) is not is_kept
    assert again.preview(eke.count(), within=1).free is not is_kept
