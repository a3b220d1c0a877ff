"""Components: the directions that rows are projected on, their noise, and the way back.

Privacy: everything here is computed from released moments and public facts; the junction recomputes
what the scores cost before it touches a row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.engine import RowScores
from eke.engine.row_scores import (
    MOST_EXACT_SCORES,
    Integers,
    largest_sum_of_changes,
    largest_sum_of_squares,
)
from eke.privacy.accountant import Measure
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw, choose_grid
from eke.privacy.record_loss import NANO
from eke.publish.features import FEATURE_BITS, Features
from eke.publish.moments import Floats, Moments

WEIGHT_BITS = 20
EXPONENT = -(WEIGHT_BITS + FEATURE_BITS)


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """The chosen scores, the mean and spectrum they come from."""

    row_scores: RowScores
    mean: Floats  # (p,)
    spectrum: Floats  # (p,), falling; noise may have made some negative

    @property
    def directions(self) -> Floats:
        """(scores, p), the weights as numbers."""
        return self.row_scores.weights.T / 2.0**WEIGHT_BITS

    def recover(self, scores: Floats, shrunk: bool) -> Floats:
        """The features of each row from its noisy scores, (rows, p) (COMP §3.1, step 5).

        Shrunk, a score is worth its variance over variance plus noise: the best linear guess.
        """
        centred = scores - self.directions @ self.mean
        if shrunk:
            signal = np.maximum(self.spectrum[: self.row_scores.count], 0.0)
            centred = centred * (signal / (signal + self.row_scores.law.variance))
        return np.asarray(centred @ self.directions + self.mean)


def pick_components(
    features: Features,
    moments: Moments,
    count: int | None,
    *,
    row_loss: int,
    measure: Measure,
    shrunk: bool,
) -> Components:
    """The leading components of noisy moments, with the noise that `row_loss` pays for.

    Without a count, that with the least expected squared error of a row by the noisy spectrum:
    what is left out, and the noise on what is kept.
    """
    values, vectors = np.linalg.eigh(moments.covariance)
    spectrum, directions = values[::-1], vectors[:, ::-1]
    tables = tuple((f.name, f.table) for f in features.all)
    weights = np.rint(directions * 2.0**WEIGHT_BITS).astype(np.int64)

    def scored(k: int) -> RowScores:
        law = law_for(tables, weights[:, :k], row_loss, measure)
        return RowScores(tables, np.ascontiguousarray(weights[:, :k]), EXPONENT, law)

    if count is not None:
        return Components(scored(count), moments.mean, spectrum)
    most = min(features.width, MOST_EXACT_SCORES)
    candidates = [scored(k) for k in range(1, most + 1)]
    best = min(candidates, key=lambda c: expected_error(spectrum, c.count, c.law, shrunk=shrunk))
    return Components(best, moments.mean, spectrum)


def expected_error(spectrum: Floats, kept: int, law: DiscreteLaw, *, shrunk: bool) -> float:
    """The expected squared error of one row, from a spectrum and the noise of kept scores."""
    signal, noise = np.maximum(spectrum, 0.0), float(law.variance)
    if not shrunk:
        return float(signal[kept:].sum()) + kept * noise
    worth = signal[:kept]
    return float(signal[kept:].sum() + (worth * noise / (worth + noise)).sum())


def law_for(
    tables: Sequence[tuple[str, Integers]], weights: Integers, row_loss: int, measure: Measure
) -> DiscreteLaw:
    """The least noise with which scores of these weights cost at most `row_loss` nano-units."""
    unit = Fraction(2) ** EXPONENT
    if measure == "epsilon":
        change = largest_sum_of_changes(tables, weights) * unit
        return choose_grid(DiscreteLaplace, change * NANO / row_loss, EXPONENT)
    squares = largest_sum_of_squares(tables, weights)
    # σ² = squares / 2ρ, the root rounded up in steps of 2^-20 of a unit.
    steps = math.isqrt(-(-squares * NANO * 2**40 // (2 * row_loss))) + 2
    return choose_grid(DiscreteGaussian, steps * unit / 2**20 + unit, EXPONENT)


def noisy_scores(scores: RowScores, steps: Sequence[int] | NDArray[np.int64]) -> Floats:
    """The released steps as numbers, (rows, scores)."""
    return np.asarray(steps, np.float64).reshape(-1, scores.count) * scores.law.step
