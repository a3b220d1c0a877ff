"""Strategy matrices that somebody gives: kept exactly, rounded in public, or refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import eke
from eke.errors import QueryError
from eke.planning.workload.release.plan import plan_release
from eke.planning.workload.release.queries import workload_matrix
from eke.planning.workload.strategy.given import MOST_CELLS, MOST_ROWS, Strategy, strategy_of
from eke.planning.workload.strategy.matrices import MatrixStrategy
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.pure import PURE


def matrix_of(rows: Strategy) -> NDArray[np.int64]:
    made = strategy_of(rows)
    assert isinstance(made, MatrixStrategy)
    return made.matrix


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 0], [0, -1]],
        [[0.5, 0.25], [3.0, -1e3]],
        np.array([[2**40, 0], [2**39, 2**40]]),
        pd.DataFrame([[1, 2], [3, 4]]),
        np.array([[True, False], [True, True]]),
        [[2.0**-60, 2.0**-61]],
        [[5e-324, 0]],
        [[2.0**1023, -(2.0**1023)]],
        [[1]],
    ],
)
def test_numbers_of_a_common_unit_are_kept_exactly(rows):
    matrix = matrix_of(rows)
    given = [[Fraction(float(cell)) for cell in row] for row in np.asarray(rows, float)]
    ratios = {
        Fraction(int(whole)) / cell
        for row, wholes in zip(given, matrix.tolist(), strict=True)
        for cell, whole in zip(row, wholes, strict=True)
        if cell != 0
    }
    assert len(ratios) == 1
    (ratio,) = ratios
    assert ratio.numerator & (ratio.numerator - 1) == 0  # a power of two
    assert ratio.denominator & (ratio.denominator - 1) == 0
    assert [[w == 0 for w in row] for row in matrix.tolist()] == [
        [c == 0 for c in r] for r in given
    ]


def test_other_numbers_are_rounded_to_whole_ones():
    rows = np.random.default_rng(3).normal(size=(5, 4))
    matrix = matrix_of(rows)
    assert matrix.dtype == np.int64
    assert np.abs(matrix).max() < 2**31
    unit = np.abs(rows).max() / np.abs(matrix).max()
    assert np.abs(matrix * unit - rows).max() <= unit


def test_names_and_strategies_are_as_they_are():
    made = MatrixStrategy.of("mine", [[1, 0], [1, 1]])
    assert strategy_of(made) is made
    assert strategy_of("auto") == "auto"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[1, float("nan")]], "finite"),
        ([[1, float("inf")]], "finite"),
        ([[1, 10**400]], "real numbers"),
        ([[1], [1, 2]], "rows of numbers"),
        ([["1", "2"]], "real numbers"),
        ([[1j, 2]], "real numbers"),
        ([[None, 2]], "real numbers"),
        ([[1, object()]], "real numbers"),
        ([1, 2], "needs rows"),
        ([[[1]]], "needs rows"),
        ([], "needs rows"),
        ([[]], "needs rows"),
        (7, "rows of numbers"),
        (None, "rows of numbers"),
        ([[0, 0], [0, 0]], "nothing but zeros"),
        ([[0, 0], [1, 0]], "a row of the strategy matrix is zero"),
        ([[1e-7, 0], [1, 0]], "million times smaller"),
        ([[1]] * (MOST_ROWS + 1), "at most 2,048 rows"),
        (np.ones((2, MOST_CELLS + 1)), "at most 1,024 cells"),
        (MatrixStrategy("mine", np.array([[0.5]]), None), r"MatrixStrategy\.of"),
    ],
)
def test_what_is_no_strategy_is_refused(rows, message):
    with pytest.raises(QueryError, match=message):
        strategy_of(rows)


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("name", ["I", "mine"])
def test_a_name_says_nothing_of_what_is_measured(measure, name):
    """A matrix was once measured cell by cell because of its name."""
    domain = eke.Domain(a=eke.Integer(0, 2))
    rows = np.array([[2, 1, 0], [0, 1, 0], [1, 1, 1]])
    plan = plan_release(
        eke.Workload.of(domain, [["a"]]),
        measure=measure,
        budget=1.0,
        strategy=MatrixStrategy.of(name, rows),
    )
    measured = eke.Workload.of(domain, [block for block, _ in plan.laws()])
    coefficients = workload_matrix(measured, ("a",))
    np.testing.assert_array_equal(coefficients, rows)
    counts = np.array([5.0, 7.0, 11.0])
    told = coefficients @ counts
    (table,) = plan.recover([np.array(value) for value in told])
    np.testing.assert_allclose(table.values, counts)


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("seed", range(4))
def test_the_rows_measured_cost_at_most_the_budget(measure, seed):
    """The loss of each cell, of the rows and the laws as they will be measured, exactly."""
    rng = np.random.default_rng(seed)
    domain = eke.Domain(a=eke.Integer(0, 4))
    rows = np.vstack([rng.normal(size=(6, 5)), 10.0 ** rng.integers(-4, 4, (3, 5))])
    workload = eke.prefixes(domain, "a")
    plan = plan_release(workload, measure=measure, budget=0.3, strategy=strategy_of(rows))
    losses = [Fraction(0)] * 5
    measured = eke.Workload.of(domain, [block for block, _ in plan.laws()])
    coefficients = workload_matrix(measured, ("a",)).tolist()
    for row, (_, law) in zip(coefficients, plan.laws(), strict=True):
        scale = Fraction(law.steps) * Fraction(2) ** law.exponent
        for cell, entry in enumerate(row):
            height = abs(Fraction(entry)) / scale
            losses[cell] += height if measure is PURE else height**2 / 2
    assert 0.29 < max(losses) <= Fraction(3, 10)
