"""Polynomials against arithmetic on single cells."""

import itertools
import operator
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest

from eke.domain import Binned, Domain, Integer
from eke.query import Query, moment
from eke.query.pieces import TooLarge
from eke.sql import polynomial as p

DOMAIN = Domain(a=Integer(-2, 3), b=Integer(0, 2), c=Binned([0, 0.1, 0.5, 7]))
NAMES = DOMAIN.names
A, B, C = (p.column(name, *DOMAIN[name].whole_numbers()) for name in NAMES)


def at(polynomial, cell):
    """The value at one cell, product by product."""
    total = Fraction(0)
    for product in polynomial.products:
        value = product.weight
        for name, vector in product.factors.items():
            value *= int(vector[cell[NAMES.index(name)]])
        total += value
    return total


def values(polynomial):
    return [at(polynomial, cell) for cell in itertools.product(*map(range, DOMAIN.shape))]


@pytest.mark.parametrize(
    ("built", "plain"),
    [
        (A + B, "a + b"),
        (A * B + C, "a * b + c"),
        ((A + B) * (A + C), "(a + b) * (a + c)"),
        (A + p.constant(Fraction(1, 3)), "a + Fraction(1, 3)"),
        (A + A.scaled(Fraction(-1)), "0"),
        (A * A * A * C * C, "a**3 * c**2"),
        (p.constant(Fraction(0)) * A, "0"),
        (p.summed([A, B, A * B, p.constant(Fraction(2))]), "a + b + a * b + 2"),
        ((C * C * C * C).scaled(Fraction(10**30, 7)), "c**4 * Fraction(10**30, 7)"),
    ],
)
def test_values(built, plain):
    numbers = [DOMAIN[name].numbers() for name in NAMES]
    cells = [dict(zip("abc", cell, strict=True)) for cell in itertools.product(*numbers)]
    assert values(built) == [eval(plain, {"Fraction": Fraction}, cell) for cell in cells]
    unit, table = built.table(DOMAIN, NAMES)
    spread = np.broadcast_to(table, DOMAIN.shape).reshape(-1)
    assert [unit * int(v) for v in spread] == values(built)


def test_functions_of_one_attribute_stay_one_product():
    built = (A + p.constant(Fraction(1))) * (A + p.constant(Fraction(-2))) + A
    assert len(built.products) == 1
    assert built.attributes == {"a"}


def test_what_cancels_is_gone():
    assert (A * B + (A * B).scaled(Fraction(-1))).products == ()


@pytest.mark.parametrize("power", [1, 2, 3, 4])
def test_powers_meet_those_of_moment(power):
    """Also where the numbers have to be rounded to the coefficient grid."""
    domain = Domain(x=Integer(0, 50_000), y=Binned([0.1, 0.7, 1e6]))
    for name in domain.names:
        column = built = p.column(name, *domain[name].whole_numbers())
        for _ in range(power - 1):
            built = built * column
        assert Query.of(domain, built.terms([(1, {})])) == moment({name: power}).on(domain)


def test_too_many_terms_and_digits_are_refused():
    wide = Domain({f"x{i}": Integer(0, 9) for i in range(24)})
    columns = [p.column(name, *wide[name].whole_numbers()) for name in wide.names]
    total = p.summed(columns)
    with pytest.raises(TooLarge, match="terms"):
        total * total * total
    with pytest.raises(TooLarge, match="digits"):
        reduce(operator.mul, [A] * 400)
