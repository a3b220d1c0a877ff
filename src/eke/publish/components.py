"""Components: the directions that rows are projected on, their noise, and the way back.

Privacy: everything here is computed from released moments and public facts; the junction chooses
the noise of the scores by itself before it touches a row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.engine import RowScores
from eke.engine.row_scores import MOST_EXACT_SCORES, law_within
from eke.errors import PrivacyError
from eke.privacy.law import DiscreteLaw
from eke.privacy.measure import Measure
from eke.privacy.noise_grid import MOST_STEPS
from eke.publish.features import FEATURE_BITS, Features
from eke.publish.moments import Moments
from eke.query.vector import floor_log2

MOST_WEIGHT_BITS = 20


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """The chosen scores and their noise, the mean and spectrum they come from."""

    row_scores: RowScores
    law: DiscreteLaw
    mean: FloatArray  # (p,)
    spectrum: FloatArray  # (p,), falling; noise may have made some negative

    @property
    def directions(self) -> FloatArray:
        """(scores, p), the weights as numbers."""
        unit = 2.0 ** (self.row_scores.exponent + FEATURE_BITS)
        return np.asarray(self.row_scores.weights.T * unit, np.float64)

    def recover(self, scores: FloatArray, shrunk: bool) -> FloatArray:
        """The features of each row from its noisy scores, (rows, p) (COMP §3.1, step 5).

        Shrunk, a score is worth its variance over variance plus noise: the best linear guess.
        """
        centred = scores - self.directions @ self.mean
        if shrunk:
            signal = np.maximum(self.spectrum[: self.row_scores.count], 0.0)
            centred = centred * (signal / (signal + self.law.variance))
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
    bits = weight_bits(features, count, row_loss=row_loss, measure=measure)
    weights = np.rint(directions * 2.0**bits).astype(np.int64)

    def scored(k: int) -> Components:
        scores = RowScores(tables, np.ascontiguousarray(weights[:, :k]), -(bits + FEATURE_BITS))
        law = scores.law_within(row_loss, measure)
        return Components(scores, law, moments.mean, spectrum)

    if count is not None:
        return scored(count)
    candidates = [scored(k) for k in range(1, most_scores(features, count) + 1)]
    return min(
        candidates,
        key=lambda c: expected_error(spectrum, c.row_scores.count, c.law, shrunk=shrunk),
    )


def most_scores(features: Features, count: int | None) -> int:
    """The largest number of scores that may be chosen."""
    return min(features.width, MOST_EXACT_SCORES) if count is None else count


def weight_bits(features: Features, count: int | None, *, row_loss: int, measure: Measure) -> int:
    """The binary digits of the weights: 20, or as many as noise this wide can still be drawn for.

    Privacy: from public facts, so that a budget for which there are none is refused before it is
    charged. A weight is at most 1 in size, so a record moves k scores by k for each number and 2k
    for each category at most, in L1 and hence in L2 norm; twice that covers all rounding.
    """
    numeric = sum(feature.numeric for feature in features.all)
    reach = 2 * most_scores(features, count) * (2 * len(features.all) - numeric)
    law = law_within(reach, 0, row_loss, measure)
    widest = law.steps * Fraction(2) ** law.exponent
    bits = min(MOST_WEIGHT_BITS, floor_log2(MOST_STEPS / widest) - FEATURE_BITS - 1)
    if bits < 1:
        raise PrivacyError("this budget is too small to publish rows with; give more of it")
    return bits


def expected_error(spectrum: FloatArray, rank: int, law: DiscreteLaw, *, shrunk: bool) -> float:
    """The expected squared error of one row, from a spectrum and the noise of kept scores."""
    signal, noise = np.maximum(spectrum, 0.0), float(law.variance)
    if not shrunk:
        return float(signal[rank:].sum()) + rank * noise
    worth = signal[:rank]
    return float(signal[rank:].sum() + (worth * noise / (worth + noise)).sum())


def noisy_scores(
    scores: RowScores, law: DiscreteLaw, steps: Sequence[int] | NDArray[np.int64]
) -> FloatArray:
    """The released steps as numbers, (rows, scores)."""
    return np.asarray(steps, np.float64).reshape(-1, scores.count) * law.step
