"""Coarse marginals: counts over groups of values, no finer than the noise lets anyone see.

A pair of attributes with a hundred values each has ten thousand cells, most of them below the
noise. Values are therefore grouped by what the noisy one-dimensional marginals already say: values
of ordered attributes with their neighbours, rare categories together. A record is in exactly one
group, so a coarse marginal costs what a fine one does, and its noise is spread over far fewer
cells. Inside a group the published table follows the one-dimensional marginal, and of two ordered
columns their association (`association.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import QueryError
from eke.query import Kronecker, Query, Term

Labels = NDArray[np.int64]  # the group of each value of an attribute


@dataclass(frozen=True, slots=True, eq=False)
class CoarseMarginal:
    """A block of disjoint counts: one for each combination of groups of values."""

    domain: Domain
    attributes: tuple[str, ...]
    groups: tuple[Labels, ...]  # one for each attribute

    def __post_init__(self) -> None:
        if self.attributes != self.domain.in_order(self.attributes) or not self.attributes:
            raise QueryError("a coarse marginal's attributes must be in the domain's order")
        for name, labels in zip(self.attributes, self.groups, strict=True):
            used = np.unique(labels)
            if labels.shape != (self.domain[name].size,) or used.tolist() != [*range(len(used))]:
                raise QueryError(f"the groups of {name!r} must number all its values, from 0 on")

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(int(labels.max()) + 1 for labels in self.groups)

    @property
    def cells(self) -> int:
        return math.prod(self.shape)

    @property
    def coefficients(self) -> int:
        """How many numbers the matrices of its block hold."""
        return sum(size * len(labels) for size, labels in zip(self.shape, self.groups, strict=True))

    def queries(self) -> Iterator[Query]:
        """The counts one by one, in C order; a record adds one to exactly one of them."""
        for codes in np.ndindex(*self.shape):
            factors = tuple(
                (name, (labels == code).astype(np.int64))
                for name, labels, code in zip(self.attributes, self.groups, codes, strict=True)
            )
            yield Query.of(self.domain, [Term(Fraction(1), factors)])

    def block(self) -> Kronecker:
        """The same counts as one block of products, which the engine can release at once."""
        matrices = tuple(
            (labels == np.arange(size)[:, None]).astype(np.int64)
            for labels, size in zip(self.groups, self.shape, strict=True)
        )
        return Kronecker(self.domain, self.attributes, matrices)

    def of_counts(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The coarse counts of a fine marginal over the same attributes; shape (cells,)."""
        fine = self.domain.sizes(self.attributes)
        place = np.zeros(fine, np.int64)
        for axis, (labels, size) in enumerate(zip(self.groups, self.shape, strict=True)):
            along = [-1 if k == axis else 1 for k in range(len(fine))]
            place = place * size + labels.reshape(along)
        total = np.zeros(self.cells, np.int64)
        np.add.at(total, place.reshape(-1), np.asarray(counts).reshape(-1))
        return total


def groups_of_values(
    domain: Domain, shares: Mapping[str, FloatArray], *, most: int, least_share: float = 0.0
) -> dict[str, Labels]:
    """The groups of every attribute, from estimated shares of its values.

    Ordered values join their neighbours until a group holds about 1/most of the records and of
    their spread, each counting half, and `least_share` of the records at least: few records far
    out tell as much about sums and correlations as many in the middle. What is missing is no
    neighbour of the largest values. A categorical value stays by itself if it holds
    `least_share`, and the rare ones share a group. Privacy: free; it reads released values only.
    """
    result = {}
    for name, attribute in domain.attributes:
        given = np.maximum(shares[name], 0.0)
        total = float(given.sum())
        even = np.full(len(given), 1.0 / len(given))
        share = given / total if total > 0.0 else even
        if attribute.is_ordered:
            numbers = sum(value is not None for value in attribute.cell_values)
            labels = _neighbours(share[:numbers], max(1.0 / most, least_share), least_share)
            rest = share[numbers:]
            if len(rest):  # the bucket of what is missing, after the numbers
                alone = float(rest.sum()) >= least_share
                labels = np.append(labels, np.full(len(rest), labels[-1] + alone))
            result[name] = labels
        else:
            result[name] = _common(share, least_share)
    return result


def _neighbours(share: FloatArray, enough: float, least: float) -> Labels:
    labels = np.zeros(len(share), np.int64)
    places = np.arange(len(share))
    spread = share * (places - np.average(places, weights=share + 1e-12)) ** 2
    weights = 0.5 * (share + spread * (share.sum() / max(float(spread.sum()), 1e-300)))
    group, held, weight = 0, 0.0, 0.0
    for value, (portion, more) in enumerate(zip(share, weights, strict=True)):
        if held >= least and (weight >= enough or (more >= enough and held > least)):
            group, held, weight = group + 1, 0.0, 0.0
        labels[value] = group
        held += float(portion)
        weight += float(more)
    if held < least and group > 0:
        labels[labels == group] = group - 1
    return labels


def _common(share: FloatArray, least: float) -> Labels:
    order = np.argsort(-share, kind="stable")
    common = [int(v) for v in order if share[v] >= least] or [int(order[0])]
    rare = [int(v) for v in order if int(v) not in set(common)]
    labels = np.zeros(len(share), np.int64)
    for group, value in enumerate(common):
        labels[value] = group
    alone = len(common) == 1 or float(share[rare].sum()) >= 0.5 * least
    labels[rare] = len(common) if rare and alone else len(common) - 1
    return labels
