"""Marginal: a block of queries, one for each combination of values of some attributes.

The cells of a block are disjoint: a record contributes to exactly one of them (weighted by
`inside`, an optional common query that filters or weighs records). So a block costs a record only
once, and it stays one object however many cells it has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.errors import QueryError
from eke.query.block import Names
from eke.query.canonical import Term
from eke.query.linear import Block, Query
from eke.query.own import own_name

MOST_CELLS = 10_000_000
_TOGETHER, _KEPT = 16, 1024
"""Cells are made by so many, and that many times so many of them are kept: some 20 MB."""
_MANY = 4_096  # cells, which then are long themselves, and made one by one


@dataclass(frozen=True, slots=True)
class Marginal(Block):
    """The queries inside(t) · [t = c on the attributes], for every combination c."""

    kind: ClassVar[str] = "marginal"
    attributes: Names = field()
    inside: Query = field()

    def __post_init__(self) -> None:
        domain = self.inside.domain
        if not self.attributes:
            raise QueryError("a marginal needs at least one attribute; for a total use count()")
        if self.attributes != domain.in_order(self.attributes):
            raise QueryError("a marginal's attributes must be in the domain's order, each once")
        if self.cells > MOST_CELLS:
            raise QueryError(
                f"a marginal over {', '.join(self.attributes)} has {self.cells:,} cells; "
                f"at most {MOST_CELLS:,} fit in one release, take fewer attributes"
            )
        if self.inside.constant:
            raise QueryError("a marginal cannot carry a constant")

    @property
    def domain(self) -> Domain:
        return self.inside.domain

    @property
    def shape(self) -> tuple[int, ...]:
        return self.domain.sizes(self.attributes)

    @property
    def exponent(self) -> int:
        """That of `inside`, whose coefficients are all there are."""
        return self.inside.exponent

    @property
    def grouped(self) -> Names:
        return self.attributes

    @property
    def matrices(self) -> None:
        """None: identities, as large as the attributes squared, are not written out."""

    def with_inside(self, inside: Query) -> Marginal:
        """Another question in the same cells."""
        return Marginal(self.attributes, inside)

    def cell(self, index: int) -> Query:
        """The query of one cell, by its flat index in C order."""
        if not 0 <= index < self.cells:
            raise QueryError(f"the marginal has cells 0 to {self.cells - 1}, not {index}")
        if self.cells > _MANY:  # then few of them are looked at
            return _cell(self, index)
        return _neighbours(self, index // _TOGETHER)[index % _TOGETHER]

    def queries(self) -> Iterator[Query]:
        for number in range(-(-self.cells // _TOGETHER)):
            yield from _neighbours(self, number)

    def keys(self) -> list[tuple[object, ...]]:
        """The labels of each cell, in order: exactly the declared values, whatever the data."""
        labels = [self.domain[name].labels for name in self.attributes]
        return [
            tuple(label[code] for label, code in zip(labels, index, strict=True))
            for index in np.ndindex(*self.shape)
        ]

    def reach(self, _: int) -> None:
        """None: a record contributes to one cell, with the coefficient of `inside`."""

    def exact_answers(
        self, attributes: Sequence[str], codes: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> list[int]:
        """The exact answer of each cell, in units of 2^exponent.

        Privacy: sums of Python integers.
        """
        coefficients = self.inside.numerators(attributes, codes)
        columns = [attributes.index(name) for name in self.attributes]
        flat = np.ravel_multi_index(tuple(codes[:, columns].T), self.shape)
        totals = [0] * self.cells
        for cell, coefficient, number in zip(flat.tolist(), coefficients, counts, strict=True):
            totals[cell] += coefficient * int(number)
        return totals

    @property
    def people(self) -> bool:
        return self.inside.people

    def exact_people(
        self, attributes: Sequence[str], codes: NDArray[np.int64], holders: NDArray[np.int64]
    ) -> list[int]:
        """The exact number of people with a record in each cell, times what each counts for."""
        met = np.array([number != 0 for number in self.inside.numerators(attributes, codes)], bool)
        columns = [attributes.index(name) for name in self.attributes]
        flat = np.ravel_multi_index(tuple(codes[met][:, columns].T), self.shape)
        pairs = np.unique(np.stack([flat, holders[met]], axis=1), axis=0)
        each = self.inside.people_weight
        return [each * int(number) for number in np.bincount(pairs[:, 0], minlength=self.cells)]

    def rebuilt(self, domain: Domain) -> Marginal:
        return Marginal(tuple(map(own_name, self.attributes)), self.inside.rebuilt(domain))

    @property
    def description(self) -> str:
        return f"{self.inside.description} by {', '.join(self.attributes)}"

    def to_document(self) -> dict[str, Any]:
        return {"marginal": list(self.attributes), "inside": self.inside.to_document()}

    @staticmethod
    def from_document(domain: Domain, document: Mapping[str, Any]) -> Marginal:
        """The block that `to_document` wrote down."""
        if not isinstance(document, Mapping) or set(document) != {"marginal", "inside"}:
            raise QueryError("not a marginal document: it needs 'marginal' and 'inside'")
        names = document["marginal"]
        if not isinstance(names, list) or any(name not in domain for name in names):
            raise QueryError(
                "not a marginal document: 'marginal' must list the domain's attributes"
            )
        return Marginal(tuple(names), Query.from_document(domain, document["inside"]))


@lru_cache(maxsize=_KEPT)
def _neighbours(block: Marginal, number: int) -> tuple[Query, ...]:
    """Some cells that follow each other: canonical forms take time, and plans list them often."""
    first = number * _TOGETHER
    return tuple(_cell(block, i) for i in range(first, min(first + _TOGETHER, block.cells)))


def _cell(block: Marginal, index: int) -> Query:
    codes = np.unravel_index(index, block.shape)
    factors = []
    for name, size, code in zip(block.attributes, block.shape, codes, strict=True):
        indicator = np.zeros(size, np.int64)
        indicator[code] = 1
        factors.append((name, indicator))
    here = Query.of(block.domain, [Term(Fraction(1), tuple(factors))])
    return here.pointwise(block.inside)
