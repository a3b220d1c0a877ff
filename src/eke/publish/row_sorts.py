"""Row sorts: rows told apart by what public facts say of them, and facts as equations between them.

Values that no fact tells apart share a class, and attributes that a fact names together belong to
one part: the sort of a row in a part is one cell of the table of classes. What facts say is then
how many rows of each sort there are, and which sorts there cannot be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.arrays import Codes
from eke.domain import Domain
from eke.errors import FactError
from eke.history import Assertion
from eke.inference.whole_counts import LARGEST_COEFFICIENT
from eke.query import Query

MOST_SORTS = 2**18
"""Of one part: its table of classes is looked at cell by cell."""
MOST_ENTRIES = 2**22
"""Of all equations together."""
TOO_MANY = (
    "the public facts tell more sorts of rows apart than can be kept to; publish fewer columns "
    "with attributes=[...], or take back facts over many values"
)


@dataclass(frozen=True, slots=True, eq=False)
class PublicNumber:
    """One fact about records: the sum of a question's coefficients over all of them."""

    query: Query
    value: Fraction
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class RowSorts:
    """One part: attributes that facts name together, and the classes of their values."""

    attributes: tuple[str, ...]
    classes: tuple[Codes, ...]  # of the values of each
    numbers: tuple[PublicNumber, ...]  # what is said of it

    @property
    def shape(self) -> tuple[int, ...]:
        """How many classes each attribute has."""
        return tuple(int(classes.max()) + 1 for classes in self.classes)

    @property
    def size(self) -> int:
        """How many sorts there are."""
        return math.prod(self.shape)

    def of_rows(self, columns: Sequence[Codes]) -> Codes:
        """The sort of each row, from its codes in these attributes."""
        labels = [classes[own] for classes, own in zip(self.classes, columns, strict=True)]
        return np.ravel_multi_index(labels, self.shape).astype(np.int64)

    def coefficients(self, query: Query) -> tuple[Codes, Codes]:
        """(sorts, what one row of each adds to a question in units of 2^exponent): those not 0."""
        sums: dict[int, int] = {}
        for term in query.terms:
            vectors = dict(term.factors)
            along = [
                self._by_class(k, vectors[name])
                if name in vectors
                else (np.arange(size), np.ones(size, np.int64))
                for k, (name, size) in enumerate(zip(self.attributes, self.shape, strict=True))
            ]
            if math.prod(len(places) for places, _ in along) > MOST_ENTRIES:
                raise FactError(TOO_MANY)
            weight = int(term.weight / Fraction(2) ** query.exponent)
            sorts, amounts = np.zeros(1, np.int64), np.array([weight], object)
            for (places, factor), size in zip(along, self.shape, strict=True):
                sorts = (sorts[:, None] * size + places).reshape(-1)
                amounts = (amounts[:, None] * factor.astype(object)).reshape(-1)
            for sort, amount in zip(sorts.tolist(), amounts.tolist(), strict=True):
                sums[sort] = sums.get(sort, 0) + amount
        used = sorted(sort for sort, amount in sums.items() if amount)
        if any(abs(sums[sort]) > LARGEST_COEFFICIENT for sort in used):
            raise FactError("the numbers in a public fact are too large to be kept to in rows")
        return np.array(used, np.int64), np.array([sums[sort] for sort in used], np.int64)

    def _by_class(self, place: int, vector: NDArray[np.int64]) -> tuple[Codes, Codes]:
        """The classes where a factor is not 0, and what it is there."""
        by_class = np.zeros(self.shape[place], np.int64)
        by_class[self.classes[place]] = vector
        used = np.flatnonzero(by_class)
        return used, by_class[used]


def public_numbers(facts: Iterable[Assertion]) -> list[PublicNumber]:
    """What facts say of the sums over all records; numbers of people say nothing about rows."""
    return [
        PublicNumber(query, value, query.description)
        for fact in facts
        for query, value in zip(fact.query.queries(), fact.values, strict=True)
        if fact.is_exact and not query.people
    ]


def parts_of(domain: Domain, numbers: Sequence[PublicNumber]) -> list[RowSorts]:
    """The attributes that facts are about, in parts that no fact connects."""
    owner: dict[str, str] = {}
    for number in numbers:
        first, *others = number.query.attributes or ("",)
        for name in (first, *others):
            owner.setdefault(name, name)
        for name in others:
            old, new = owner[name], owner[first]
            owner = {each: new if root == old else root for each, root in owner.items()}
    roots = dict.fromkeys(root for name, root in owner.items() if name)
    return [
        _part(
            domain,
            domain.in_order(name for name, mine in owner.items() if mine == root and name),
            [
                one
                for one in numbers
                if one.query.attributes and owner[one.query.attributes[0]] == root
            ],
        )
        for root in roots
    ]


def _part(domain: Domain, names: tuple[str, ...], numbers: Sequence[PublicNumber]) -> RowSorts:
    classes = tuple(_classes(domain, name, numbers) for name in names)
    sorts = RowSorts(names, classes, tuple(numbers))
    if sorts.size > MOST_SORTS:
        raise FactError(TOO_MANY)
    return sorts


def _classes(domain: Domain, name: str, numbers: Sequence[PublicNumber]) -> Codes:
    """Values share a class if no fact tells them apart."""
    labels = np.zeros(domain[name].size, np.int64)
    for vector in _vectors(name, numbers):
        pairs = np.stack([labels, vector])
        labels = np.unique(pairs, axis=1, return_inverse=True)[1].reshape(-1).astype(np.int64)
    return labels


def _vectors(name: str, numbers: Sequence[PublicNumber]) -> Iterator[NDArray[np.int64]]:
    seen: set[bytes] = set()
    for number in numbers:
        for term in number.query.terms:
            for named, vector in term.factors:
                if named == name and vector.tobytes() not in seen:
                    seen.add(vector.tobytes())
                    yield vector
