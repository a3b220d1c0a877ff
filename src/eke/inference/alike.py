"""Alike: which cells of a table history knows equally well, so that one error law serves them all.

Swapping two values of an attribute is a renaming. Where it maps everything that was released to
itself (tables of counts as tables, and every single answer to one with the same noise), the best
linear estimate of a cell becomes that of the renamed cell, with the weights renamed: both errors
have one law. So a table of a hundred thousand cells has as many laws as there are combinations of
values that history tells apart, which are few: mostly one.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eke.history import Row
from eke.query.canonical import Term
from eke.query.runs import at_codes, content, dense

_MOST_SINGLES = 64  # classes among values that answers treat differently from all others
_MOST_LOOKED_AT = 2**27  # entries of the vectors of one attribute
_MOST_SWAPPED = 2**22  # the same, where values are swapped
Classes = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Alike:
    """The kinds of cells of a table: the kind of each, and a cell of each kind."""

    kinds: Classes  # (cells,) in C order
    examples: Classes  # (kinds,)


def alike(classes: Sequence[Classes]) -> Alike:
    """The kinds of the cells of a table, from the classes of the values along each axis."""
    sizes = tuple(int(one.max()) + 1 for one in classes)
    grid = np.ix_(*classes)
    kinds = np.ravel_multi_index(np.broadcast_arrays(*grid), sizes).reshape(-1)
    _, examples, kinds = np.unique(kinds, return_index=True, return_inverse=True)
    return Alike(kinds.astype(np.intp), examples.astype(np.intp))


def value_classes(rows: Sequence[Row], name: str, size: int) -> Classes:
    """The values of an attribute in classes: those of one class can be swapped.

    Values that no answer tells apart are alike. None of several such values can be swapped with any
    other one: the swapped answers would tell it apart from its doubles, which no answer does. So
    the swaps to look at are those among values without a double. Those that are not looked at,
    because there are too many or they differ too much, are classes of their own.
    """
    answers = [row for row in rows if name in row.query.attributes]
    terms = [term for row in answers for term in row.query.terms]
    if size * len(terms) > _MOST_LOOKED_AT:
        return np.arange(size)
    firsts, classes = _not_told_apart(terms, name, size)
    singles = np.flatnonzero(np.bincount(classes) == 1)
    if len(singles) > 1 and len(firsts) * len(terms) <= _MOST_SWAPPED:
        held = [_Held.of(row, name, firsts) for row in answers]
        classes = _joined(held, singles, len(firsts))[classes]
    return _numbered(classes)


def _not_told_apart(terms: Sequence[Term], name: str, size: int) -> tuple[Classes, Classes]:
    """A value of each class of those at which all terms are equal, and the class of each value.

    They are found by a random sum of the terms' vectors, and then compared.
    """
    draw = np.random.default_rng(0)
    sums = np.zeros(size, np.uint64)
    for vector in _vectors(terms, name):
        sums += vector.astype(np.uint64) * draw.integers(2**64, dtype=np.uint64)
    _, firsts, classes = np.unique(sums, return_index=True, return_inverse=True)
    if not all(np.array_equal(one, one[firsts][classes]) for one in _vectors(terms, name)):
        firsts = classes = np.arange(size)  # two sums that are equal by chance
    return firsts, classes


def _vectors(terms: Sequence[Term], name: str) -> Iterator[NDArray[np.int64]]:
    """Those along one attribute, one at a time: each may be as long as a million values."""
    return (dense(vector) for term in terms for n, vector in term.vectors if n == name)


def _joined(held: Sequence[_Held], singles: Classes, count: int) -> Classes:
    """The classes, from 0 up to a count, where those of single values are joined by swaps."""
    signatures = _signatures(held)
    vectors = np.concatenate([answer.vectors for answer in held])
    owners = np.repeat(np.arange(len(held)), [len(answer.vectors) for answer in held])
    joined = np.arange(count)

    def swappable(one: int, other: int) -> bool:
        moved = np.unique(owners[vectors[:, one] != vectors[:, other]])
        return _swappable([held[place] for place in moved.tolist()], one, other)

    leaders: list[int] = []  # a value of each class
    for value in singles:
        alike_to = (
            one for one in leaders if signatures[one] == signatures[value] and swappable(one, value)
        )
        joined[value] = next(alike_to, value)
        if joined[value] == value:
            leaders.append(int(value))
            if len(leaders) > _MOST_SINGLES:
                return np.arange(count)
    return joined


def _numbered(classes: Classes) -> Classes:
    """The same classes, with numbers in the order of their first values."""
    _, firsts, places = np.unique(classes, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(firsts))[places]


def kinds_of(classes: Sequence[Classes]) -> int:
    """How many kinds of cells there are, without listing the cells."""
    return math.prod(int(one.max()) + 1 for one in classes)


@dataclass(frozen=True, slots=True)
class _Held:
    """A single answer, its vectors at some values of one attribute apart from all else."""

    rest: tuple[tuple[Hashable, ...], ...]  # of each term: noise, what is counted, other factors
    vectors: NDArray[np.int64]  # (terms, values)

    @staticmethod
    def of(row: Row, name: str, values: Classes) -> _Held:
        rest, vectors = [], []
        for term in row.query.terms:
            factor = dict(term.vectors).get(name)
            others = tuple((n, content(vector)) for n, vector in term.vectors if n != name)
            rest.append((row.law, row.query.people, term.weight, factor is None, others))
            none = np.ones(len(values), np.int64)
            vectors.append(none if factor is None else at_codes(factor, values))
        return _Held(tuple(rest), np.array(vectors, np.int64))

    def key(self, order: NDArray[np.intp] | None = None) -> Hashable:
        """Equal for equal answers, with the values in another order if one is given."""
        vectors = self.vectors if order is None else self.vectors[:, order]
        texts = [vector.tobytes() for vector in vectors]
        return frozenset(Counter(zip(self.rest, texts, strict=True)).items())


def _swappable(moved: Sequence[_Held], one: int, other: int) -> bool:
    """Whether swapping two values maps the answers to themselves, of which it moves these."""
    if not moved:
        return True
    order = np.arange(moved[0].vectors.shape[1])
    order[[one, other]] = other, one
    return Counter(a.key() for a in moved) == Counter(a.key(order) for a in moved)


def _signatures(held: Sequence[_Held]) -> list[bytes]:
    """What terms with equal entries have at each value: the same at values that can be swapped.

    Swapping two values maps a term to one with the same rest and the same entries.
    """
    rests = [rest for answer in held for rest in answer.rest]
    vectors = np.concatenate([answer.vectors for answer in held])
    entries = np.sort(vectors, axis=1)
    terms: dict[Hashable, list[int]] = {}
    for place, rest in enumerate(rests):
        terms.setdefault((rest, entries[place].tobytes()), []).append(place)
    for places in terms.values():
        if len(places) > 1:
            vectors[places] = np.sort(vectors[places], axis=0)
    return [column.tobytes() for column in np.ascontiguousarray(vectors.T)]
