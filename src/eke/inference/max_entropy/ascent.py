"""Steps up the dual from a noisy gradient, inside the box: two rules, for few and for many weights.

The curvature of the dual is Cov(f) under the model. If the attributes were independent it would be
the centred kernel of HIST §3.2, which is known in closed form: for a few thousand constraints
`NewtonAscent` steps to the maximum of that quadratic model inside the box, by coordinate descent.
For whole marginals, tens of thousands of almost orthogonal indicators, the diagonal and momentum
are enough: `DiagonalAscent`.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from eke.arrays import FloatArray
from eke.inference.features import HistoryFeatures, kernel
from eke.inference.max_entropy.constraints import Constraints
from eke.query import Prior

NEWTON_ROWS = 6000
"""Up to this many constraints the curvature is kept as a matrix."""
_PASSES = 60
_MOMENTUM = 0.8
_SETTLING = 60.0  # steps after which they are half as long
_RIDGE = 0.02
_TRUSTED = 0.25


class NewtonAscent:
    """Steps to the box-constrained maximum of a quadratic model with the kernel for curvature."""

    def __init__(self, constraints: Constraints) -> None:
        self.constraints = constraints
        self.damping = 4.0
        self._features = HistoryFeatures(constraints.domain, groups=constraints.groups)
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
        shorter = min(1.0, math.sqrt(_TRUSTED / max(change, 1e-300)))
        return np.asarray(weights + shorter * move)

    def judge(self, before: float, after: float) -> None:
        """Shorter steps when the last ones made things worse, longer ones when they did not."""
        worse = after > 1.1 * before
        self.damping = min(self.damping * 1.5, 20.0) if worse else max(self.damping / 1.1, 2.0)


class DiagonalAscent:
    """Momentum steps, each weight by itself, for indicators of cells.

    A weight moves by the logarithm of what its share should be over what it is (as in iterative
    scaling), which cannot overshoot the way a gradient does where the model has almost no records.
    """

    def __init__(self, constraints: Constraints, chains: int) -> None:
        self.constraints = constraints
        self._least = 2.0 / chains
        self._velocity = np.zeros(constraints.size)
        self._steps = 0
        # A value's share is moved by every table that its attribute occurs in.
        sets = constraints.attribute_sets
        names = {name for own in sets for name in own}
        self._overlap = max((sum(name in own for own in sets) for name in names), default=1)

    def step(self, weights: FloatArray, gradient: FloatArray, expected: FloatArray) -> FloatArray:
        """The weights after one step."""
        wanted = np.maximum(gradient + expected, 0.0)
        move = np.log((wanted + self._least) / (np.maximum(expected, 0.0) + self._least))
        length = (1.0 - _MOMENTUM) / (self._overlap * (1.0 + self._steps / _SETTLING))
        self._steps += 1
        velocity = _MOMENTUM * self._velocity + length * move
        bounds = self.constraints.bounds
        moved = np.clip(weights + velocity, -bounds, bounds)
        self._velocity = moved - weights
        return moved


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
