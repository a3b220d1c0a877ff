"""Associations: how two ordered columns go together: a smooth law fitted to noisy tables of them.

P(x, y) ∝ a(x)·b(y)·exp(θ·u(x)·v(y)), where a and b see to it that each column by itself is as it is
known: of all laws with these columns and this mean of u·v the one of maximum entropy (the
linear-by-linear association of Goodman 1979). It is that of y = βx + normal noise, whatever the law
of x. The scores u and v are the values themselves, or normal scores of their ranks. One number is
learnt from a whole table, so noise hardly matters to it; it says what a table in groups of values
cannot: where hardly anybody is, and what goes with what inside a group. Post-processing; counts are
rounded, so that a publication that goes on elsewhere comes to the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.publish.coarse import CoarseMarginal, Labels, groups_of_values

_FITTINGS = 100  # of the columns, by turns
_STRENGTHS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995)
_WEAK = 0.3
_REFINEMENTS = 6
_FINE_GROUPS = 100
_MOST_CELLS = 2**15  # finer than that, nothing is left inside groups
_GRAIN = 1024.0
_EVIDENCE = 9.0  # the misfit, in variances of noise, that one number has to take away
_TINY = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class NoisyPair:
    """Counts over groups of values, and the deviation of their noise."""

    marginal: CoarseMarginal
    values: FloatArray
    deviation: float

    def misfit(self, counts: FloatArray) -> float:
        """The squared distance of counts from these, in variances of the noise."""
        return float(((self.values - counts) ** 2).sum()) / self.deviation**2


@dataclass(frozen=True, slots=True, eq=False)
class Association:
    """Counts of two ordered columns by groups of values, finer than what was measured."""

    fine: CoarseMarginal
    counts: FloatArray  # the shape of `fine`
    gain: float  # the misfit that it takes away from columns that have nothing to do with another

    @staticmethod
    def of(
        domain: Domain,
        shares: Mapping[str, FloatArray],
        total: float,
        tables: Sequence[NoisyPair],
    ) -> Association | None:
        """The law nearest to all tables of a pair; None if independence is as near.

        None as well where columns are measured so finely that there is nothing to be said inside.
        """
        names = tables[0].marginal.attributes
        numbered = Domain({name: domain[name] for name in names})
        groups = groups_of_values(numbered, shares, most=_FINE_GROUPS)
        labels = tuple(
            _refined([groups[name], *(table.marginal.groups[axis] for table in tables)])
            for axis, name in enumerate(names)
        )
        fine = CoarseMarginal(domain, names, labels)
        if fine.cells > _MOST_CELLS or all(table.marginal.cells == fine.cells for table in tables):
            return None
        sides = [
            np.bincount(own, weights=np.maximum(shares[name], 0.0) + _TINY)
            for own, name in zip(labels, names, strict=True)
        ]
        first, second = (side / side.sum() for side in sides)

        def misfit(law: FloatArray) -> float:
            return sum(t.misfit(_gathered(fine, total * law, t.marginal)) for t in tables)

        alone = misfit(np.outer(first, second))
        best, nearest = alone - _EVIDENCE, None
        for scores in (_places, _ranks):
            u, v = scores(first, labels[0]), scores(second, labels[1])
            weak = [misfit(_fitted(first, second, u, sign * v, _WEAK)) for sign in (1.0, -1.0)]
            law = _nearest(first, second, u, v if weak[0] <= weak[1] else -v, misfit)
            if misfit(law) < best:
                best, nearest = misfit(law), law
        if nearest is None:
            return None
        return Association(fine, _rounded(total * nearest), alone - best)

    def expected(self, marginal: CoarseMarginal) -> FloatArray:
        """The counts of one of the tables that it was fitted to."""
        return _gathered(self.fine, self.counts, marginal)

    def inside(self, marginal: CoarseMarginal, wanted: FloatArray) -> FloatArray:
        """Fine counts that add up to these of a table; inside a cell of it they are as here."""
        where = _cells(self.fine, marginal)
        nobody = self.expected(marginal)[where] <= 0.0
        law = np.where(nobody, 1.0, self.counts)  # evenly where the law has nobody
        sums = np.bincount(where.reshape(-1), weights=law.reshape(-1), minlength=marginal.cells)
        return _rounded(law * (np.maximum(wanted, 0.0) / sums)[where]).reshape(-1)


def _rounded(counts: FloatArray) -> FloatArray:
    return np.asarray(np.rint(counts * _GRAIN) / _GRAIN)


def _refined(groupings: Sequence[Labels]) -> Labels:
    """The coarsest groups of neighbours that none of these groupings parts."""
    together = np.stack(groupings)
    begins = np.concatenate([[False], (together[:, 1:] != together[:, :-1]).any(axis=0)])
    return np.cumsum(begins, dtype=np.int64)


def _cells(fine: CoarseMarginal, coarse: CoarseMarginal) -> Labels:
    """The cell of a coarse table for each cell of a fine one; shape of the fine one."""
    sides = []
    for inner, outer in zip(fine.groups, coarse.groups, strict=True):
        side = np.zeros(int(inner.max()) + 1, np.int64)
        side[inner] = outer
        sides.append(side)
    return np.asarray(sides[0][:, np.newaxis] * coarse.shape[1] + sides[1])


def _gathered(fine: CoarseMarginal, counts: FloatArray, coarse: CoarseMarginal) -> FloatArray:
    where = _cells(fine, coarse).reshape(-1)
    sums = np.bincount(where, weights=counts.reshape(-1), minlength=coarse.cells)
    return np.asarray(sums, dtype=np.float64)


def _standard(scores: FloatArray, shares: FloatArray) -> FloatArray:
    apart = scores - float(shares @ scores)
    return np.asarray(apart / max(math.sqrt(float(shares @ apart**2)), _TINY))


def _places(shares: FloatArray, labels: Labels) -> FloatArray:
    """The values, as far as columns number them, of the middle of each group."""
    members = np.bincount(labels)
    middles = np.bincount(labels, weights=np.arange(len(labels))) / members
    return _standard(middles, shares)


def _ranks(shares: FloatArray, labels: Labels) -> FloatArray:  # noqa: ARG001 - like `_places`
    """What a normal column would have at the rank of each group."""
    middles = np.cumsum(shares) - 0.5 * shares
    normal = NormalDist()
    return _standard(
        np.array([normal.inv_cdf(min(max(rank, 1e-9), 1.0 - 1e-9)) for rank in middles]), shares
    )


def _nearest(
    first: FloatArray,
    second: FloatArray,
    u: FloatArray,
    v: FloatArray,
    misfit: Callable[[FloatArray], float],
) -> FloatArray:
    """The law of least misfit: a few strengths, and ever closer ones around the best."""

    def law(strength: float) -> FloatArray:
        return _fitted(first, second, u, v, strength)

    tried = {strength: misfit(law(strength)) for strength in _STRENGTHS}
    order = sorted(tried)
    place = order.index(min(tried, key=lambda strength: tried[strength]))
    low = math.log1p(-order[max(place - 1, 0)])
    high = math.log1p(-order[min(place + 1, len(order) - 1)])
    best = math.log1p(-order[place])
    for _ in range(_REFINEMENTS):
        for other in (0.5 * (low + best), 0.5 * (best + high)):
            strength = -math.expm1(other)
            tried[strength] = misfit(law(strength))
        steps = sorted(math.log1p(-strength) for strength in tried)
        best = math.log1p(-min(tried, key=lambda strength: tried[strength]))
        place = int(np.argmin(np.abs(np.array(steps) - best)))
        high, low = steps[max(place - 1, 0)], steps[min(place + 1, len(steps) - 1)]
    return law(min(tried, key=lambda strength: tried[strength]))


def _fitted(
    first: FloatArray, second: FloatArray, u: FloatArray, v: FloatArray, strength: float
) -> FloatArray:
    """The law whose θ a normal pair of this correlation would have; its columns are as given."""
    theta = strength / (1.0 - strength**2)
    # The square differs from the product by factors of the columns, which are fitted anyway.
    exponent = -0.5 * theta * (u[:, np.newaxis] - v) ** 2
    exponent -= exponent.max(axis=1, keepdims=True)
    exponent -= exponent.max(axis=0, keepdims=True)
    kernel = np.exp(np.maximum(exponent, -600.0))
    across, down = np.ones(len(first)), np.ones(len(second))
    # Sums of NumPy's own: those of BLAS depend on how many threads it has.
    with np.errstate(all="ignore"):
        for _ in range(_FITTINGS):
            across = first / np.einsum("ij,j->i", kernel, down)
            down = second / np.einsum("i,ij->j", across, kernel)
        law = across[:, np.newaxis] * kernel * down
        law /= law.sum()
    return law if np.isfinite(law).all() else np.outer(first, second)
