"""Polynomials: functions from cells to exact numbers, as sums of products of vectors.

This is the form of a query before its numbers are put on a grid (`query/vector.py`). Vectors are
int64 while their entries fit and Python's own integers beyond, and `Pieces` over wide columns, so
nothing is rounded here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.domain.wide import unlisted
from eke.query import Term
from eke.query.numbers import not_hidden
from eke.query.pieces import Pieces, TooLarge
from eke.query.runs import WIDE
from eke.query.vector import HIGHEST_ADDED, SAFE, grid_step, integer_vector
from eke.sql.diagram import Box

Dense: TypeAlias = NDArray[Any]  # int64, or object holding Python integers
Vector: TypeAlias = Dense | Pieces
MOST_TERMS = 256
"""Products in one sum; expressions that need more are refused."""
_MOST_BITS = 512
_MOST_WIDE = 2**16


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """weight · Π factor(attribute)."""

    weight: Fraction
    factors: dict[str, Vector]

    def key(self) -> tuple[tuple[str, Any], ...]:
        return tuple((name, _bytes(self.factors[name])) for name in sorted(self.factors))


@dataclass(frozen=True, slots=True, eq=False)
class Polynomial:
    """A sum of products; terms of one attribute (and the constant) are always added up."""

    products: tuple[Product, ...]

    @property
    def attributes(self) -> frozenset[str]:
        return frozenset(name for product in self.products for name in product.factors)

    def extremes(self) -> tuple[Fraction, Fraction]:
        """A lower and an upper bound on the function, whatever the cell."""
        height = sum(
            (abs(p.weight) * math.prod(map(height_of, p.factors.values())) for p in self.products),
            Fraction(0),
        )
        return -height, height

    def __add__(self, other: Polynomial) -> Polynomial:
        return _merged([*self.products, *other.products])

    def __mul__(self, other: Polynomial) -> Polynomial:
        if len(self.products) * len(other.products) > 4 * MOST_TERMS:
            raise TooLarge("the product has too many terms; multiply fewer sums with each other")
        return _merged([_times(a, b) for a in self.products for b in other.products])

    def scaled(self, factor: Fraction) -> Polynomial:
        return _merged([Product(factor * p.weight, p.factors) for p in self.products])

    def within(self, boxes: Iterable[tuple[int, Box]]) -> Polynomial:
        """The function times a sum of boxes with weights."""
        return self * Polynomial(tuple(Product(Fraction(w), dict(box)) for w, box in boxes))

    def vector(self, domain: Domain, name: str) -> tuple[Fraction, Dense]:
        """(unit, whole numbers) of a function of one attribute alone."""
        return self.table(domain, (name,))

    def pieces(self, domain: Domain, name: str) -> tuple[Fraction, Pieces]:
        """The same of a wide attribute."""
        denominator = math.lcm(*(p.weight.denominator for p in self.products))
        total = Pieces.constant(domain[name].size, 0)
        for product in self.products:
            factor = product.factors.get(name, Pieces.constant(domain[name].size, 1))
            if not isinstance(factor, Pieces):
                raise TypeError("the column is listed")
            total = total + factor * int(product.weight * denominator)
        return Fraction(1, denominator), total

    def table(self, domain: Domain, names: Sequence[str]) -> tuple[Fraction, Dense]:
        """(unit, whole numbers) of the function over all combinations of some attributes."""
        shape = domain.sizes(names)
        denominator = math.lcm(*(p.weight.denominator for p in self.products))
        wide_ones = [name for name in names if domain[name].is_wide]
        if wide_ones:
            raise TooLarge(f"{wide_ones[0]}: {unlisted(domain[wide_ones[0]].size)}")
        total: Dense = np.zeros(shape, np.int64)
        for product in self.products:
            part: Any = np.ones((1,) * len(names), np.int64)
            for name, factor in product.factors.items():
                if isinstance(factor, Pieces):
                    raise TypeError("the column is wide")
                along = [1] * len(names)
                along[names.index(name)] = -1
                part = _multiplied(part, factor.reshape(along))
            total = _added(total, grown(part, int(product.weight * denominator)))
        return Fraction(1, denominator), total

    def terms(self, boxes: Sequence[tuple[int, Box]]) -> list[Term]:
        """The terms of a query: the function within a sum of boxes.

        Each vector is put on the coefficient grid by itself and before it is cut, as
        `eke.moment` does, so that both ways to ask meet.
        """
        if len(self.products) * len(boxes) > MOST_TERMS:
            raise TooLarge(
                f"the question has more than {MOST_TERMS} terms; use fewer columns in its "
                "conditions or ask for the parts one by one"
            )
        return [
            _cut(_gridded(product), weight, box)
            for product in self.products
            for weight, box in boxes
        ]


def constant(number: Fraction) -> Polynomial:
    """The function that is the same number everywhere."""
    return _merged([Product(number, {})])


def summed(parts: Sequence[Polynomial]) -> Polynomial:
    """The sum of many functions, merged once."""
    products = [product for part in parts for product in part.products]
    if len(products) > 4 * MOST_TERMS:
        raise TooLarge("the expression has too many terms; use fewer columns or branches")
    return _merged(products)


def column(name: str, whole: Sequence[int] | Vector, unit: int = 1) -> Polynomial:
    """The function that gives each code of an attribute its number, whole[code] / unit."""
    if isinstance(whole, Pieces):
        return _merged([Product(Fraction(1, unit), {name: whole})])
    if not isinstance(whole, np.ndarray) or whole.dtype == object:
        fits = max(map(abs, whole), default=0) < SAFE
        whole = np.array(whole, np.int64 if fits else object)
    return _merged([Product(Fraction(1, unit), {name: whole})])


def tabled(names: Sequence[str], whole: Dense, unit: int) -> Polynomial:
    """The function with the number whole[codes] / unit for the codes of some attributes.

    One attribute stays a vector; the others part it into slices, equal ones taken together.
    """
    if not names:
        return constant(Fraction(int(whole), unit))
    if len(names) == 1:
        return column(names[0], whole, unit)
    axis = int(np.argmin(whole.shape))
    slices: dict[Any, list[int]] = {}
    rows = np.moveaxis(whole, axis, 0)
    for code, row in enumerate(rows):
        slices.setdefault(_bytes(np.ascontiguousarray(row)), []).append(code)
    if len(slices) > MOST_TERMS:
        raise TooLarge("the expression has too many terms; use smaller columns")
    rest = [name for place, name in enumerate(names) if place != axis]
    parts = []
    for codes in slices.values():
        chosen = np.zeros(len(rows), np.int64)
        chosen[codes] = 1
        inner = tabled(rest, np.ascontiguousarray(rows[codes[0]]), unit)
        parts.append(inner * Polynomial((Product(Fraction(1), {names[axis]: chosen}),)))
    return summed(parts)


def height_of(vector: Vector) -> int:
    """The largest number without its sign."""
    if isinstance(vector, Pieces):
        return vector.height
    return max(abs(int(vector.max())), abs(int(vector.min())))


def _is_zero(vector: Vector) -> bool:
    return vector.is_zero if isinstance(vector, Pieces) else not vector.any()


def _bytes(vector: Vector) -> Any:
    if isinstance(vector, Pieces):
        return vector.key
    return vector.tobytes() if vector.dtype != object else tuple(vector.reshape(-1).tolist())


def _multiplied(first: Any, second: Any) -> Any:
    height = height_of(first) * height_of(second)
    if height.bit_length() > _MOST_BITS:
        raise TooLarge("the numbers have too many digits; use lower powers")
    if isinstance(first, Pieces) and isinstance(second, Pieces):
        return first * second
    return first * second if height < SAFE else wide(first) * wide(second)


def grown(vector: Any, factor: int) -> Any:
    """The vector times a whole number, exactly."""
    height = height_of(vector) * abs(factor)
    if height.bit_length() > 2 * _MOST_BITS:
        raise TooLarge("the numbers have too many digits; use lower powers or shorter numbers")
    if isinstance(vector, Pieces):
        return vector * factor
    return vector * factor if height < SAFE else wide(vector) * factor


def _added(first: Any, second: Any) -> Any:
    if isinstance(first, Pieces) and isinstance(second, Pieces):
        return first + second
    if height_of(first) + height_of(second) < SAFE:
        return first + second
    return wide(first) + wide(second)


def wide(vector: Any) -> Dense:
    """The vector in Python's own integers, which are slow: only so many of them are used."""
    if vector.size > _MOST_WIDE:
        raise TooLarge(
            f"the numbers have too many digits for a column of {vector.size:,} values; "
            "use lower powers or fewer values"
        )
    numbers: Dense = vector.astype(object)
    return numbers


def _times(first: Product, second: Product) -> Product:
    factors = dict(first.factors)
    for name, vector in second.factors.items():
        factors[name] = _multiplied(factors[name], vector) if name in factors else vector
    return Product(first.weight * second.weight, factors)


def _merged(products: Iterable[Product]) -> Polynomial:
    """Products with equal factors added up, those of one attribute into one vector."""
    merged: dict[Any, Product] = {}
    for product in products:
        if product.weight == 0 or any(map(_is_zero, product.factors.values())):
            continue
        single = len(product.factors) == 1
        (name, *_) = (*product.factors, "")
        key = name if single else product.key()
        if key not in merged:
            merged[key] = product
        elif single:
            merged[key] = _sum_of_two(name, merged[key], product)
        else:
            merged[key] = Product(merged[key].weight + product.weight, product.factors)
    nonzero = [
        p for p in merged.values() if p.weight and not any(map(_is_zero, p.factors.values()))
    ]
    if len(nonzero) > MOST_TERMS:
        raise TooLarge(
            f"the expression has more than {MOST_TERMS} terms; use fewer columns at a time"
        )
    if any(max(abs(p.weight.numerator), p.weight.denominator) >> 2 * _MOST_BITS for p in nonzero):
        raise TooLarge("the numbers have too many digits; use shorter ones")
    return _with_constant(nonzero)


def _with_constant(products: list[Product]) -> Polynomial:
    """A constant next to a function of one attribute becomes part of its vector."""
    singles = [p for p in products if len(p.factors) == 1]
    plain = [p for p in products if not p.factors]
    if len(singles) == 1 and len(products) == 2 and plain:
        (name,) = singles[0].factors
        size = singles[0].factors[name].size
        is_wide = isinstance(singles[0].factors[name], Pieces)
        ones = Pieces.constant(size, 1) if is_wide else np.ones(size, np.int64)
        whole = _sum_of_two(name, singles[0], Product(plain[0].weight, {name: ones}))
        products = [] if _is_zero(whole.factors[name]) else [whole]
    return Polynomial(tuple(products))


def _sum_of_two(name: str, first: Product, second: Product) -> Product:
    denominator = math.lcm(first.weight.denominator, second.weight.denominator)
    total = _added(
        grown(first.factors[name], int(first.weight * denominator)),
        grown(second.factors[name], int(second.weight * denominator)),
    )
    return Product(Fraction(1, denominator), {name: total})


def _gridded(product: Product) -> Product:
    """The product with its vectors on the coefficient grid."""
    weight = product.weight
    factors: dict[str, Vector] = {}
    for name, vector in product.factors.items():
        unit = Fraction(1)
        if isinstance(vector, Pieces):
            factors[name] = vector  # exact, and cut before it is looked at
        else:
            unit, factors[name] = _on_grid(vector)
        weight *= unit
    return Product(weight, factors)


def _check_hidden(name: str, pieces: Pieces) -> None:
    """Raise unless noise can hide a record that adds the largest number of a wide column."""
    if pieces.height >= HIGHEST_ADDED:
        raise TooLarge(f"{name}: {not_hidden(pieces.height)}")


def _on_grid(vector: Dense) -> tuple[Fraction, NDArray[np.int64]]:
    """(unit, whole numbers) of a vector on the coefficient grid, as `integer_vector` puts it.

    Squares of a wide column stay as they are: a polynomial is short when it is written down, and
    its rounded values are a list of all of them.
    """
    height = height_of(vector)
    if height >= SAFE:
        return integer_vector([int(v) for v in vector])
    whole = vector.astype(np.int64)
    step = grid_step(Fraction(height)) if height else Fraction(0)
    if step <= 1 or (len(whole) > WIDE and height < HIGHEST_ADDED):
        return Fraction(1), whole
    # A half goes to the even neighbour, as Python rounds.
    bits = step.numerator.bit_length() - 1
    below, rest = whole >> bits, whole & (step.numerator - 1)
    half = step.numerator // 2
    up = (rest > half) | ((rest == half) & (below % 2 == 1))
    return step, below + up


def _cut(product: Product, weight: int, box: Box) -> Term:
    factors: dict[str, Any] = dict(product.factors)
    for name, chosen in box.items():
        factors[name] = factors[name] * chosen if name in factors else chosen
    for name, vector in factors.items():
        if isinstance(vector, Pieces):
            _check_hidden(name, vector)
    return Term(weight * product.weight, tuple(factors.items()))
