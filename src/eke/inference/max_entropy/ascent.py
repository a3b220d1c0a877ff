"""Steps up the dual from a noisy gradient, inside the box: two rules, for few and for many weights.

The curvature of the dual is Cov(f) under the model. If the attributes were independent it would be
the centred kernel of HIST §3.2, which is known in closed form: for a few thousand constraints
`NewtonAscent` steps to the maximum of that quadratic model inside the box, by coordinate descent.
For whole marginals, tens of thousands of almost orthogonal indicators, the diagonal and momentum
are enough: `DiagonalAscent`.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eke.inference.features import Features, kernel
from eke.inference.max_entropy.constraints import Constraints
from eke.query import Prior

FloatArray = NDArray[np.float64]
Marginals = dict[tuple[str, ...], FloatArray]

NEWTON_ROWS = 6000
"""Up to this many constraints the curvature is kept as a matrix."""
_PASSES = 60
_MOMENTUM = 0.8
_RIDGE = 0.02
_TRUSTED = 0.25


class NewtonAscent:
    """Steps to the box-constrained maximum of a quadratic model with the kernel for curvature."""

    def __init__(self, constraints: Constraints) -> None:
        self.constraints = constraints
        self.damping = 4.0
        self._features = Features(constraints.domain, groups=constraints.groups)
        self._curvature = np.empty((0, 0))

    def refresh(self, singles: Prior) -> None:
        """Recompute the curvature from the model's one-dimensional marginals."""
        means = self._features.means(singles)
        curvature = kernel(self._features, singles)
        curvature -= np.multiply.outer(means, means)
        diagonal = np.diag(curvature)
        # What the chains cannot tell, and duplicates of one question, must not make it singular.
        ridge = _RIDGE * np.maximum(diagonal, 0.1 * float(diagonal.mean()))
        curvature.flat[:: len(curvature) + 1] += ridge + self.constraints.quadratics
        self._curvature = curvature

    def step(self, weights: FloatArray, gradient: FloatArray) -> FloatArray:
        """The weights after one step."""
        bounds = self.constraints.bounds
        move = _box_maximum(
            self._curvature, gradient / self.damping, -bounds - weights, bounds - weights, _PASSES
        )
        # The model is trusted as far as it changes log-probabilities by about one half.
        change = float(move @ (self._curvature @ move))
        return weights + move * min(1.0, np.sqrt(_TRUSTED / max(change, 1e-300)))

    def judge(self, before: float, after: float) -> None:
        """Shorter steps when the last ones made things worse, longer ones when they did not."""
        worse = after > 1.1 * before
        self.damping = min(self.damping * 1.5, 20.0) if worse else max(self.damping / 1.1, 2.0)


class DiagonalAscent:
    """Momentum steps, each weight by the variance of its own feature."""

    def __init__(self, constraints: Constraints, chains: int) -> None:
        self.constraints = constraints
        self.damping = 1.0
        self._chains = chains
        self._velocity = np.zeros(constraints.size)
        self._steps = np.ones(constraints.size)
        # A weight of one table meets those of all the others that share its attributes.
        sets = constraints.attribute_sets
        overlap = max((sum(bool(set(a) & set(b)) for b in sets) for a in sets), default=1)
        self._overlap = 0.5 * overlap + 0.5

    def refresh(self, singles: Prior, marginals: Marginals) -> None:
        """Recompute the length of each weight's step from the model's marginals."""
        given = self.constraints
        means = given.expectations(marginals)
        variances = given.squares(marginals) - means**2
        seen = np.maximum(variances, 0.5 * np.maximum(given.targets, 0.0))
        self._steps = 1.0 / (np.maximum(seen, 4.0 / self._chains) + given.quadratics)

    def step(self, weights: FloatArray, gradient: FloatArray) -> FloatArray:
        """The weights after one step."""
        length = (1.0 - _MOMENTUM) / (self._overlap * self.damping)
        velocity = _MOMENTUM * self._velocity + length * self._steps * gradient
        bounds = self.constraints.bounds
        moved = np.clip(weights + velocity, -bounds, bounds)
        self._velocity = moved - weights
        return moved

    def judge(self, before: float, after: float) -> None:
        """Shorter steps when the last ones made things worse."""
        if after > before:
            self.damping = min(self.damping * 1.3, 20.0)


@njit(nogil=True, cache=True)
def _box_maximum(
    curvature: FloatArray, slope: FloatArray, low: FloatArray, high: FloatArray, passes: int
) -> FloatArray:  # pragma: no cover - compiled
    """The maximum of slope·d − ½ d·curvature·d with low ≤ d ≤ high, by coordinate descent."""
    size = len(slope)
    moved = np.zeros(size)
    rest = slope.copy()
    for i in range(size):  # zero need not be inside the box
        if moved[i] < low[i] or moved[i] > high[i]:
            change = min(max(0.0, low[i]), high[i])
            moved[i] = change
            rest -= change * curvature[i]
    first = 0.0
    for number in range(passes):
        largest = 0.0
        for i in range(size):
            wanted = min(max(moved[i] + rest[i] / curvature[i, i], low[i]), high[i])
            change = wanted - moved[i]
            gain = change * change * curvature[i, i]
            if gain > 1e-4 * first or number == 0:
                moved[i] = wanted
                rest -= change * curvature[i]
            largest = max(largest, gain)
        if number == 0:
            first = largest
        elif largest <= 1e-3 * first:
            break
    return moved
