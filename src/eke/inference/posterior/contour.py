"""Tail probability and density of a composed noise, by integrating around its saddle point.

With M(z) = E[exp(z·e)] = Π 1/(1 − w_i²z²) · exp(v·z²/2), inverting the transform gives

    Pr(e > x) = 1/(2πi) ∫ M(z)·exp(−z·x)/z dz,      density(x) = 1/(2πi) ∫ M(z)·exp(−z·x) dz

along any path from below to above that crosses the real axis between 0 and 1/max w. Gil-Pelaez and
BAYES eq. 20 integrate along the imaginary axis, where the integrand oscillates and decays slowly
and a small probability is the rest of a cancellation. We cross at the saddle point s, where
M(s)·exp(−s·x)/s is least, on a hyperbola that bends away from the axis:

    z(u) = s + λ·(sin(a)·(cosh u − 1) + i·cos(a)·sinh u),      a = π/8.

There the integrand hardly oscillates, falls doubly exponentially, and is largest where its size is
about that of the result, so that tails are accurate *relative to their own size*: around 1e-12 for
a tail of 1e-190 as for one of 0.3, with 50 to 150 points of the trapezoidal rule, for one Laplace
noise or 5000, scales that differ by 1e12, or Gaussian noise (figures in the tests).

The trapezoidal rule converges geometrically: using every second point has about the square root of
the error. So comparing the two proves the accuracy, and the step is halved until that succeeds.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eke.inference.posterior.composed import ComposedNoise

Reals = NDArray[np.float64]
Complexes = NDArray[np.complex128]

_ANGLE = math.pi / 8  # bends right (exp(−z·x) decays) but stays under π/4 (the Gaussian decays)
_FIRST_STEP = 0.1
_HALVINGS = 4
_AGREEMENT = 3e-7  # of the two steps, relative; the finer one is then right to about 1e-13
_NEGLIGIBLE = 1e-18  # where the integrand, relative to its start, is cut off
_BLOCK = 32
_AT_ONCE = 256  # factors that are multiplied together
_FARTHEST = 60.0  # exp(−60): every integrand has fallen under `_NEGLIGIBLE` long before
_MANY_EQUAL = 32
_REACH = 1.5  # how far, in local standard deviations, one path serves other points
_BEYOND = 1e100
_LOG_SMALLEST = -745.0  # exp of less is 0 in double precision


@dataclass(frozen=True, slots=True)
class Inversion:
    """Pr(e > x) and the density at each x; `verified` says whether the steps agreed."""

    tails: Reals
    densities: Reals
    verified: bool


@dataclass(frozen=True, slots=True)
class _Unit:
    """The noise divided by its standard deviation, with squares w² of its scales."""

    deviation: float
    squares: Reals  # (m,) each different one, ascending
    counts: Reals  # (m,) how often it occurs
    single_squares: Reals  # those multiplied one by one
    equal_squares: Reals  # those that occur many times, once each
    equal_counts: Reals
    gaussian_variance: float

    @classmethod
    def of(cls, noise: ComposedNoise) -> _Unit:
        deviation = math.sqrt(noise.variance)
        scales, places = np.unique(noise.laplace_scales / deviation, return_inverse=True)
        counts = np.asarray(
            np.bincount(places, noise.multiplicities, minlength=scales.size), dtype=np.float64
        )
        squares, many = scales * scales, counts >= _MANY_EQUAL
        return cls(
            deviation=deviation,
            squares=squares,
            counts=counts,
            single_squares=np.repeat(squares[~many], counts[~many].astype(np.int64)),
            equal_squares=squares[many],
            equal_counts=counts[many],
            gaussian_variance=noise.gaussian_variance / noise.variance,
        )

    def log_transform(self, s: float) -> float:
        """K(s) = ln M(s)."""
        return 0.5 * self.gaussian_variance * s * s - float(
            np.log1p(-self.squares * s * s) @ self.counts
        )

    def slopes(self, s: float) -> tuple[float, float]:
        """K′(s) and K″(s)."""
        ratio = self.squares / (1.0 - self.squares * s * s)
        total = float(ratio @ self.counts)
        first = 2.0 * s * total + self.gaussian_variance * s
        # 2w²(1 + w²s²)/(1 − w²s²)² = 2r + 4s²r² with r = w²/(1 − w²s²)
        second = 2.0 * total + 4.0 * s * s * float(ratio**2 @ self.counts)
        return first, second + self.gaussian_variance

    def ratios(self, displacements: Complexes, s: float) -> Complexes:
        """M(z)/M(s) at z = s + displacement."""
        square = displacements * (2.0 * s + displacements)  # z² − s², without cancellation
        singles = self.single_squares / (1.0 - self.single_squares * s * s)
        result = _product_of_inverses(singles, square)
        exponent = 0.5 * self.gaussian_variance * square
        if self.equal_squares.size:
            equals = self.equal_squares / (1.0 - self.equal_squares * s * s)
            factor = np.multiply.outer(square, -equals)  # of (1 + factor)^count
            # A rounding error of 1 + factor would be repeated `count` times: logarithms avoid it.
            size = np.log1p(2.0 * factor.real + factor.real**2 + factor.imag**2)
            turn = np.arctan2(factor.imag, 1.0 + factor.real)
            exponent = exponent - (0.5 * size + 1j * turn) @ self.equal_counts
        return result * np.exp(exponent)


def _product_of_inverses(factors: Reals, squares: Complexes) -> Complexes:
    """Π_i 1/(1 − factors_i·square_k) for each k."""
    product: Complexes = np.ones(len(squares), np.complex128)
    with np.errstate(all="ignore"):
        for begin in range(0, len(factors), _AT_ONCE):
            some = np.multiply.outer(factors[begin : begin + _AT_ONCE], squares)
            product = product * np.multiply.reduce(1.0 - some, axis=0)
        # An overflow (inf or NaN here) means an inverse under 1e-150, which is as good as 0.
        return np.where(np.abs(product) < 1e150, 1.0 / product, 0.0)


def invert(noise: ComposedNoise, points: Reals) -> Inversion:
    """Tail probabilities and densities at points x ≥ 0, for a noise that is not zero.

    Neighbouring points share a path: it is chosen for the least of them and serves those to its
    right within 1.5 local standard deviations at the price of one decimal digit.
    """
    unit = _Unit.of(noise)
    order = np.argsort(points, kind="stable")
    # Beyond 1e100 deviations, infinity included, everything is 0; clipped, nothing overflows.
    ascending = np.minimum(points[order], _BEYOND * unit.deviation) / unit.deviation
    tails, densities = np.zeros(points.size), np.zeros(points.size)
    verified = True
    for members, saddle, spread in _neighbours(unit, ascending):
        part = _along_one_path(unit, ascending[members], saddle, spread)
        tails[order[members]] = part.tails
        densities[order[members]] = part.densities / unit.deviation
        verified = verified and part.verified
    tails[points == 0.0] = 0.5  # by symmetry, to the last digit
    return Inversion(tails, densities, verified)


def find_saddle(unit: _Unit, x: float, guess: float | None = None) -> tuple[float, float]:
    """The s in (0, 1/max w) where K(s) − s·x − ln s is least, and that function's curvature there.

    Any s in the range gives the right result; the best one only saves points. So a tenth of the
    path's own width is precise enough.
    """
    low, high, pole = 0.0, math.inf, math.inf
    if unit.squares.size:
        pole = high = 1.0 / math.sqrt(float(unit.squares[-1]))
    s = min(1.0, 0.5 * high) if guess is None or not (low < guess < high) else guess
    while True:
        slope, curvature = unit.slopes(s)
        slope, curvature = slope - x - 1.0 / s, curvature + 1.0 / (s * s)
        if slope > 0.0:
            high = s
        else:
            low = s
        if abs(slope) <= 0.1 * math.sqrt(curvature):
            return s, curvature
        # Far out the saddle point creeps so near to the pole that 1 − w²s² loses its digits; but
        # there the bound at s already shows that the tail is 0 in double precision.
        if s > 0.9 * pole and unit.log_transform(s) - s * x < _LOG_SMALLEST:
            return s, curvature
        following = s - slope / curvature
        if not (low < following < high):
            following = 0.5 * (low + high) if high < math.inf else 2.0 * s
        s = following


def _neighbours(unit: _Unit, ascending: Reals) -> Iterator[tuple[slice, float, float]]:
    """Runs of points that share a path, with its saddle point and curvature."""
    start, saddle = 0, None
    while start < ascending.size:
        saddle, curvature = find_saddle(unit, float(ascending[start]), saddle)
        limit = ascending[start] + _REACH * math.sqrt(curvature)
        stop = int(np.searchsorted(ascending, limit, side="right"))
        yield slice(start, stop), saddle, curvature
        start = stop


def _along_one_path(unit: _Unit, points: Reals, s: float, curvature: float) -> Inversion:
    """The two integrals for ascending points, on the path through s."""
    log_sizes = unit.log_transform(s) - s * points  # Chernoff: Pr(e > x) ≤ exp of this, for any s
    sizes = np.exp(np.maximum(log_sizes, _LOG_SMALLEST - 1.0))
    if log_sizes[0] < _LOG_SMALLEST:
        return Inversion(np.zeros(points.size), np.zeros(points.size), verified=True)
    tails, densities, verified = np.zeros(points.size), np.zeros(points.size), False
    step = _FIRST_STEP
    for _ in range(_HALVINGS + 1):
        displacements, weights, complete = _path(unit, float(points[0]), s, curvature, step)
        terms = np.exp(-np.multiply.outer(points, displacements)) * weights  # (points, nodes)
        tail_terms = (terms / (s + displacements)).imag
        density_terms = terms.imag
        tails, densities = tail_terms.sum(axis=1), density_terms.sum(axis=1)
        agree = np.abs(2.0 * tail_terms[:, ::2].sum(axis=1) - tails) <= _AGREEMENT * tails
        agree &= np.abs(2.0 * density_terms[:, ::2].sum(axis=1) - densities) <= (
            _AGREEMENT * densities
        )
        verified = complete and bool(agree.all())
        if verified:
            break
        step *= 0.5
    tails = np.clip(sizes * tails, 0.0, np.minimum(sizes, 0.5))
    return Inversion(tails, np.maximum(sizes * densities, 0.0), verified)


def _path(
    unit: _Unit, x: float, s: float, curvature: float, step: float
) -> tuple[Complexes, Complexes, bool]:
    """Displacements z − s, weights step·M(z)/M(s)·z′(u)/π, and whether the path reached its end.

    The end is where the integrand for x is negligible; for any larger x it is smaller still.
    """
    width = 1.0 / math.sqrt(curvature)
    sine, cosine = math.sin(_ANGLE), math.cos(_ANGLE)
    displacements: list[Complexes] = []
    weights: list[Complexes] = []
    start, complete, largest = 0, False, 0.0
    while not complete and start * step < _FARTHEST:
        u = step * np.arange(start, start + _BLOCK)
        half = np.sinh(0.5 * u)  # cosh u − 1 = 2·sinh²(u/2)
        displacement = width * (2.0 * sine * half * half + 1j * cosine * np.sinh(u))
        derivative = width * (sine * np.sinh(u) + 1j * cosine * np.cosh(u))
        weight = (step / math.pi) * unit.ratios(displacement, s) * derivative
        sizes = np.abs(weight * np.exp(-displacement * x))
        largest = max(largest, float(sizes.max()))
        if start == 0:
            weight[0] *= 0.5  # the other half of the path is the mirror image
        displacements.append(displacement)
        weights.append(weight)
        complete = bool(sizes[-1] <= _NEGLIGIBLE * largest)
        start += _BLOCK
    return np.concatenate(displacements), np.concatenate(weights), complete
