"""A crash while a fact is registered or removed: it is in force or not, and all is intact."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import eke

TABLE = pd.DataFrame({"sex": ["F", "M"] * 50})
DOMAIN = eke.Domain(sex=eke.Categorical("F", "M"))
REGISTER = """
import sys, pandas as pd, eke
session = eke.open(sys.argv[1], data=pd.DataFrame({"sex": ["F", "M"] * 50}))
if sys.argv[2] == "add":
    session.add_fact(eke.Fact(eke.count(), 100, "Yearbook"))
else:
    session.forget(int(sys.argv[2]))
"""


def crashed(path: Path, what: str, place: str) -> None:
    environment = {**os.environ, "EKE_FAILPOINT": place}
    command = [sys.executable, "-c", REGISTER, str(path), what]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()


@pytest.mark.parametrize(
    ("place", "is_kept"),
    [
        ("ledger.charged", False),
        ("ledger.appended", False),
        ("ledger.before_commit", False),
        ("ledger.after_commit", True),
    ],
)
def test_a_fact_is_whole_or_not_there(tmp_path: Path, place: str, *, is_kept: bool) -> None:
    path = tmp_path / "people.eke"
    first = eke.create(path, TABLE, DOMAIN, epsilon=1)
    first.ask(eke.count(sex="F"), within=40)
    spent = first.budget
    crashed(path, "add", place)
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
    crashed(path, str(number), place)
    again = eke.open(path, data=TABLE)
    assert again.verify().intact
    assert bool(again.outside) is not is_kept
    assert again.preview(eke.count(), within=1).free is not is_kept
