"""Inference: what the released history says about any question. Free, and blind to the data."""

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
from eke.inference.state import Inference, Method, noise_of

__all__ = [
    "ComposedNoise",
    "ConvolutionPosterior",
    "ExactPosterior",
    "Inference",
    "LinearEstimate",
    "Method",
    "MonteCarloPosterior",
    "Posterior",
    "ProductPosterior",
    "Regression",
    "halfwidth",
    "linear_representations",
    "noise_of",
]
