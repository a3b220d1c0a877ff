"""Inference: what the released history says about any question. Free, and blind to the data."""

from eke.inference.functional import FormulaPosterior
from eke.inference.joint import Joint
from eke.inference.posterior import (
    ComposedNoise,
    ConvolutionPosterior,
    ExactPosterior,
    MonteCarloPosterior,
    Posterior,
    halfwidth,
)
from eke.inference.posterior.product import ProductPosterior
from eke.inference.regression import LinearEstimate, Regression
from eke.inference.representation import linear_representations
from eke.inference.state import MOST_COARSE_ROWS, Inference, Method, noise_of
from eke.inference.tables import table_weight

__all__ = [
    "MOST_COARSE_ROWS",
    "ComposedNoise",
    "ConvolutionPosterior",
    "ExactPosterior",
    "FormulaPosterior",
    "Inference",
    "Joint",
    "LinearEstimate",
    "Method",
    "MonteCarloPosterior",
    "Posterior",
    "ProductPosterior",
    "Regression",
    "halfwidth",
    "linear_representations",
    "noise_of",
    "table_weight",
]
