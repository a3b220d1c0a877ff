"""The slow twin of `eke.query`: questions as plain trees, evaluated cell by cell from labels.

Nothing here uses the package's terms, vectors or codes. A question says what it means at one cell,
given by the labels of its attributes; everything else is enumeration over all cells.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from eke.domain import Domain
from eke.query import Expression, Query, constant, count, moment, table

Cell = Mapping[str, Any]
"""The label of each attribute at one cell."""


# -- cells ---------------------------------------------------------------------------------------


def cells(domain: Domain) -> list[Cell]:
    """All cells in C order."""
    labels = [attribute.labels for _, attribute in domain.attributes]
    return [dict(zip(domain.names, one, strict=True)) for one in itertools.product(*labels)]


def codes(domain: Domain) -> np.ndarray:
    """The codes of all cells in C order; shape (cells, attributes)."""
    return np.array(list(itertools.product(*(range(n) for n in domain.shape))), np.int64)


def meets(label: Any, condition: Any) -> bool:
    """Whether a label meets a condition, straight from the words of the documentation."""
    if isinstance(condition, (list, set, frozenset)):
        return any(meets(label, one) for one in condition)
    if label is None or condition is None:
        return label is None and condition is None
    if not isinstance(condition, tuple):
        return bool(label == condition)
    low, high = condition
    first, last = label if isinstance(label, tuple) else (label, label)
    return (low is None or low <= first) and (high is None or last <= high)


def number(label: Any) -> Fraction:
    """What a label counts for in a sum."""
    if label is None:
        return Fraction(0)
    if isinstance(label, tuple):
        return (Fraction(label[0]) + Fraction(label[1])) / 2
    return Fraction(int(label))


# -- questions -----------------------------------------------------------------------------------


class Question:
    """A question that can be put to eke and, independently, evaluated at one cell."""

    def expression(self) -> Expression:
        raise NotImplementedError

    def at(self, cell: Cell) -> Fraction:
        """The coefficient of a cell, without constants."""
        raise NotImplementedError

    def offset(self) -> Fraction:
        return Fraction(0)


@dataclass(frozen=True)
class Count(Question):
    where: dict[str, Any] = field(default_factory=dict)

    def expression(self) -> Expression:
        return count(self.where)

    def at(self, cell: Cell) -> Fraction:
        return Fraction(all(meets(cell[name], c) for name, c in self.where.items()))


@dataclass(frozen=True)
class Moment(Question):
    powers: dict[str, int]
    where: dict[str, Any] = field(default_factory=dict)

    def expression(self) -> Expression:
        return moment(self.powers, where=self.where)

    def at(self, cell: Cell) -> Fraction:
        if not all(meets(cell[name], c) for name, c in self.where.items()):
            return Fraction(0)
        return math.prod((number(cell[n]) ** p for n, p in self.powers.items()), start=Fraction(1))


@dataclass(frozen=True)
class Table(Question):
    """Coefficients by labels; every combination of labels is listed."""

    names: tuple[str, ...]
    labels: tuple[tuple[Any, ...], ...]
    values: dict[tuple[Any, ...], Fraction]

    def expression(self) -> Expression:
        shape = [len(one) for one in self.labels]
        flat = np.empty(math.prod(shape), object)
        flat[:] = [self.values[key] for key in itertools.product(*self.labels)]
        return table(self.names, flat.reshape(shape))

    def at(self, cell: Cell) -> Fraction:
        return self.values[tuple(cell[name] for name in self.names)]


@dataclass(frozen=True)
class Constant(Question):
    value: Fraction

    def expression(self) -> Expression:
        return constant(self.value)

    def at(self, cell: Cell) -> Fraction:
        return Fraction(0)

    def offset(self) -> Fraction:
        return self.value


@dataclass(frozen=True)
class Sum(Question):
    parts: tuple[Question, ...]

    def expression(self) -> Expression:
        first, *rest = (part.expression() for part in self.parts)
        for part in rest:
            first = first + part
        return first

    def at(self, cell: Cell) -> Fraction:
        return sum((part.at(cell) for part in self.parts), Fraction(0))

    def offset(self) -> Fraction:
        return sum((part.offset() for part in self.parts), Fraction(0))


@dataclass(frozen=True)
class Scaled(Question):
    factor: Fraction
    part: Question

    def expression(self) -> Expression:
        if self.factor == -1:
            return -self.part.expression()
        if abs(self.factor) < 1 and self.factor:
            return self.part.expression() / (1 / self.factor)
        return self.factor * self.part.expression()

    def at(self, cell: Cell) -> Fraction:
        return self.factor * self.part.at(cell)

    def offset(self) -> Fraction:
        return self.factor * self.part.offset()


# -- dense vectors -------------------------------------------------------------------------------


def dense(question: Question, domain: Domain) -> list[Fraction]:
    """The coefficient of every cell in C order."""
    return [question.at(cell) for cell in cells(domain)]


def written_out(query: Query) -> list[Fraction]:
    """The coefficient of every cell of a query, its products multiplied out one by one."""
    places = {name: i for i, name in enumerate(query.domain.names)}
    values = []
    for cell in codes(query.domain).tolist():
        value = Fraction(0)
        for term in query.terms:
            product = term.weight
            for name, vector in term.factors:
                product *= int(vector[cell[places[name]]])
            value += product
        values.append(value)
    return values


def evaluated(query: Query) -> list[Fraction]:
    """The coefficient of every cell of a query by its own `numerators`."""
    unit = Fraction(2) ** query.exponent
    return [n * unit for n in query.numerators(query.domain.names, codes(query.domain))]


def as_table(question: Question, domain: Domain) -> Table:
    """The same question (without its constant) as one table over all attributes."""
    labels = tuple(attribute.labels for _, attribute in domain.attributes)
    values = {tuple(cell.values()): question.at(cell) for cell in cells(domain)}
    return Table(domain.names, labels, values)


def prior_cells(domain: Domain, vectors: Mapping[str, Sequence[float]]) -> np.ndarray:
    """The probability of every cell in C order under a product of (unnormalised) vectors."""
    shares = [np.asarray(vectors[n], float) / np.sum(vectors[n]) for n in domain.names]
    return np.array([math.prod(one) for one in itertools.product(*shares)])
