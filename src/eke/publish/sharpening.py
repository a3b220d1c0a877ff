"""Sharpening: noisy counts of a table, drawn towards what was expected of it. Post-processing."""

from __future__ import annotations

import math

import numpy as np

from eke.arrays import FloatArray


def sharpened(
    values: FloatArray, expected: FloatArray, deviation: float
) -> tuple[FloatArray, float]:
    """Noisy counts drawn towards what was expected, the more the less a cell can differ from it.

    How far counts are from what is expected grows with the root of that; how fast, the table says
    itself (empirical Bayes). Cells where next to nobody is expected are mostly noise. With them
    the distance from the true counts that is left, in expectation.
    """
    prior = expected + 0.5
    apart = values - expected
    spread = max(float((apart**2).sum()) - len(values) * deviation**2, 0.0) / float(prior.sum())
    parts = spread * prior / (spread * prior + deviation**2)
    doubt = math.sqrt(2.0 / math.pi) * float((deviation * np.sqrt(parts)).sum())
    return np.asarray(expected + apart * parts), doubt
