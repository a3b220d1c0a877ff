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

Many paths are followed at once, each of its own noise: an average by group has a noise a group.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
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
_AT_ONCE = 2**18  # numbers that are multiplied together
_FARTHEST = 60.0  # exp(−60): every integrand has fallen under `_NEGLIGIBLE` long before
_MANY_EQUAL = 32
_REACH = 1.5  # how far, in local standard deviations, one path serves other points
_BEYOND = 1e100
_LOG_SMALLEST = -745.0  # exp of less is 0 in double precision


@dataclass(frozen=True, slots=True)
class Inversion:
    """Pr(e > x) and the density at each x; `agreed` says where the steps agreed."""

    tails: Reals
    densities: Reals
    agreed: NDArray[np.bool_]

    @property
    def verified(self) -> bool:
        """Whether they agreed everywhere."""
        return bool(self.agreed.all())


@dataclass(frozen=True, slots=True)
class _Units:
    """Noises, one in each row, divided by their standard deviations, with squares w² of scales.

    Rows are filled up with zeros, which change nothing.
    """

    deviations: Reals  # (n,)
    singles: Reals  # (n, p) squares of the scales that are multiplied one by one
    equals: Reals  # (n, q) of those that occur many times, once each
    counts: Reals  # (n, q) how often
    gaussian_variances: Reals  # (n,)

    @classmethod
    def of(cls, noises: Sequence[ComposedNoise]) -> _Units:
        deviations = np.array([math.sqrt(noise.variance) for noise in noises])
        parts = [
            _told_apart(noise, deviation)
            for noise, deviation in zip(noises, deviations.tolist(), strict=True)
        ]
        return cls(
            deviations,
            _filled_up([singles for singles, _, _ in parts]),
            _filled_up([equals for _, equals, _ in parts]),
            _filled_up([counts for _, _, counts in parts]),
            np.array([noise.gaussian_variance / noise.variance for noise in noises]),
        )

    def take(self, rows: NDArray[np.intp]) -> _Units:
        """Some of the rows, or one of them several times."""
        return _Units(
            self.deviations[rows],
            self.singles[rows],
            self.equals[rows],
            self.counts[rows],
            self.gaussian_variances[rows],
        )

    def largest(self) -> Reals:  # (n,)
        """The square of the largest scale of each, 0 where there is none."""
        both = np.concatenate([self.singles, self.equals], axis=1)
        return np.asarray(both.max(axis=1, initial=0.0))

    def log_transforms(self, s: Reals) -> Reals:
        """K(s) = ln M(s)."""
        square = (s * s)[:, None]
        singles = np.log1p(-self.singles * square).sum(axis=1)
        equals = (np.log1p(-self.equals * square) * self.counts).sum(axis=1)
        return np.asarray(0.5 * self.gaussian_variances * s * s - singles - equals)

    def slopes(self, s: Reals) -> tuple[Reals, Reals]:
        """K′(s) and K″(s)."""
        square = (s * s)[:, None]
        singles = self.singles / (1.0 - self.singles * square)
        equals = self.equals / (1.0 - self.equals * square)
        total = singles.sum(axis=1) + (equals * self.counts).sum(axis=1)
        squares = (singles**2).sum(axis=1) + (equals**2 * self.counts).sum(axis=1)
        first = 2.0 * s * total + self.gaussian_variances * s
        # 2w²(1 + w²s²)/(1 − w²s²)² = 2r + 4s²r² with r = w²/(1 − w²s²)
        return first, 2.0 * total + 4.0 * s * s * squares + self.gaussian_variances

    def ratios(self, displacements: Complexes, s: Reals) -> Complexes:  # (n, nodes)
        """M(z)/M(s) at z = s + displacement."""
        square = displacements * (2.0 * s[:, None] + displacements)  # z² − s², no cancellation
        scale = (s * s)[:, None]
        result = _products_of_inverses(self.singles / (1.0 - self.singles * scale), square)
        exponent = 0.5 * self.gaussian_variances[:, None] * square
        if self.equals.size:
            equals = self.equals / (1.0 - self.equals * scale)
            factor = -square[:, :, None] * equals[:, None, :]  # of (1 + factor)^count
            # A rounding error of 1 + factor would be repeated `count` times: logarithms avoid it.
            size = np.log1p(2.0 * factor.real + factor.real**2 + factor.imag**2)
            turn = np.arctan2(factor.imag, 1.0 + factor.real)
            exponent = exponent - ((0.5 * size + 1j * turn) * self.counts[:, None, :]).sum(axis=2)
        return np.asarray(result * np.exp(exponent))


def _told_apart(noise: ComposedNoise, deviation: float) -> tuple[Reals, Reals, Reals]:
    """The squares of scales that occur a few times, of those that occur often, and how often."""
    if noise.counts is None and noise.laplace_scales.size < _MANY_EQUAL:
        return (noise.laplace_scales / deviation) ** 2, np.empty(0), np.empty(0)
    scales, places = np.unique(noise.laplace_scales / deviation, return_inverse=True)
    counts = np.asarray(
        np.bincount(places, noise.multiplicities, minlength=scales.size), dtype=np.float64
    )
    squares, many = scales * scales, counts >= _MANY_EQUAL
    return np.repeat(squares[~many], counts[~many].astype(np.int64)), squares[many], counts[many]


def _filled_up(rows: Sequence[Reals]) -> Reals:
    """Rows of different lengths as one array, with zeros at their ends."""
    longest = max((row.size for row in rows), default=0)
    array = np.zeros((len(rows), longest))
    for place, row in enumerate(rows):
        array[place, : row.size] = row
    return array


def _products_of_inverses(factors: Reals, squares: Complexes) -> Complexes:
    """Π_i 1/(1 − factors_ni·square_nk) for each row n and k."""
    product: Complexes = np.ones(squares.shape, np.complex128)
    together = max(_AT_ONCE // max(squares.size, 1), 1)
    with np.errstate(all="ignore"):
        for begin in range(0, factors.shape[1], together):
            some = factors[:, begin : begin + together, None] * squares[:, None, :]
            product = product * np.multiply.reduce(1.0 - some, axis=1)
        # An overflow (inf or NaN here) means an inverse under 1e-150, which is as good as 0.
        return np.where(np.abs(product) < 1e150, 1.0 / product, 0.0)


def invert(noise: ComposedNoise, points: Reals) -> Inversion:
    """Tail probabilities and densities at points x ≥ 0, for a noise that is not zero.

    Neighbouring points share a path: it is chosen for the least of them and serves those to its
    right within 1.5 local standard deviations at the price of one decimal digit.
    """
    if not points.size:
        return Inversion(np.empty(0), np.empty(0), np.empty(0, np.bool_))
    unit = _Units.of([noise])
    order = np.argsort(points, kind="stable")
    ascending = _in_deviations(points[order], unit.deviations[0])
    starts, saddles, curvatures = _paths(unit, ascending)
    lengths = np.diff([*starts, ascending.size])
    # The points of each path in a row, the last one repeated where others have more.
    columns = np.minimum(np.arange(lengths.max())[None, :], lengths[:, None] - 1)
    places = np.array(starts)[:, None] + columns
    units = unit.take(np.zeros(len(starts), np.intp))
    part = _along_paths(units, ascending[places], saddles, curvatures)
    tails, densities = np.empty(points.size), np.empty(points.size)
    agreed = np.empty(points.size, np.bool_)
    for array, values in ((tails, part.tails), (densities, part.densities), (agreed, part.agreed)):
        array[order[places]] = values
    return _in_units(Inversion(tails, densities, agreed), points, unit.deviations[0])


def invert_each(noises: Sequence[ComposedNoise], points: Reals) -> Inversion:
    """The same at one point of each of several noises."""
    if not noises:
        return Inversion(np.empty(0), np.empty(0), np.empty(0, np.bool_))
    units = _Units.of(noises)
    places = _in_deviations(points, units.deviations)
    saddles, curvatures = find_saddles(units, places)
    part = _along_paths(units, places[:, None], saddles, curvatures)
    each = Inversion(part.tails[:, 0], part.densities[:, 0], part.agreed[:, 0])
    return _in_units(each, points, units.deviations)


def _in_deviations(points: Reals, deviation: Reals | float) -> Reals:
    """The points in standard deviations.

    Beyond 1e100 of them, infinity included, everything is 0; clipped, nothing overflows.
    """
    return np.asarray(np.minimum(points, _BEYOND * deviation) / deviation)


def _in_units(inversion: Inversion, points: Reals, deviation: Reals | float) -> Inversion:
    """What was found in standard deviations, at points in the unit of the noise."""
    tails = np.where(points == 0.0, 0.5, inversion.tails)  # by symmetry, to the last digit
    return Inversion(tails, inversion.densities / deviation, inversion.agreed)


def find_saddles(
    units: _Units, points: Reals, guesses: Reals | None = None
) -> tuple[Reals, Reals]:  # both (n,)
    """The s in (0, 1/max w) where K(s) − s·x − ln s is least, and that function's curvature there.

    Any s in the range gives the right result; the best one only saves points. So a tenth of the
    path's own width is precise enough.
    """
    low = np.zeros(points.size)
    with np.errstate(divide="ignore"):
        pole = 1.0 / np.sqrt(units.largest())
    high = pole.copy()
    # Of a Gaussian the root of s − x − 1/s; a pole near by holds it back.
    s = np.minimum(0.5 * (points + np.sqrt(points * points + 4.0)), 0.75 * high)
    if guesses is not None:
        s = np.where((low < guesses) & (guesses < high), guesses, s)
    while True:
        slopes, curvatures = units.slopes(s)
        slopes, curvatures = slopes - points - 1.0 / s, curvatures + 1.0 / (s * s)
        near = np.abs(slopes) <= 0.1 * np.sqrt(curvatures)
        # Far out the saddle point creeps so near to the pole that 1 − w²s² loses its digits; but
        # there the bound at s already shows that the tail is 0 in double precision.
        near |= (s > 0.9 * pole) & (units.log_transforms(s) - s * points < _LOG_SMALLEST)
        if near.all():
            return s, curvatures
        high = np.where(~near & (slopes > 0.0), s, high)
        low = np.where(~near & (slopes <= 0.0), s, low)
        following = s - slopes / curvatures
        between = np.where(high < math.inf, 0.5 * (low + high), 2.0 * s)
        following = np.where((low < following) & (following < high), following, between)
        s = np.where(near, s, following)


def _paths(unit: _Units, ascending: Reals) -> tuple[list[int], Reals, Reals]:
    """Where runs of points that share a path begin, with its saddle point and curvature."""
    starts: list[int] = []
    saddles: list[Reals] = []
    curvatures: list[Reals] = []
    start = 0
    while start < ascending.size:
        guess = saddles[-1] if saddles else None
        saddle, curvature = find_saddles(unit, ascending[start : start + 1], guess)
        starts.append(start)
        saddles.append(saddle)
        curvatures.append(curvature)
        limit = ascending[start] + _REACH * math.sqrt(float(curvature[0]))
        start = int(np.searchsorted(ascending, limit, side="right"))
    return starts, np.concatenate(saddles), np.concatenate(curvatures)


def _along_paths(units: _Units, points: Reals, s: Reals, curvatures: Reals) -> Inversion:
    """The two integrals for the ascending points (n, k) of each row, on the path through its s."""
    # Chernoff: Pr(e > x) ≤ exp of this, for any s.
    log_sizes = units.log_transforms(s)[:, None] - s[:, None] * points
    sizes = np.exp(np.maximum(log_sizes, _LOG_SMALLEST - 1.0))
    tails, densities = np.zeros(points.shape), np.zeros(points.shape)
    agreed = np.zeros(points.shape, np.bool_)
    agreed[log_sizes[:, 0] < _LOG_SMALLEST] = True  # that they are 0
    step = _FIRST_STEP
    for _ in range(_HALVINGS + 1):
        rows = np.flatnonzero(~agreed.all(axis=1))
        if not rows.size:
            break
        there = points[rows]
        displacements, weights, complete = _path(
            units.take(rows), there[:, 0], s[rows], curvatures[rows], step
        )
        # (rows, points, nodes)
        terms = np.exp(-there[:, :, None] * displacements[:, None, :]) * weights[:, None, :]
        tail_terms = (terms / (s[rows, None] + displacements)[:, None, :]).imag
        density_terms = terms.imag
        tail, density = tail_terms.sum(axis=2), density_terms.sum(axis=2)
        agree = np.abs(2.0 * tail_terms[:, :, ::2].sum(axis=2) - tail) <= _AGREEMENT * tail
        agree &= np.abs(2.0 * density_terms[:, :, ::2].sum(axis=2) - density) <= (
            _AGREEMENT * density
        )
        tails[rows], densities[rows] = tail, density
        agreed[rows] = agree & complete[:, None]
        step *= 0.5
    tails = np.clip(sizes * tails, 0.0, np.minimum(sizes, 0.5))
    return Inversion(tails, np.maximum(sizes * densities, 0.0), agreed)


def _path(
    units: _Units, points: Reals, s: Reals, curvatures: Reals, step: float
) -> tuple[Complexes, Complexes, NDArray[np.bool_]]:
    """Displacements z − s, weights step·M(z)/M(s)·z′(u)/π, and which paths reached their ends.

    The end is where the integrand for x is negligible; for any larger x it is smaller still.
    """
    widths = (1.0 / np.sqrt(curvatures))[:, None]
    sine, cosine = math.sin(_ANGLE), math.cos(_ANGLE)
    displacements: list[Complexes] = []
    weights: list[Complexes] = []
    start, complete, largest = 0, np.zeros(s.size, np.bool_), np.zeros(s.size)
    while not complete.all() and start * step < _FARTHEST:
        u = step * np.arange(start, start + _BLOCK)
        half = np.sinh(0.5 * u)  # cosh u − 1 = 2·sinh²(u/2)
        displacement = widths * (2.0 * sine * half * half + 1j * cosine * np.sinh(u))
        derivative = widths * (sine * np.sinh(u) + 1j * cosine * np.cosh(u))
        weight = (step / math.pi) * units.ratios(displacement, s) * derivative
        sizes = np.abs(weight * np.exp(-displacement * points[:, None]))
        largest = np.maximum(largest, sizes.max(axis=1))
        if start == 0:
            weight[:, 0] *= 0.5  # the other half of the path is the mirror image
        displacements.append(displacement)
        weights.append(weight)
        complete |= sizes[:, -1] <= _NEGLIGIBLE * largest
        start += _BLOCK
    return np.concatenate(displacements, axis=1), np.concatenate(weights, axis=1), complete
