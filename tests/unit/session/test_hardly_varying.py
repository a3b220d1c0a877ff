"""Formulas that hardly vary, or not at all: a point that can be drawn, and paid for once.

An average where a condition fixes the column, a ratio of proportional sums, a deviation of records
that are all alike: draws of them differ by rounding errors, and roots of what noise puts below 0
have none.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.codec.curve import curve_document
from eke.errors import AccuracyError, EkeError
from eke.inference import FormulaPosterior, Joint
from eke.question import Aggregate, Root
from tests.parts import in_long

DOMAIN = eke.Domain(a=eke.Integer(0, 5), g=eke.Categorical("x", "y", "z"))
ROWS = pd.DataFrame({"a": [2] * 1000 + [1, 3] * 100, "g": ["x"] * 1000 + ["y"] * 200})
CONSTANT = {
    "AVG(a)": 2.0,
    "AVG(a * 3)": 6.0,
    "SUM(a * 3) / SUM(a * 7)": 3.0 / 7.0,
    "100.0 * COUNT_IF(a = 2) / SUM(3)": 100.0 / 3.0,
}


@pytest.fixture
def session(folder: Path) -> eke.Session:
    return eke.create(folder / "t.eke", ROWS, DOMAIN, epsilon=20.0)


@pytest.mark.parametrize("formula", CONSTANT)
def test_a_constant_holds_the_truth_can_be_drawn_and_is_paid_for_once(
    session: eke.Session, formula: str
) -> None:
    asked = f"SELECT {formula} AS v FROM t WHERE a = 2"
    answer = session.ask(asked, spend=1.0)
    low, high = answer.interval
    assert low <= CONSTANT[formula] <= high
    assert high - low <= 1e-9
    assert answer._repr_html_()
    assert curve_document(answer)["density"] == [1.0]
    with pytest.raises(AccuracyError, match="no density"):
        answer.posterior.density([answer.value])
    assert json.loads(answer.to_json())["value"] == pytest.approx(CONSTANT[formula])
    again = [session.ask(asked, spend=1.0).cost for _ in range(3)]
    assert sum(again) <= 0.01 * answer.cost + 1e-6


@pytest.mark.parametrize("formula", ["STDDEV(a)", "STDDEV_POP(a)"])
@pytest.mark.parametrize("seed", range(3))
def test_a_deviation_of_records_that_are_alike(
    session: eke.Session, formula: str, seed: int
) -> None:
    del seed  # the noise is another one each time
    paid = session.ask(f"SELECT {formula} AS d FROM t WHERE g = 'x'", spend=1.0)
    assert 0.0 <= paid.interval[0] <= paid.value <= paid.interval[1] < 1.0
    near = session.ask(f"SELECT {formula} AS d FROM t WHERE g = 'x'", within=0.3)
    assert near.within <= 0.3
    assert paid._repr_html_()
    assert session.budget.spent < 3.0


def test_roots_of_nothing_have_an_interval(session: eke.Session) -> None:
    answer = session.ask("SELECT SQRT(COUNT(*)) AS r FROM t WHERE g = 'z'", spend=1.0)
    assert answer.interval[0] <= answer.value <= answer.interval[1] < 4.0


@pytest.mark.parametrize("size", [250, *map(in_long, (500, 2000))])
def test_roots_cover_as_their_radicands_do(size: int) -> None:
    """N = 250, 500 or 2,000 counts of 4 with Laplace noise, at 80 %: at least that.

    What is too low by noise keeps half of its interval above 0, and holds the truth nevertheless,
    which makes it 90 % here. The positive control has intervals of 60 %.
    """
    draw = np.random.default_rng(5)
    covered = {0.8: 0, 0.6: 0}
    beyond = 0
    for noise in draw.laplace(scale=3.0, size=size):
        joint = Joint(
            np.array([4.0 + noise]), np.ones((1, 1)), *map(np.array, ([3.0], [0], [0], [1]))
        )
        root, count = (
            FormulaPosterior(one, joint, 1) for one in (Root(Aggregate(0)), Aggregate(0))
        )
        beyond += count.interval(0.8)[1] < 0.0
        for confidence in covered:
            low, high = root.interval(confidence)
            assert 0.0 <= low <= high
            assert high > 0.0, "a point at 0 would look like certainty"
            covered[confidence] += low <= 2.0 <= high
    error = 4.0 * math.sqrt(0.8 * 0.2 / size)
    assert beyond > min(size / 50, 10)
    assert 0.8 - error < covered[0.8] / size < 0.9 + error
    assert covered[0.6] / size < 0.8 - error


@pytest.mark.parametrize("formula", ["SUM(a) / SUM(a * 0)", "AVG(a) / (COUNT(*) - COUNT(*))"])
def test_divided_by_what_is_always_nothing(session: eke.Session, formula: str) -> None:
    with pytest.raises(EkeError, match="division by zero"):
        session.ask(f"SELECT g, {formula} AS v FROM t GROUP BY g", within=1)
    assert session.budget.spent == 0.0
