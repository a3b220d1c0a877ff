"""Basics: the sums that the aggregates of a statement are made of, each with a place.

A basic aggregate adds up a function over the records that meet a condition, in its own group or,
within a window or a query in parentheses, in others. Aggregates are weighted sums of these.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias

from eke.errors import QueryError
from eke.query import Query, Term
from eke.query.blur import NO_BLUR, Blur, added, scaled, widest
from eke.query.canonical import DENSE_CELLS
from eke.query.people import APART
from eke.sql.diagram import Diagram
from eke.sql.draft import Linear
from eke.sql.frame import Everywhere, Frame
from eke.sql.logic import same_as
from eke.sql.polynomial import Polynomial, constant
from eke.sql.value import Number, Reading, reached_codes, weighted_boxes
from eke.sql.window import Share

Weights: TypeAlias = tuple[tuple[int, Fraction], ...]
"""Places and what they are multiplied by."""
_STEPS_A_TERM = 60
_LONGEST = 2**20
"""Denominators beyond it stay in the coefficients, where long fractions are rounded."""


class Basics:
    """The basic aggregates of one statement."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._terms: list[list[Term]] = []
        # Of places that look elsewhere.
        self._frames: dict[int, tuple[int | None, Frame | Everywhere]] = {}
        self._insides: dict[int | None, Query] = {}
        self._blurs: list[Blur] = []
        self._places: dict[Any, int] = {}
        self._people: set[int] = set()  # places of numbers of people

    def people(self, cells: Diagram) -> Linear:
        """The number of people with a record for which a condition is true."""
        (place, _), *_ = self.sum(constant(Fraction(1)), cells).weights
        key = ("people", place)
        if key not in self._places:
            self._people.add(len(self._terms))
            self._place(key, self._terms[place])
        return Linear(((self._places[key], Fraction(1)),), Fraction(0))

    def apart(self, weights: Weights) -> list[Weights]:
        """The parts that are questions of their own: numbers of people, and all else together."""
        others = tuple(one for one in weights if one[0] not in self._people)
        parts: list[Weights] = [(one,) for one in weights if one[0] in self._people]
        return [others, *parts] if others or not parts else parts

    def sum(self, value: Polynomial, cells: Diagram, blur: Blur = NO_BLUR) -> Linear:
        """The sum of a function over the records for which a condition is true."""
        diagrams = self._reading.diagrams
        cells = diagrams.mapped(same_as, cells, True)
        products = tuple((p.key(), p.weight) for p in value.products)
        key = (products, cells)
        if key not in self._places:
            terms = value.terms(weighted_boxes(diagrams, cells))
            self._reading.effort.spend(_STEPS_A_TERM * len(terms) + 20)
            self._place(key, terms)
        place = self._places[key]
        self._blurs[place] = widest(self._blurs[place], blur)
        return Linear(((place, Fraction(1)),), Fraction(0))

    def framed(self, place: int | None, frame: Frame | Everywhere) -> int:
        """The place of a basic aggregate, or of the number 1, in other rows than its own."""
        if place is not None and frame is Everywhere.EVERYWHERE and place in self._frames:
            return place  # of a query within another one
        if place in self._people and frame is not Everywhere.EVERYWHERE:
            raise QueryError(APART)
        key = ("frame", place, frame)
        if key not in self._places:
            self._frames[len(self._terms)] = place, frame
            if place in self._people:
                self._people.add(len(self._terms))
            self._place(key, [])
        return self._places[key]

    def blur(self, number: Number, cells: Diagram) -> Blur:
        """How far a number may be off in some cells: of one column, in the bins that occur."""
        line = number.line
        if line is None or line.attribute is None or not any(number.blur.values()):
            return number.blur
        attribute = self._reading.domain[line.attribute]
        reached = reached_codes(self._reading.diagrams, cells, line.attribute, attribute.size)
        return {line.attribute: abs(line.slope) * attribute.widest_half(reached)}

    def shares(self, weights: Weights) -> list[Share]:
        """What a sum of which some look at other rows is made of; none where none do."""
        if not any(place in self._frames for place, _ in weights):
            return []
        shares = []
        for place, weight in weights:
            frame: Frame | Everywhere | None
            base, frame = self._frames.get(place, (place, None))
            if base is not None and base not in self._insides:
                self._insides[base] = self.query(((base, Fraction(1)),), Fraction(0))
            shares.append(Share(weight, self._insides.get(base), frame))
        return shares

    def unit(self, weights: Weights) -> Fraction:
        """The largest unit in which all coefficients are whole; 1 if they are dyadic anyway."""
        fractions = [w * term.weight for place, w in weights for term in self._terms[place]]
        denominator = math.lcm(*(one.denominator for one in fractions))
        odd = denominator // (denominator & -denominator)
        if odd == 1 or odd > _LONGEST:
            return Fraction(1)
        return Fraction(math.gcd(*(one.numerator for one in fractions)), denominator)

    def query(self, weights: Weights, shift: Fraction) -> Query:
        """The weighted sum, and a number besides, as one query."""
        domain = self._reading.domain
        terms = [Term(w * t.weight, t.vectors) for p, w in weights for t in self._terms[p]]
        names = {name for term in terms for name in term.names}
        support = math.prod(domain[name].size for name in names)
        # Short sums over few cells are brought into canonical form through a table.
        cells = support if len(terms) > 1 and support <= DENSE_CELLS else 0
        self._reading.effort.spend(_STEPS_A_TERM * len(terms) + 2 * cells)
        blur = added(scaled(self._blurs[p], w) for p, w in weights)
        query = Query.of(domain, terms, shift, blur)
        return replace(query, people=True) if weights and weights[0][0] in self._people else query

    def _place(self, key: object, terms: list[Term]) -> None:
        self._places[key] = len(self._terms)
        self._terms.append(terms)
        self._blurs.append(NO_BLUR)
