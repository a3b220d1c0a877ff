"""Conditions on one attribute: which codes they select, and which are mistakes."""

import math
from fractions import Fraction

import numpy as np
import pytest

from eke.domain import Binned, Boolean, Categorical, Integer
from eke.errors import QueryError
from eke.query import selection
from eke.query.runs import dense

TEXTS = Categorical("a", "b", "c", null="bucket")
NUMBERS = Categorical(10, 20, 0)
FLAGS = Categorical(True, False)
AGE = Integer(17, 90)
SCORE = Integer(-2, 2, null="bucket")
HOURS = Binned([0, 10.5, 20, 40, 60])
SHORT = Binned([0, 1], outside="bucket")
MARRIED = Boolean(null="bucket")


@pytest.mark.parametrize(
    ("attribute", "condition", "codes"),
    [
        (TEXTS, "a", [0]),
        (TEXTS, None, [3]),
        (TEXTS, ["c", "a", "c"], [0, 2]),
        (TEXTS, {"b", None}, [1, 3]),
        (TEXTS, frozenset({"b"}), [1]),
        (TEXTS, np.str_("b"), [1]),
        (NUMBERS, 20, [1]),
        (NUMBERS, 20.0, [1]),
        (NUMBERS, np.int64(0), [2]),
        (FLAGS, False, [1]),
        (MARRIED, True, [1]),
        (MARRIED, 0, [0]),
        (MARRIED, np.bool_(True), [1]),
        (MARRIED, [True, None], [1, 2]),
        (AGE, 17, [0]),
        (AGE, 90, [73]),
        (AGE, 18.0, [1]),
        (AGE, np.int32(19), [2]),
        (AGE, [17, 90], [0, 73]),
        (AGE, (17, 19), [0, 1, 2]),
        (AGE, (88, None), [71, 72, 73]),
        (AGE, (None, 18), [0, 1]),
        (AGE, (None, None), list(range(74))),
        (AGE, (-math.inf, 17), [0]),
        (AGE, (89.5, math.inf), [73]),
        (AGE, (17.5, 19.5), [1, 2]),
        (AGE, (-(10**400), 10**400), list(range(74))),
        (AGE, (Fraction(35, 2), 18), [1]),
        (AGE, (np.float32(17), np.int8(17)), [0]),
        (AGE, (20, 20), [3]),
        (SCORE, (None, None), [0, 1, 2, 3, 4]),
        (SCORE, (-1, 0), [1, 2]),
        (SCORE, None, [5]),
        (SCORE, [None, 2], [4, 5]),
        (HOURS, (0, 60), [0, 1, 2, 3]),
        (HOURS, (10.5, 40), [1, 2]),
        (HOURS, (None, 20), [0, 1]),
        (HOURS, (40, None), [3]),
        (HOURS, (40, math.inf), [3]),
        (HOURS, (0.0, Fraction(21, 2)), [0]),
        (HOURS, [(0, 10.5), (40, 60)], [0, 3]),
        (SHORT, (None, None), [0]),
        (SHORT, [(0, 1), None], [0, 1]),
    ],
)
def test_selected_codes(attribute, condition, codes):
    vector = selection(attribute, condition)
    assert vector.dtype == np.int64
    assert vector.shape == (attribute.size,)
    assert np.flatnonzero(dense(vector)).tolist() == codes
    assert set(dense(vector).tolist()) <= {0, 1}


@pytest.mark.parametrize(
    ("attribute", "condition", "advice"),
    [
        (TEXTS, "d", "'d' is not a declared value; declared are 'a', 'b', 'c'"),
        (TEXTS, 1, "not a declared value"),
        (TEXTS, True, "not a declared value"),
        (TEXTS, ["a", "d"], "'d' is not a declared value"),
        (TEXTS, [], "leave the condition out"),
        (TEXTS, set(), "leave the condition out"),
        (TEXTS, ("a", "b"), "must be numbers or None"),
        (TEXTS, (1, 2), "list the values instead: declared are 'a', 'b', 'c'"),
        (TEXTS, {"a": 1}, "not a declared value"),
        (TEXTS, np.array(["a", "b"]), "not a declared value"),
        (Categorical(*range(30)), 99, "10, 11 and 18 more"),
        (NUMBERS, True, "True is not a declared value"),
        (NUMBERS, False, "False is not a declared value"),
        (NUMBERS, None, "no bucket is declared"),
        (NUMBERS, 10.5, "not a declared value"),
        (NUMBERS, (0, 10), "list the values instead"),
        (FLAGS, 1, "not a declared value"),
        (MARRIED, 2, "not a declared value"),
        (MARRIED, "true", "not a declared value"),
        (MARRIED, (0, 1), "list the values instead"),
        (AGE, 16, "the declared range is 17 to 90"),
        (AGE, 91, "the declared range is 17 to 90"),
        (AGE, 17.5, "not a declared value"),
        (AGE, True, "True is not a declared value"),
        (AGE, math.nan, "nan is not a declared value"),
        (AGE, math.inf, "inf is not a declared value"),
        (AGE, "17", "not a declared value"),
        (AGE, None, "no bucket is declared"),
        (AGE, [None], "no bucket is declared"),
        (AGE, [(17, 18)], "not a declared value"),
        (AGE, range(17, 20), "not a declared value"),
        (AGE, (30, 20), "wrong order"),
        (AGE, (91, None), "no declared value lies between 91 and an open end.* 17 to 90"),
        (AGE, (None, 16), "no declared value lies between an open end and 16"),
        (AGE, (200, 300), "no declared value lies between 200 and 300"),
        (AGE, (17.2, 17.8), "no declared value lies between 17.2 and 17.8"),
        (AGE, (math.inf, math.inf), "no declared value"),
        (AGE, (-math.inf, -math.inf), "no declared value"),
        (AGE, (10**400, None), "no declared value"),
        (AGE, (17, math.nan), "not text, True or NaN"),
        (AGE, (True, 20), "not text, True or NaN"),
        (AGE, (np.bool_(True), 20), "not text, True or NaN"),
        (AGE, ("17", "20"), "not text, True or NaN"),
        (AGE, (b"17", None), "not text, True or NaN"),
        (AGE, (17, [20]), "not text, True or NaN"),
        (AGE, (17,), "a pair \\(low, high\\)"),
        (AGE, (17, 18, 19), "use a list"),
        (AGE, (), "a pair"),
        (HOURS, 5, "a range between edges, e.g. \\(0, 10.5\\)"),
        (HOURS, "5", "a range between edges"),
        (HOURS, [(0, 20)], "a range between edges"),
        (HOURS, None, "no bucket is declared"),
        (HOURS, (0, 15), "15 cuts through a bin; the nearest edges are 10.5 and 20"),
        (HOURS, (0.25, 20), "0.25 cuts through a bin; the nearest edges are 0 and 10.5"),
        (HOURS, (0, 61), "61 lies beyond the bins; the nearest edge is 60"),
        (HOURS, (-1, 20), "-1 lies beyond the bins; the nearest edge is 0"),
        (HOURS, (20, 20), "needs two different edges"),
        (HOURS, (60, None), "needs two different edges"),
        (HOURS, (40, 20), "wrong order"),
        (HOURS, (math.nan, 20), "not text, True or NaN"),
        (HOURS, (math.inf, None), "inf lies beyond the bins"),
        (Binned([0, 1e6, 1e6 + 1]), (1000000.5, None), "edges are 1000000 and 1000001"),
    ],
)
def test_mistakes_raise_with_advice(attribute, condition, advice):
    with pytest.raises(QueryError, match=advice):
        selection(attribute, condition)
