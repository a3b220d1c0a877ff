"""Formulas that bend are found in few steps, which cost little more than the answer itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from tests.flights import flights

DELAYS = eke.Integer(-120, 1400, null="bucket")


@pytest.fixture(scope="module")
def delays() -> pd.DataFrame:
    return flights(300_000)[["dep_delay", "arr_delay"]]


@pytest.mark.parametrize(
    ("value", "within", "most"),
    [
        pytest.param("CORR(dep_delay, arr_delay)", 0.1, 0.9, marks=pytest.mark.long),
        pytest.param("REGR_SLOPE(arr_delay, dep_delay)", 0.1, 0.9, marks=pytest.mark.long),
        ("STDDEV(dep_delay)", 2, 0.6),
    ],
)
def test_formulas_that_bend(
    delays: pd.DataFrame, tmp_path: Path, value: str, within: float, most: float
) -> None:
    """N = 3 datasets, 4 or 5 steps each. A correlation took up to 23, and all of the limit."""
    steps = 0
    for run in range(3):
        made = eke.create(
            tmp_path / f"{run}.eke",
            delays,
            eke.Domain(dep_delay=DELAYS, arr_delay=DELAYS),
            epsilon=3,
        )
        answer = made.ask(f"SELECT {value} FROM flights", within=within)
        assert answer.within <= within
        steps += len({one.sequence for one in made.history})
        assert made.budget.spent < most
    assert steps <= 21


def test_an_average_over_units_of_many_rows_is_not_refused_for_its_looks(tmp_path):
    """Looks were priced for single rows: with 20 rows an id they cost 20 times what they may."""
    rows = pd.DataFrame({"id": np.arange(20_000) // 10, "cost": np.arange(20_000) % 101})
    domain = eke.Domain(cost=eke.Integer(0, 100))
    unit = eke.Unit("id", rows=20)
    session = eke.create(tmp_path / "u.eke", rows, domain, epsilon=10.0, unit=unit)
    answer = session.ask(eke.mean("cost"), within=1)
    assert answer.value == pytest.approx(50, abs=3)
    assert answer.cost < 1.0
