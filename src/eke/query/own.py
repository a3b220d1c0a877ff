"""Own: numbers and names of a question as Python's own, for the junction's copy of it.

An integer or a text of a derived class may say one thing to whoever works out a price and another
to whoever counts; so may the integers that a Fraction is made of.
"""

from __future__ import annotations

from fractions import Fraction

from eke.errors import PrivacyError


def own_fraction(number: object) -> Fraction:
    """A new Fraction of the same two integers, which are exactly ints.

    Privacy: nobody else holds the copy, and its parts have Python's own arithmetic.
    """
    if type(number) is Fraction:
        over, under = number.numerator, number.denominator
        if type(over) is int and type(under) is int and under > 0:
            return Fraction(over, under)
    raise PrivacyError("a number of a question is a Fraction of two plain integers")


def own_name(name: object) -> str:
    """The name, if it is exactly a text."""
    if type(name) is not str:
        raise PrivacyError("a column of a question is named by a plain text")
    return name
