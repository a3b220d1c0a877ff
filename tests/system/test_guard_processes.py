"""Guarding beside processes that ask, and processes that die while they guard."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import eke

TABLE = pd.DataFrame({"sex": ["F", "M"] * 200})
DOMAIN = eke.Domain(sex=eke.Categorical("F", "M"))
WOMEN = eke.count(sex="F")
BEGIN = """
import sys, pandas as pd, eke
session = eke.open(sys.argv[1], data=pd.DataFrame({"sex": ["F", "M"] * 200}))
women = eke.count(sex="F")
"""
GUARD = BEGIN + 'session.guard(women, "> 20", threshold=0.9)\n'
# Asks for more and more until it is refused, or has asked so often.
ASKS = (
    BEGIN
    + """
if sys.argv[2] == "careless":
    from eke.engine import guarding
    guarding.is_closed = lambda *_: False
for time in range(60):
    try:
        session.ask(women, within=20 * 0.97**time, policy="direct")
    except eke.Refused as refused:
        assert "guarded claim" in str(refused), refused
        break
    if time == 0:
        print("begun", flush=True)
"""
)


def charged_after_the_guard(path: Path, how: str) -> int:
    """How often another process was charged after this one had guarded the claim."""
    command = [sys.executable, "-c", ASKS, str(path), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as asking:
        assert asking.stdout is not None
        assert asking.stdout.readline() == "begun\n"
        number = eke.open(path, data=TABLE).guard(WOMEN, "> 20", threshold=0.9)
        assert asking.wait(120) == 0
    session = eke.open(path, data=TABLE)
    assert session.verify().intact
    after = [one for one in session.ledger_entries() if one.sequence > number]
    return sum(one.kind == "reserve" for one in after)


@pytest.mark.parametrize("how", ["careful", "careless"])
def test_nothing_is_charged_after_the_guard(tmp_path: Path, how: str) -> None:
    """The careless one, which finds no claim closed, is the positive control."""
    path = tmp_path / "people.eke"
    eke.create(path, TABLE, DOMAIN, epsilon=100)
    charged = charged_after_the_guard(path, how)
    assert (charged > 0) == (how == "careless")


@pytest.mark.parametrize(
    ("place", "is_kept"), [("ledger.before_commit", False), ("ledger.after_commit", True)]
)
def test_a_guard_is_whole_or_not_there(tmp_path: Path, place: str, *, is_kept: bool) -> None:
    path = tmp_path / "people.eke"
    eke.create(path, TABLE, DOMAIN, epsilon=1).ask(WOMEN, within=40)
    environment = {**os.environ, "EKE_FAILPOINT": place}
    command = [sys.executable, "-c", GUARD, str(path)]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    session = eke.open(path, data=TABLE)
    assert session.verify().intact
    assert len(session.guards) == is_kept
    assert session.preview(WOMEN, within=30).affordable is not is_kept
