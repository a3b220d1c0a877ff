"""The noise of a linear estimate: a weighted sum of independent symmetric noises.

An estimate θ̂ = Σ a_i·y_i of a question answered by measurements y_i with noises e_i is off by
e = Σ a_i·e_i. Only |a_i| times the parameter of each noise matters, because every law is symmetric.
What follows from the law of e is in `exact.py`, and in the paper's two methods beside it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.errors import AccuracyError


@dataclass(frozen=True, slots=True, eq=False)
class ComposedNoise:
    """The law of e = Σ a_i·e_i, for Laplace and Gaussian parts (BAYES §4.1, eq. 22).

    `grid_slack` is ½·Σ|a_i|·(grid step of e_i), and it makes intervals honest for the noise really
    drawn, which lives on a grid. Let D be discrete Laplace with scale b on a grid of step s, and U
    uniform on one cell. D + U has a symmetric unimodal density, and Pr(|D + U| > y) equals
    Pr(|Laplace(b)| > y) at every grid point y and exceeds it nowhere by more than a factor
    1 + (s/b)⁴/288. A discrete Gaussian is covered likewise once σ grows by a factor 1 + (s/σ)²/12.
    Both factors are below 1 + 1e-13 for steps under 2⁻²⁰ of the noise, and `exact.halfwidth`
    rounds up by more than that. So the continuous law is the less peaked of the two, sums of
    symmetric unimodal variables keep that order (Birnbaum 1948), and
    |Σ a_i·D_i| ≤ |Σ a_i·(D_i + U_i)| + grid_slack.
    """

    laplace_scales: NDArray[np.float64]  # (m,) |a_i|·b_i of the Laplace parts
    gaussian_variance: float = 0.0  # Σ a_i²·σ_i² of the Gaussian parts
    grid_slack: float = 0.0
    # (m,) how often each scale occurs, for whole tables whose cells count alike; once by default.
    counts: NDArray[np.float64] | None = None
    # Half-widths by confidence, as far as somebody asked: a popular question is answered often.
    widths: dict[Hashable, float] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        scales, counts = _as_scales(self.laplace_scales, self.counts)
        object.__setattr__(self, "laplace_scales", scales)
        object.__setattr__(self, "counts", counts)
        for name in ("gaussian_variance", "grid_slack"):
            number = float(getattr(self, name))
            if not (0.0 <= number < math.inf):
                raise AccuracyError(f"{name} must be a finite number of at least 0.")
            object.__setattr__(self, name, number)
        # Squares must neither overflow nor vanish, or a real noise would pass for none at all.
        if not math.isfinite(self.variance) or (scales.size > 0 and self.variance == 0.0):
            raise AccuracyError(
                "The noise is too large or too small for double precision; rescale the question."
            )

    @property
    def variance(self) -> float:
        """Var(e) = 2·Σ w_i² + v, with w the Laplace scales and v the Gaussian variance."""
        scales = self.laplace_scales
        with np.errstate(over="ignore"):
            squares = scales @ scales if self.counts is None else scales**2 @ self.counts
            return 2.0 * float(squares) + self.gaussian_variance

    @property
    def laplace_parts(self) -> int:
        """The number of Laplace parts."""
        return self.laplace_scales.size if self.counts is None else round(float(self.counts.sum()))

    @property
    def every_scale(self) -> NDArray[np.float64]:
        """The scale of each Laplace part, however often it occurs."""
        if self.counts is None:
            return self.laplace_scales
        return np.repeat(self.laplace_scales, self.counts.astype(np.int64))

    @property
    def multiplicities(self) -> NDArray[np.float64]:
        """How often each of `laplace_scales` occurs."""
        return np.ones(self.laplace_scales.size) if self.counts is None else self.counts

    @property
    def is_zero(self) -> bool:
        """Whether there is no noise, so that the estimate is exact (up to `grid_slack`)."""
        return self.variance == 0.0

    def characteristic(self, frequencies: ArrayLike) -> NDArray[np.float64]:
        """E[exp(i·t·e)] = Π 1/(1 + w_i²t²) · exp(−v·t²/2) at each frequency t."""
        t = np.asarray(frequencies, dtype=np.float64)
        logarithm = -0.5 * self.gaussian_variance * t * t
        # One frequency at a time: frequencies × scales may be too large to hold at once.
        often = self.multiplicities
        flat = [float(np.log1p((self.laplace_scales * f) ** 2) @ often) for f in t.ravel()]
        result: NDArray[np.float64] = np.exp(logarithm - np.asarray(flat).reshape(t.shape))
        return result


def _as_scales(
    given: ArrayLike, counts: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """The scales as a read-only vector without zeros; a measurement that is not used has none."""
    scales = np.array(given, dtype=np.float64, ndmin=1)
    if scales.ndim != 1:
        raise AccuracyError("laplace_scales must be a vector, one scale for each Laplace part.")
    if not bool(np.all((scales >= 0.0) & (scales < math.inf))):
        raise AccuracyError("laplace_scales must be finite and at least 0; pass |a_i|·b_i.")
    often = None if counts is None else np.array(counts, dtype=np.float64, ndmin=1)
    if often is not None:
        if often.shape != scales.shape or not bool(np.all(often >= 1.0)):
            raise AccuracyError("counts must say how often each scale occurs, at least once.")
        often = often[scales > 0.0]
        often.flags.writeable = False
    scales = scales[scales > 0.0]
    scales.flags.writeable = False
    return scales, often
