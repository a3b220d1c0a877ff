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
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eke.history import Row

_MOST_CLASSES = 64
_MOST_LOOKED_AT = 2**22  # entries of the vectors of one attribute
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

    Values that are not looked at, because there are too many or they differ too much, are classes
    of their own.
    """
    held = [_Held.of(row, name) for row in rows if name in row.query.attributes]
    if not held:
        return np.zeros(size, np.intp)
    alone = np.arange(size)
    if size * sum(len(one.vectors) for one in held) > _MOST_LOOKED_AT:
        return alone
    signatures = _signatures(held)
    classes = np.zeros(size, np.intp)
    firsts: list[int] = []  # a value of each class
    for value in range(size):
        for place, first in enumerate(firsts):
            if signatures[first] == signatures[value] and _swappable(held, first, value):
                classes[value] = place
                break
        else:
            classes[value] = len(firsts)
            firsts.append(value)
            if len(firsts) > _MOST_CLASSES:
                return alone
    return classes


def kinds_of(classes: Sequence[Classes]) -> int:
    """How many kinds of cells there are, without listing the cells."""
    return math.prod(int(one.max()) + 1 for one in classes)


@dataclass(frozen=True, slots=True)
class _Held:
    """A single answer, its vectors along one attribute apart from the rest of its terms."""

    rest: tuple[tuple[Hashable, ...], ...]  # of each term: noise, weight and other factors
    vectors: NDArray[np.int64]  # (terms, values)

    @staticmethod
    def of(row: Row, name: str) -> _Held:
        rest, vectors = [], []
        for term in row.query.terms:
            factor = dict(term.factors).get(name)
            others = tuple((n, vector.tobytes()) for n, vector in term.factors if n != name)
            rest.append((row.law, term.weight, factor is None, others))
            vectors.append(
                np.ones(row.query.domain[name].size, np.int64) if factor is None else factor
            )
        return _Held(tuple(rest), np.array(vectors, np.int64))

    def moved(self, one: int, other: int) -> bool:
        return not np.array_equal(self.vectors[:, one], self.vectors[:, other])

    def key(self, order: NDArray[np.intp] | None = None) -> Hashable:
        """Equal for equal answers, with the values in another order if one is given."""
        vectors = self.vectors if order is None else self.vectors[:, order]
        texts = [vector.tobytes() for vector in vectors]
        return frozenset(Counter(zip(self.rest, texts, strict=True)).items())


def _swappable(held: Sequence[_Held], one: int, other: int) -> bool:
    """Whether swapping two values maps the answers to themselves."""
    moved = [answer for answer in held if answer.moved(one, other)]
    if not moved:
        return True
    order = np.arange(moved[0].vectors.shape[1])
    order[[one, other]] = other, one
    return Counter(a.key() for a in moved) == Counter(a.key(order) for a in moved)


def _signatures(held: Sequence[_Held]) -> list[bytes]:
    """What the answers have at each value, in no order: equal for values that can be swapped."""
    by_noise: dict[Hashable, list[NDArray[np.int64]]] = {}
    for answer in held:
        for (law, weight, *_), vector in zip(answer.rest, answer.vectors, strict=True):
            by_noise.setdefault((law, weight), []).append(vector)
    parts = [np.sort(np.array(vectors), axis=0) for vectors in by_noise.values()]
    return [column.tobytes() for column in np.ascontiguousarray(np.concatenate(parts).T)]
