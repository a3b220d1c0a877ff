"""Bounds: what averages, and what is made of them, lie between whatever the data."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eke.domain import Categorical, Domain, Integer
from eke.sql import parse

DOMAIN = Domain(age=Integer(10, 60), sex=Categorical("F", "M"))
SHARE = "AVG(CASE WHEN sex = 'F' THEN 1 ELSE 0 END)"


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("AVG(age)", (10, 60)),
        (SHARE, (0, 1)),
        (f"100 * {SHARE}", (0, 100)),
        (f"{SHARE} * -100", (-100, 0)),
        (f"1 - {SHARE}", (0, 1)),
        ("AVG(age) / 2 + 3", (8, 33)),
        ("AVG(age) - AVG(age + 5)", (10 - 65, 60 - 15)),
        ("100 * COUNT(*) FILTER (WHERE sex = 'F') / COUNT(*)", (0, 100)),
        ("(2 * COUNT(*) - COUNT(*) FILTER (WHERE sex = 'F')) / COUNT(*)", (1, 2)),
        ("COUNT(*) / COUNT(*) FILTER (WHERE sex = 'F')", (-math.inf, math.inf)),
        ("(COUNT(*) FILTER (WHERE sex = 'F') + 1) / COUNT(*)", (-math.inf, math.inf)),
        ("100 * (COUNT(*) FILTER (WHERE sex = 'F') / COUNT(*))", (0, 100)),
        ("2 / AVG(age)", (-math.inf, math.inf)),
        ("AVG(age) * AVG(age)", (-math.inf, math.inf)),
        ("COUNT(*)", (-math.inf, math.inf)),
        ("SUM(age)", (-math.inf, math.inf)),
        ("STDDEV(age)", (-math.inf, math.inf)),
    ],
)
def test_bounds_are_those_of_the_averages_in_it(column, expected):
    question = parse(f"SELECT {column} AS v FROM t", DOMAIN)
    assert question.bounds(question.columns[0].formula) == pytest.approx(expected)


def test_no_table_leaves_them():
    """The slow twin: N = 200 random tables, evaluated exactly."""
    rng = np.random.default_rng(1)
    text = f"SELECT 3 * AVG(age) - 20 * {SHARE} AS v FROM t"
    question = parse(text, DOMAIN)
    formula = question.columns[0].formula
    low, high = question.bounds(formula)
    for _ in range(200):
        rows = rng.integers(1, 4)
        codes = np.stack([rng.integers(0, 51, rows), rng.integers(0, 2, rows)], axis=1)
        answers = []
        for block in question.blocks:
            numerators = block.inside.numerators(DOMAIN.names, codes)
            answers.append(float(np.sum(numerators)) * 2.0**block.inside.exponent)
        assert low <= formula.value(answers) <= high
