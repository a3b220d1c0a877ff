"""Inference: what the released history says about any question. Free, and blind to the data."""

from eke.inference.functional import FormulaPosterior
from eke.inference.joint import Joint
from eke.inference.known_table import KnownTable
from eke.inference.posterior import (
    ComposedNoise,
    ExactPosterior,
    Posterior,
    WidenedPosterior,
    halfwidth,
)
from eke.inference.regression import LinearEstimate, Regression
from eke.inference.state import MOST_COARSE_ROWS, Inference, noise_of
from eke.inference.tables import table_weight

__all__ = [
    "MOST_COARSE_ROWS",
    "ComposedNoise",
    "ExactPosterior",
    "FormulaPosterior",
    "Inference",
    "Joint",
    "KnownTable",
    "LinearEstimate",
    "Posterior",
    "Regression",
    "WidenedPosterior",
    "halfwidth",
    "noise_of",
    "table_weight",
]
