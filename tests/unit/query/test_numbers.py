"""Powers of the numbers of a column, on the coefficient grid, against a Fraction for each value."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eke.domain import Attribute, Binned, Integer, Numeric
from eke.query import numbers
from eke.query.numbers import power_vector
from eke.query.runs import Runs, dense, held
from eke.query.vector import integer_vector

COLUMNS: list[Attribute] = [
    Integer(0, 9),
    Integer(-40, 12, null="bucket"),
    Integer(0, 0),
    Integer(10**9, 10**9 + 5),
    Integer(-(10**15), -(10**15) + 3),
    Numeric(0, 3, step=0.1),
    Numeric(-2, 2, step=0.01, null="bucket"),
    Numeric(0, 5, step=0.125),
    Numeric(1e-7, 2e-6, step=1e-7),
    Binned((0, 1, 5, 10, 100)),
    Binned((0.1, 0.25, 0.3, 7.7), null="bucket"),
]


@pytest.mark.parametrize("power", [1, 2, 3, 4])
@pytest.mark.parametrize("column", COLUMNS, ids=repr)
def test_powers_are_those_of_fractions(column: Attribute, power: int) -> None:
    """The slow twin rounds one Fraction after the other."""
    expected = integer_vector([Fraction(n) ** power for n in column.numbers()])
    unit, whole = power_vector(column, power)
    assert unit == expected[0]
    assert whole.dtype == np.int64
    assert dense(whole).tolist() == expected[1].tolist()


def test_halves_go_to_the_even_number() -> None:
    values = np.array([-5, -3, -1, 0, 1, 3, 5, 7, 4], np.int64)
    expected = [round(Fraction(int(n), 2)) for n in values]
    assert numbers._divided(values, 2).tolist() == expected
    assert numbers._divided(values.astype(object), 2).tolist() == expected
    wrong = np.floor(values / 2 + 0.5).astype(int)  # the control: halves go up
    assert wrong.tolist() != expected


def test_whole_columns_of_very_many_values_stay_a_few_runs() -> None:
    unit, whole = power_vector(Integer(-3, 999_990, null="bucket"), 2)
    assert unit == 1
    assert isinstance(held(whole), Runs)
    assert dense(whole)[:2].tolist() == [9, 4]
    assert dense(whole)[-2:].tolist() == [999_990**2, 0]
