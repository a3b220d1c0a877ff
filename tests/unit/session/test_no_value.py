"""Averages and quantiles of nobody: where a group rules out all records, NULL, for nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke

ROWS = 4_000
DOMAIN = eke.Domain(
    sex=eke.Categorical("Female", "Male"),
    a=eke.Integer(-3, 4),
    b=eke.Integer(0, 3, null="bucket"),
)


def table() -> pd.DataFrame:
    chance = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "sex": chance.choice(["Female", "Male"], ROWS),
            "a": chance.integers(-3, 5, ROWS),
            "b": pd.array([None if one == 4 else one for one in chance.integers(0, 5, ROWS)]),
        }
    )


@pytest.mark.parametrize(
    ("asked", "within", "nobody"),
    [
        ("SELECT sex, AVG(a) FILTER (WHERE sex = 'Male') AS v", 0.5, "Female"),
        ("SELECT sex, AVG(CASE WHEN sex = 'Male' THEN a END) AS v, COUNT(*) AS n", None, "Female"),
        ("SELECT sex, VAR_POP(a) FILTER (WHERE sex = 'Male') AS v", 2.0, "Female"),
        ("SELECT sex, MEDIAN(a) FILTER (WHERE sex = 'Male') AS v", 2.0, "Female"),
        ("SELECT b, AVG(b) AS v, COUNT(b) AS n", None, None),
        ("SELECT b, AVG(a) FILTER (WHERE b < 3) / 2 AS v", 0.5, None),
    ],
)
def test_nobody_has_no_value_and_costs_nothing(
    folder: Path, asked: str, within: float | None, nobody: str | None
) -> None:
    """The price is that of the groups that have a value; none of it is lost."""
    key = asked.split()[1].rstrip(",")
    widths: Any = {"v": 0.5, "n": 200} if within is None else within
    session = eke.create(folder / "t.eke", table(), DOMAIN, epsilon=20.0)
    answer = session.ask(f"{asked} FROM t GROUP BY {key}", within=widths)
    rows = {row[0]: row[1] for row in answer.rows}
    assert (rows[nobody].value, rows[nobody].low, rows[nobody].high) == (None, None, None)
    known = [cell for label, cell in rows.items() if label not in (nobody, 3)]
    assert all(cell.high - cell.low <= 2 * (within or 0.5) for cell in known)
    assert answer.cost < 2.0


def test_a_share_of_nobody_is_nothing(folder: Path) -> None:
    """What is divided may be of nobody; only what divides may not."""
    session = eke.create(folder / "t.eke", table(), DOMAIN, epsilon=20.0)
    asked = "SELECT sex, SUM(CASE WHEN sex = 'Male' THEN a END) / COUNT(*) AS v FROM t GROUP BY sex"
    (_, women), (_, men) = session.ask(asked, within=0.5).rows
    assert (women.value, women.low, women.high) == (0.0, 0.0, 0.0)
    assert men.low < men.value < men.high


def test_shown_instead_of_no_value(folder: Path) -> None:
    session = eke.create(folder / "t.eke", table(), DOMAIN, epsilon=20.0)
    answer = session.ask("SELECT b, COALESCE(AVG(b), -7) AS v FROM t GROUP BY b", within=0.5)
    assert {row[0]: row[1].value for row in answer.rows}[None] == -7.0
