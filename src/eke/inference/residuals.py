"""Residuals: generalised least squares of noisy marginals in closed form, for any attribute sizes.

The table of a marginal over A splits into orthogonal components, one for each B ⊆ A: sum out A∖B,
then subtract the mean along every axis that is left. When each cell of a marginal has independent
noise of variance v, its component B has covariance v · n_{A∖B} · P_B, with n the number of cells
and P_B the projector onto centred tables; different components are uncorrelated. So the best linear
estimate is, for each B, the average of the measured components weighted by their precisions, and

    V_B = 1 / Σ_{A ⊇ B} 1 / (v_A · n_{A∖B}),

the estimate of component B having covariance V_B · P_B. A marginal is the sum of its components,
spread evenly over the attributes that they lack, so all estimated marginals agree with each other.
Work and memory grow with the measured cells (times 2^k for k attributes), never with the domain.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from eke.arrays import FloatArray
from eke.errors import EstimateError, QueryError

Names: TypeAlias = tuple[str, ...]


def subsets(names: Sequence[str]) -> Iterator[Names]:
    """Every subset in the given order of names, the empty one first."""
    for length in range(len(names) + 1):
        yield from combinations(names, length)


def closure(marginals: Collection[Names]) -> list[Names]:
    """All subsets of the given sets, each once, smaller ones first."""
    parts = {part for names in marginals for part in subsets(names)}
    return sorted(parts, key=lambda names: (len(names), names))


def components(
    names: Names, table: ArrayLike, wanted: Collection[Names] | None = None
) -> dict[Names, FloatArray]:
    """The component tables of a marginal: of every subset, or of the wanted ones among them."""
    whole = np.asarray(table, np.float64)
    if whole.ndim != len(names):
        raise QueryError(f"a table over {len(names)} attributes needs {len(names)} axes")
    if wanted is None:
        return dict(_split(names, whole, None))
    inside = set(names)
    return dict(_split(names, whole, {w for w in wanted if inside.issuperset(w)}))


def _split(
    names: Names, table: FloatArray, wanted: set[Names] | None
) -> Iterator[tuple[Names, FloatArray]]:
    """Take the last attribute that is not yet decided apart: its sum, and what deviates from it."""
    undecided: list[tuple[int, Names, FloatArray, set[Names] | None]] = [
        (len(names), (), table, wanted)
    ]
    while undecided:
        axis, subset, part, targets = undecided.pop()
        if targets is not None and not targets:
            continue
        if axis == 0:
            yield subset, part
            continue
        axis -= 1
        name, summed = names[axis], part.sum(axis=axis)
        with_it = None if targets is None else {t for t in targets if name in t}
        without = None if targets is None else {t for t in targets if name not in t}
        if without is None or without:
            undecided.append((axis, subset, summed, without))
        if with_it is None or with_it:
            mean = np.expand_dims(summed / part.shape[axis], axis)
            undecided.append((axis, (name, *subset), part - mean, with_it))


def assemble(
    names: Names, sizes: Mapping[str, int], parts: Mapping[Names, FloatArray]
) -> FloatArray:
    """The marginal whose components are given: the inverse of `components`."""
    total = np.zeros([sizes[name] for name in names])
    for subset in subsets(names):
        lacking = [name for name in names if name not in subset]
        spread = math.prod(sizes[name] for name in lacking)
        shape = [sizes[name] if name in subset else 1 for name in names]
        total += parts[subset].reshape(shape) / spread
    return total


class Residuals:
    """What several noisy marginals, and components measured alone, say together.

    With `wanted`, only these component sets are kept; give the closure of the marginals that will
    be asked for when a measured table has many more attributes than they have.
    """

    def __init__(self, sizes: Mapping[str, int], wanted: Collection[Names] | None = None) -> None:
        self.sizes = dict(sizes)
        self._wanted = None if wanted is None else set(wanted)
        self._weighted: dict[Names, FloatArray] = {}  # Σ precision · component
        self._precision: dict[Names, float] = {}
        self._total: float | None = None

    def fix_total(self, total: float) -> None:
        """Take the number of records as known: it is the component of no attributes, exactly.

        Components of different attributes have uncorrelated errors, so no other changes.
        """
        if not math.isfinite(total):
            raise EstimateError("the number of records must be a finite number")
        self._total = float(total)

    def add(self, names: Names, table: ArrayLike, noise_variance: float) -> None:
        """Take in the table of a marginal, each cell with independent noise of this variance."""
        values = self._checked(names, table, noise_variance)
        cells = math.prod(values.shape)
        for subset, part in components(names, values, self._wanted).items():
            merged = cells / math.prod(part.shape)
            self._take(subset, part, 1.0 / (noise_variance * merged))

    def add_component(self, names: Names, table: ArrayLike, noise_variance: float) -> None:
        """Take in a component measured alone, with covariance noise_variance · P.

        What is not centred in the table is noise without meaning, and is left out.
        """
        values = self._checked(names, table, noise_variance)
        if self._wanted is None or names in self._wanted:
            self._take(names, centred(values), 1.0 / noise_variance)

    def add_block(
        self,
        names: Names,
        back_projection: ArrayLike,
        noise_variance: float,
        centred_gains: Sequence[float],
        mean_gains: Sequence[float],
    ) -> None:
        """Take in answers M·x with independent noise, given as the table Mᵀ(answers).

        M is a product over the attributes of matrices whose Gram matrices are α·P + β·J/n, J being
        all ones: then MᵀM multiplies each component by a number, and the normal equations fall
        apart into one for each component. A marginal has α = β = 1.
        """
        values = self._checked(names, back_projection, noise_variance)
        gains = dict(zip(names, zip(centred_gains, mean_gains, strict=True), strict=True))
        for subset, part in components(names, values, self._wanted).items():
            precision = 1.0 / noise_variance
            merged = 1.0
            for name in names:
                if name in subset:
                    precision *= gains[name][0]
                else:
                    precision *= gains[name][1] / self.sizes[name]
                    merged *= self.sizes[name]
            if precision > 0.0:
                self._take(subset, part / (precision * merged * noise_variance), precision)

    def _checked(self, names: Names, table: ArrayLike, noise_variance: float) -> FloatArray:
        values = np.asarray(table, np.float64)
        shape = tuple(self.sizes[name] for name in names)
        if values.shape != shape:
            raise QueryError(f"the table over {', '.join(names)} must have shape {shape}")
        if not noise_variance > 0.0 or not math.isfinite(noise_variance):
            raise EstimateError("the variance of the noise must be positive and finite")
        return values

    def _take(self, subset: Names, part: FloatArray, precision: float) -> None:
        if subset in self._weighted:
            self._weighted[subset] += precision * part
            self._precision[subset] += precision
        else:
            self._weighted[subset] = precision * part
            self._precision[subset] = precision

    def knows(self, names: Names) -> bool:
        """True when the marginal follows from what was taken in."""
        return all(
            s in self._precision or self._is_constant(s) or self._is_fixed(s)
            for s in subsets(names)
        )

    def variance(self, names: Names) -> float:
        """V of one component: its estimate has covariance V · P."""
        if self._is_constant(names) or self._is_fixed(names):
            return 0.0
        return 1.0 / self._precision[self._known(names)]

    def component(self, names: Names) -> FloatArray:
        """The estimate of one component."""
        if self._is_constant(names):
            return np.zeros([self.sizes[name] for name in names])
        if self._is_fixed(names):
            return np.array(self._total, np.float64)
        known = self._known(names)
        return self._weighted[known] / self._precision[known]

    def marginal(self, names: Names) -> FloatArray:
        """The estimated table of a marginal."""
        parts = {subset: self.component(subset) for subset in subsets(names)}
        return assemble(names, self.sizes, parts)

    def cell_variance(self, names: Names) -> float:
        """The variance of every cell of an estimated marginal."""
        parts = {subset: self.variance(subset) for subset in subsets(names)}
        return cell_variance(names, self.sizes, parts)

    def _is_constant(self, names: Names) -> bool:
        """True when an attribute has one value only: nothing deviates along it."""
        return any(self.sizes[name] == 1 for name in names)

    def _is_fixed(self, names: Names) -> bool:
        return not names and self._total is not None

    def _known(self, names: Names) -> Names:
        if names not in self._precision:
            text = ", ".join(names) or "nothing (the total)"
            raise EstimateError(f"nothing measured determines the marginal over {text}")
        return names


def cell_variance(
    names: Names, sizes: Mapping[str, int], variances: Mapping[Names, float]
) -> float:
    """Σ_B V_B · Π_{k∈B}(1 - 1/n_k) / n²_{A∖B}: the variance of each cell of the marginal over A."""
    total = 0.0
    for subset in subsets(names):
        share = math.prod(1.0 - 1.0 / sizes[name] for name in subset)
        spread = math.prod(sizes[name] for name in names if name not in subset)
        total += variances[subset] * share / spread**2
    return total


def centred(table: FloatArray) -> FloatArray:
    """The table less its mean along every axis in turn."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return table
