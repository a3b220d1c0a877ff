"""What history says about an answer, by a method of a paper."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np

from eke.errors import AccuracyError
from eke.inference.estimate_noise import noise_of
from eke.inference.papers.chebyshev import ChebyshevPosterior
from eke.inference.papers.convolution import ConvolutionPosterior
from eke.inference.papers.monte_carlo import MonteCarloPosterior
from eke.inference.papers.product import ProductPosterior
from eke.inference.papers.representation import linear_representations
from eke.inference.posterior import ComposedNoise, ExactPosterior, Posterior
from eke.inference.regression import LinearEstimate
from eke.inference.state import Inference
from eke.query import Query

Method: TypeAlias = Literal["exact", "chebyshev", "convolution", "monte_carlo", "product"]


def posterior_by(method: Method, inference: Inference, query: Query) -> Posterior | None:
    """What history says about the answer; None when it says nothing. "exact" is eke's own."""
    if method not in get_args(Method):
        raise AccuracyError(f"posterior must be one of {', '.join(get_args(Method))}")
    if method == "product":
        return _product(inference, query)
    estimate = inference.linear(query)
    if estimate is None:
        return None
    value, noise = estimate
    if method == "chebyshev" and not noise.is_zero:
        return ChebyshevPosterior(value, noise)
    if method == "convolution" and not noise.is_zero:
        return ConvolutionPosterior(value, noise)
    if method == "monte_carlo" and not noise.is_zero:
        return MonteCarloPosterior(value, noise)
    return ExactPosterior(value, noise)


def _product(inference: Inference, query: Query) -> Posterior | None:
    known = float(query.constant) if query.is_zero else inference.public(query)
    if known is not None:
        return ExactPosterior(known, ComposedNoise(np.empty(0)))
    if len(inference.tables):
        raise AccuracyError("the product method has no use for whole tables; use 'exact'")
    rows = inference.lasting_rows()
    values = np.array([row.value for row in rows])
    laws = [row.law for row in rows]
    observations = []
    for weights in linear_representations([row.query for row in rows], query):
        used = np.flatnonzero(weights)
        value = float(weights[used] @ values[used]) + float(query.constant)
        estimate = LinearEstimate(value, used, weights[used])
        observations.append((value, noise_of(estimate, laws, inference.tables)))
    return ProductPosterior(observations) if observations else None
