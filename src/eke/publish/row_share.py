"""Row share: which part of a PCA budget goes to the moments, the rest going to the rows."""

from __future__ import annotations

import math

import numpy as np

from eke.publish.moments import Measured
from eke.publish.publisher import Setting
from eke.publish.split import Split, noise_scales

SHRUNK_ERROR = 0.25
"""The variance of an attribute, which is the error when a row is shrunk to the mean."""
DECODED_ERROR = 1.0
"""The squared error of an attribute whose decoded value has nothing to do with the true one."""
_SHARES = np.linspace(0.01, 0.5, 50)  # where all is lost to noise, not more than the paper


def share_of_moments(
    measured: Measured, components: int, split: Split, setting: Setting, *, shrunk: bool = False
) -> float:
    """The share that makes the expected squared error of a row least; the paper's is one half.

    A row of k scores gets noise of variance v each, k·v in all, with v as of COMP Lemma 2, but not
    more than decoding (or shrinking) lets through, see the constants. Noise
    of deviation σ on the moments moves the mean by p·σ² / n², and turns the components: the
    variance they miss grows by at most 2k times its norm, about 2σ√p / n. All from public facts.
    """
    if split == "paper":
        return 0.5
    features = measured.features
    numeric = sum(feature.numeric for feature in features.all)
    distance = numeric + 2 * (len(features.all) - numeric)  # the largest squared, of two records
    rows = float(setting.public_rows or 1)
    budget, measure = setting.budget * 1e-9, setting.measure
    scales = noise_scales(measured.statistics, split, 1.0, measure, setting.neighbours)
    scale = math.sqrt(sum(b * b for b in scales) / len(scales))

    def error(share: float) -> float:
        # Of k scores the L1 norm is at most √k times the L2 norm.
        squared = float(distance * components ** (measure.variance_power - 1.0))
        row_noise = squared * measure.variance_for((1.0 - share) * budget)
        deviation = math.sqrt(measure.variance(scale)) / measure.root(share * budget)
        most = (SHRUNK_ERROR if shrunk else DECODED_ERROR) * len(features.all) / components
        row_noise = row_noise * most / (row_noise + most)
        moved = features.width * (deviation / rows) ** 2
        turned = 2.0 * 2.0 * deviation * math.sqrt(features.width) / rows
        return components * (row_noise + turned) + moved

    return float(min(_SHARES, key=error))
