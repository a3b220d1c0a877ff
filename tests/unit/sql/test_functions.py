"""Functions of numbers and texts: the vectors say what plain arithmetic on fractions says."""

import math
from fractions import Fraction
from typing import Any

import duckdb
import numpy as np
import pytest

from eke.domain import Domain, Integer, Numeric
from eke.errors import SqlError
from eke.sql import numeric, parse
from eke.sql.texts import MOST_LETTERS, left, lower, right, substring, trimmed, upper
from tests.sql_adult import compact_domain


def rounded(number: Fraction, digits: int) -> Fraction:
    scaled = abs(number) * Fraction(10) ** digits
    nearest = math.floor(scaled + Fraction(1, 2)) / Fraction(10) ** digits
    return nearest if number >= 0 else -nearest


def truncated(number: Fraction, digits: int) -> Fraction:
    return math.trunc(number * Fraction(10) ** digits) / Fraction(10) ** digits


def bucket(number: Fraction, low: Fraction, high: Fraction, buckets: Fraction) -> int:
    if number < low:
        return 0
    return min(math.floor((number - low) / (high - low) * buckets) + 1, int(buckets) + 1)


SLOW: dict[numeric.Function, tuple[tuple[Any, ...], Any]] = {
    numeric.ABSOLUTE: ((), abs),
    numeric.SIGN: ((), lambda x: (x > 0) - (x < 0)),
    numeric.FLOOR: ((), math.floor),
    numeric.CEIL: ((), math.ceil),
    numeric.ROUND: ((1,), rounded),
    numeric.TRUNC: ((-1,), truncated),
    numeric.REMAINDER: (("7/2",), lambda x, y: x - y * math.trunc(x / y)),
    numeric.BUCKET: ((-3, "15/2", 5), bucket),
}


@pytest.mark.parametrize("how", SLOW, ids=lambda how: how.name)
@pytest.mark.parametrize("unit", [1, 2, 3, 20, 1000, 3 * 2**64])
def test_a_vector_is_mapped_as_its_numbers_are(how, unit):
    parameters, slow = SLOW[how]
    given = tuple(map(Fraction, parameters))
    whole = [0, 1, -1, 3, -5, 10, 45, -45, 999, 2**40, -(2**61)]
    for vector in (np.array(whole, np.int64), np.array([*whole, 10**30], object)):
        found, divisor = how.apply(vector, unit, given)
        expected = [slow(Fraction(int(x), unit), *given) for x in vector]
        assert [Fraction(int(x), divisor) for x in found] == expected


def test_a_table_of_two_columns_is_the_sum_of_its_slices():
    domain = Domain(a=Integer(0, 6), b=Integer(-3, 12), c=Integer(0, 2))
    (block,) = parse("SELECT SUM(ABS(a - b) * 2 + GREATEST(a, b, c)) FROM t", domain).blocks
    codes = np.array(list(np.ndindex(7, 16, 3)))
    values = block.inside.numerators(("a", "b", "c"), codes)
    unit = Fraction(2) ** block.inside.exponent
    for (a, code, c), value in zip(codes.tolist(), values, strict=True):
        b = code - 3
        assert unit * int(value) == abs(a - b) * 2 + max(a, b, c)


def test_functions_of_a_grid_say_how_far_they_may_be_off():
    """A column in steps of 0.5 may be off by a quarter; rounding adds one unit to that."""
    domain = Domain(x=Numeric(0, 10, 0.5))
    blurs = [
        sum(parse(f"SELECT SUM({text}) FROM t", domain).blocks[0].inside.blur.values())
        for text in ("ABS(x - 4)", "LEAST(x, 4)", "ROUND(x)", "ROUND(x, 1)", "SIGN(x - 1)")
    ]
    quarter = Fraction(1, 4)
    assert blurs == [quarter, quarter, quarter + 1, quarter + Fraction(1, 10), quarter + 2]


def test_letters():
    assert upper("straße ŉ") == "STRAẞE ŉ"
    assert lower("İA") == "ia"
    assert [substring("hello", *at) for at in ((0, 2), (-3, 2), (2, None), (4, -2), (2, 0))] == [
        *("h", "ll", "ello", "el", "")
    ]
    assert [left("hello", n) for n in (2, -2, 9, 0, -9)] == ["he", "hel", "hello", "", ""]
    assert [right("hello", n) for n in (2, -2, 9, 0, -9)] == ["lo", "llo", "hello", "", ""]
    assert trimmed(" \ta ", None, "BOTH") == "\ta"
    assert trimmed("xxaxy", "xy", "TRAILING") == "xxa"


def test_texts_do_not_grow_without_end():
    inner = "sex"
    for _ in range(12):
        inner = f"REPLACE({inner}, 'a', 'aaaa')"
    with pytest.raises(SqlError, match=f"more than {MOST_LETTERS:,} letters"):
        parse(f"SELECT COUNT(*) FROM t WHERE {inner} = 'a'", compact_domain())


def test_substrings_are_those_of_duckdb():
    """From every place, of every length, of texts of 0, 1, 2 and 6 letters: N = 1,224."""
    with duckdb.connect() as engine:
        for text in ("", "p", "ab", "abcdef"):
            for start in range(-8, 9):
                for length in (None, *range(-8, 9)):
                    given = (text, start) if length is None else (text, start, length)
                    ((expected,),) = engine.execute(f"SELECT substring{given!r}").fetchall()
                    assert substring(text, start, length) == expected, given
