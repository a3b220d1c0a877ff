"""Blur: a bound on what midpoints and rounding do to a record, against raw values themselves."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import eke
from eke.query import Query
from eke.query.blur import NO_BLUR, added, multiplied, scaled, widest
from eke.sql import parse

DOMAIN = eke.Domain(
    x=eke.Binned([0, 1, 4, 10]),
    y=eke.Numeric(-2, 2, 0.5),
    z=eke.Integer(0, 5),
    s=eke.Categorical("a", "b"),
)
ROWS = 300


def raw_rows() -> list[dict[str, Any]]:
    """Raw values within the declared bounds, the ends of bins among them."""
    rng = random.Random(4)
    ends = [0.0, 1.0, 0.999999, 4.0, 10.0]
    return [
        {
            "x": rng.choice(ends) if rng.random() < 0.2 else rng.uniform(0, 10),
            "y": rng.uniform(-2, 2),
            "z": rng.randrange(6),
            "s": rng.choice("ab"),
        }
        for _ in range(ROWS)
    ]


def used(query: Query, row: dict[str, Any]) -> Fraction:
    """What the query takes a record for."""
    codes = [[DOMAIN[name].code(row[name]) for name in DOMAIN.names]]
    (number,) = query.numerators(DOMAIN.names, np.array(codes))
    return number * Fraction(2) ** query.exponent


EXPRESSIONS = {
    "x": (eke.total("x"), lambda r: r["x"]),
    "x below 4": (eke.total("x", x=(0, 4)), lambda r: r["x"] * (r["x"] < 4)),
    "x squared": (eke.moment(x=2), lambda r: r["x"] ** 2),
    "x y": (eke.moment(x=1, y=1), lambda r: r["x"] * r["y"]),
    "x y^3 z": (eke.moment(x=1, y=3, z=1), lambda r: r["x"] * r["y"] ** 3 * r["z"]),
    "sums": (2 * eke.total("x") - eke.total("y") / 4, lambda r: 2 * r["x"] - r["y"] / 4),
}
STATEMENTS = {
    "SUM(x)": lambda r: r["x"],
    "SUM(x) FILTER (WHERE x >= 1 AND x < 4)": lambda r: r["x"] * (1 <= r["x"] < 4),
    "SUM(3 - 2 * x)": lambda r: 3 - 2 * r["x"],
    "SUM(x * x)": lambda r: r["x"] ** 2,
    "SUM(x * y)": lambda r: r["x"] * r["y"],
    "SUM(z / (y + 10))": lambda r: r["z"] / (r["y"] + 10),
    "SUM(CASE WHEN s = 'a' THEN x ELSE y END)": lambda r: r["x"] if r["s"] == "a" else r["y"],
    "SUM(FLOOR(y))": lambda r: np.floor(r["y"]),
    "SUM(x) - 2 * SUM(y)": lambda r: r["x"] - 2 * r["y"],
}


def bound(query: Query) -> Fraction:
    return sum(query.blur.values(), Fraction(0))


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_no_record_is_off_by_more_in_python(name):
    expression, written = EXPRESSIONS[name]
    query = expression.on(DOMAIN)
    off = max(abs(float(used(query, row)) - float(written(row))) for row in raw_rows())
    assert off <= float(bound(query)) + 1e-9
    assert off > float(bound(query)) / 20  # of some use: not just anything large


@pytest.mark.parametrize("text", STATEMENTS)
def test_no_record_is_off_by_more_in_sql(text):
    (block,) = parse(f"SELECT {text} FROM t", DOMAIN).blocks
    query = block.inside
    off = max(abs(float(used(query, r)) - float(STATEMENTS[text](r))) for r in raw_rows())
    assert off <= float(bound(query)) + 1e-6
    assert off > float(bound(query)) / 20


def test_a_bound_that_is_too_small_is_caught():
    """Positive control: half of the bound does not hold."""
    query = eke.total("x").on(DOMAIN)
    off = max(abs(float(used(query, row)) - float(row["x"])) for row in raw_rows())
    assert off > float(bound(query)) / 2


def test_what_is_exact_has_none_and_is_named():
    assert eke.total("z", s="a").on(DOMAIN).blur == {"z": 0, "s": 0}
    assert eke.count(x=(0, 4)).on(DOMAIN).blur == {"x": 0}
    assert eke.count().on(DOMAIN).blur == NO_BLUR
    assert parse("SELECT COUNT(*) FROM t WHERE x < 4", DOMAIN).reads == {"x"}


def test_a_condition_that_is_always_true_is_read_nevertheless():
    assert parse("SELECT COUNT(*) FROM t WHERE s IN ('a', 'b')", DOMAIN).reads == {"s"}
    assert "s" in eke.count(s=["a", "b"]).on(DOMAIN).blur


def test_only_bins_that_meet_the_condition_matter():
    assert eke.total("x", x=(0, 1)).on(DOMAIN).blur["x"] == Fraction(1, 2)
    (block,) = parse("SELECT SUM(x) FROM t WHERE x < 4", DOMAIN).blocks
    assert block.inside.blur["x"] == Fraction(3, 2)


def test_a_divisor_that_may_be_zero_within_its_bins_is_refused():
    with pytest.raises(eke.EkeError, match="may be zero"):
        parse("SELECT SUM(z / (x - 0.75)) FROM t", DOMAIN)


def test_the_arithmetic_of_bounds():
    one, other = {"x": Fraction(1)}, {"x": Fraction(2), "z": Fraction(0)}
    assert added([one, other]) == {"x": 3, "z": 0}
    assert scaled(other, Fraction(-3)) == {"x": 6, "z": 0}
    assert widest(one, other) == {"x": 2, "z": 0}
    within = Fraction(-4), Fraction(3)
    assert multiplied(one, lambda: within, {"z": Fraction(0)}, lambda: within) == {"x": 4, "z": 0}
    assert multiplied(one, lambda: within, one, lambda: within) == {"x": 10}
