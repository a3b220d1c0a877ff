"""Finishes: the interval of what is shown holds the truth whenever that of the value does."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from eke.errors import QueryError
from eke.question.finish import Finish, Finished, finished, finished_interval
from eke.question.formula import Aggregate, Constant, Operation
from tests.parts import in_long

FREE = (-math.inf, math.inf)
FINISHES = (
    Finish("round"),
    Finish("round", Fraction(-2)),
    Finish("round", Fraction(1)),
    Finish("trunc", Fraction(-1)),
    Finish("floor"),
    Finish("ceil"),
    Finish("sign"),
    Finish("abs"),
    Finish("least", Fraction(40)),
    Finish("greatest", Fraction(-5)),
    Finish("coalesce", Fraction(7)),
)


@pytest.mark.parametrize("finish", FINISHES, ids=lambda f: f"{f.word} {f.number}")
@pytest.mark.parametrize("number", [400, in_long(2_000)])
def test_what_an_interval_holds_is_held_afterwards(finish, number):
    """Intervals with a truth within, and their ends."""
    rng = np.random.default_rng(3)
    for _ in range(number):
        low, value, true, high = np.sort(rng.normal(scale=10.0 ** rng.integers(0, 4), size=4))
        other = finish.value(float(true))
        found: Any = finished_interval([finish], float(value), (low, high), FREE)
        shown, first, last = found
        assert first <= other <= last
        assert first <= shown <= last


@pytest.mark.parametrize("finish", FINISHES[-3:], ids=lambda f: f.word)
def test_where_there_may_be_no_value_what_stands_for_it_is_held(finish):
    """An average between 10 and 30 that is not known at all, and may be that of nobody."""
    for value in (None, 20.0):
        ends = (None, None) if value is None else (10.0, 30.0)
        _, low, high = finished_interval([finish], value, ends, (10.0, 30.0))
        assert low is None or low <= finish.number
        assert high is None or finish.number <= high
    assert finished_interval([finish], 20.0, (15.0, 25.0), (10.0, 30.0))[1:] == (15.0, 25.0)


def test_a_map_that_falls_would_not_hold():
    """Positive control: ends that are mapped one by one miss what lies between."""
    ends = (abs(-2.0), abs(1.0))
    assert not min(ends) <= abs(0.5) <= max(ends)
    assert finished_interval([Finish("abs")], -1.0, (-2.0, 1.0), FREE) == (1.0, 0.0, 2.0)


def test_halves_go_away_from_zero():
    values = [Finish("round").value(x) for x in (2.5, -2.5, Fraction(1, 2), 0.49)]
    assert values == [3.0, -3.0, Fraction(1), 0.0]
    assert Finish("round", Fraction(-2)).value(Fraction(1250)) == 1300


def test_ends_that_are_not_known_stay_so():
    assert finished_interval([Finish("round")], 2.2, (None, None), FREE) == (2.0, None, None)
    assert finished_interval([Finish("least", Fraction(3))], 2.2, (0.0, None), FREE) == (2.2, 0, 3)
    assert finished_interval([Finish("sign")], 2.2, (None, None), FREE) == (1.0, -1.0, 1.0)
    assert finished_interval([Finish("round")], None, (None, None), FREE) == (None, None, None)


def test_one_after_the_other():
    inner = Operation("/", Aggregate(0), Aggregate(1))
    formula = finished(inner, [Finish("coalesce"), Finish("round", Fraction(1))])
    assert formula.text == "round(coalesce((a0 / a1), 0), 1)"
    assert formula.value([Fraction(5), Fraction(4)]) == Fraction(13, 10)
    assert formula.value([Fraction(5), Fraction(0)]) == 0
    assert formula.with_parts(Constant(Fraction(1))).parts == (Constant(Fraction(1)),)
    assert formula.values(np.array([[5.0], [4.0]])).tolist() == [1.3]
    assert formula.to_document()["finish"] == {"word": "round", "number": "1"}
    assert isinstance(formula, Finished)


def test_other_words_are_refused():
    with pytest.raises(QueryError, match="nothing that can be done"):
        Finish("cosine")
