"""The logarithm of the density of a composed noise, cheap at many points.

The law of a sum of Laplace and Gaussian noises is even, and the logarithm of its density is smooth
on either side of 0. So a few polynomials on panels of doubling width stand for it, each computed
with `exact.densities` when first needed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from eke.inference.posterior.composed import ComposedNoise
from eke.inference.posterior.exact import densities

Reals = NDArray[np.float64]

_DEGREE = 20
_FIRST_PANEL = 0.25  # standard deviations
_LEAST = 1e-300
_NODES: Reals = chebyshev.chebpts1(_DEGREE + 1)
_FIT: Reals = np.asarray(chebyshev.chebvander(_NODES, _DEGREE), float) * (2.0 / (_DEGREE + 1))
_FIT[:, 0] *= 0.5  # values at the nodes times this are Chebyshev coefficients


class LogDensity:
    """ln of the density of e at any points, for a noise that is not zero."""

    __slots__ = ("_edges", "_noise", "_panels")

    def __init__(self, noise: ComposedNoise) -> None:
        self._noise = noise
        deviation = math.sqrt(noise.variance)
        widest = float(noise.laplace_scales.max(initial=0.0))
        # Up to here the density is an ordinary double. With w the widest Laplace scale and s the
        # deviation of all the rest it is at least exp(-(x + s)/w)/2w, by Jensen's inequality; and
        # where the rest outweighs w by far, it is close to a Gaussian.
        end = max(600.0 * widest - deviation, 20.0 * deviation)
        doublings = max(1, math.ceil(math.log2(end / (_FIRST_PANEL * deviation))))
        self._edges: Reals = np.concatenate(([0.0], end * 0.5 ** np.arange(doublings, -1, -1)))
        self._panels: dict[int, Reals] = {}  # Chebyshev coefficients

    def __call__(self, points: Reals) -> Reals:
        distance = np.abs(points)
        scales, variance = self._noise.laplace_scales, self._noise.gaussian_variance
        if scales.size == 0:
            return -0.5 * distance * distance / variance - 0.5 * math.log(2 * math.pi * variance)
        if self._noise.laplace_parts == 1 and variance == 0.0:
            scale = float(scales[0])
            return -distance / scale - math.log(2.0 * scale)
        # Beyond the end the logarithm goes on along its tangent, which lies above it: observations
        # that contradict each other by hundreds of deviations still have an order.
        inside = np.minimum(distance, self._edges[-1])
        panel_of = np.minimum(np.searchsorted(self._edges, inside, "right"), len(self._edges) - 1)
        panels = np.unique(panel_of)
        self._prepare([int(panel) for panel in panels if int(panel) not in self._panels])
        result = np.empty(distance.shape)
        for panel in panels:
            chosen = panel_of == panel
            low, high = self._edges[panel - 1], self._edges[panel]
            scaled = (2.0 * inside[chosen] - low - high) / (high - low)
            result[chosen] = chebyshev.chebval(scaled, self._panels[int(panel)])
        beyond = distance - inside
        if bool(beyond.any()):
            result += self._last_slope() * beyond
        return result

    def _prepare(self, missing: list[int]) -> None:
        """Compute these panels, all with one inversion."""
        if not missing:
            return
        low, high = self._edges[np.array(missing) - 1, None], self._edges[np.array(missing), None]
        values = densities(self._noise, 0.5 * (low + high + (high - low) * _NODES))
        coefficients = np.log(np.maximum(values, _LEAST)) @ _FIT
        self._panels.update(zip(missing, coefficients, strict=True))

    def _last_slope(self) -> float:
        last = len(self._edges) - 1
        half = 0.5 * float(self._edges[-1] - self._edges[-2])
        return float(chebyshev.chebval(1.0, chebyshev.chebder(self._panels[last]))) / half
