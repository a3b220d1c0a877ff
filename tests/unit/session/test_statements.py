"""A paid answer takes few statements of its ledger, few transactions, and no SciPy."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pandas as pd
import pytest
from sqlalchemy import event
from sqlalchemy.engine import Engine

import eke

PEOPLE = pd.DataFrame({"age": [30, 40, 50] * 20})
DOMAIN = eke.Domain(age=eke.Integer(0, 99))


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """How many statements begin with which word meanwhile."""
    counts = Counter[str]()

    def seen(_: object, __: object, statement: str, *___: object) -> None:
        counts[statement.split(maxsplit=1)[0]] += 1

    event.listen(Engine, "before_cursor_execute", seen)
    try:
        yield counts
    finally:
        event.remove(Engine, "before_cursor_execute", seen)


@pytest.fixture
def session(tmp_path):
    made = eke.create(tmp_path / "people.eke", PEOPLE, DOMAIN, epsilon=100.0)
    made.ask(eke.count(), within=50)
    return made


def test_a_paid_answer_takes_one_look_and_three_writes(session):
    with counted() as counts:
        assert session.ask(eke.count(age=(30, 45)), within=20).source == "paid"
    assert counts["BEGIN"] == 4  # a look; the charge, the draw and the answer
    assert counts["INSERT"] == 4  # three entries, one request
    assert counts["UPDATE"] == 4
    assert counts["SELECT"] <= 17


def test_a_free_answer_takes_one_look(session):
    session.ask(eke.count(), within=50)
    with counted() as counts:
        assert session.ask(eke.count(), within=50).source == "from history"
    assert counts["BEGIN"] <= 1
    assert counts["SELECT"] <= 4
    assert set(counts) <= {"BEGIN", "SELECT"}


def test_paid_answers_load_neither_scipy_nor_numba(tmp_path):
    """Answers by history and a measurement together included, whose price is a root."""
    script = """
import sys, pandas as pd, eke
people, domain = pd.DataFrame({"age": [30, 40, 50] * 20}), eke.Domain(age=eke.Integer(0, 99))
session = eke.create(sys.argv[1], people, domain, epsilon=100.0)
costs = [session.ask(eke.count(age=(30, 45)), within=within).cost for within in (30, 20, 10)]
print(costs[0] > 0.0 and costs[2] > costs[1] > 0.0, {"numba", "scipy"} & set(sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "people.eke")],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert done.stdout.split() == ["True", "set()"]
