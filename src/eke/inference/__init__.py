"""Inference: what the released history says about any question. Free, and blind to the data."""

from typing import TYPE_CHECKING

from eke.late import late_names

if TYPE_CHECKING:
    from eke.inference.estimate_noise import noise_of
    from eke.inference.exactly import Exactly, is_large_table, known_exactly
    from eke.inference.functional import FormulaPosterior, search_ratios
    from eke.inference.joint import Joint
    from eke.inference.known_table import KnownTable
    from eke.inference.posterior import (
        ComposedNoise,
        ExactPosterior,
        Posterior,
        WidenedPosterior,
        halfwidth,
        halfwidths,
        tail,
    )
    from eke.inference.quantile import QuantilePosterior, Survey
    from eke.inference.regression import LinearEstimate, Regression
    from eke.inference.resting import resting_on
    from eke.inference.state import MOST_COARSE_ROWS, Inference
    from eke.inference.tables import table_weight

__all__ = [
    "MOST_COARSE_ROWS",
    "ComposedNoise",
    "ExactPosterior",
    "Exactly",
    "FormulaPosterior",
    "Inference",
    "Joint",
    "KnownTable",
    "LinearEstimate",
    "Posterior",
    "QuantilePosterior",
    "Regression",
    "Survey",
    "WidenedPosterior",
    "halfwidth",
    "halfwidths",
    "is_large_table",
    "known_exactly",
    "noise_of",
    "resting_on",
    "search_ratios",
    "table_weight",
    "tail",
]

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "functional": "FormulaPosterior search_ratios",
            "joint": "Joint",
            "known_table": "KnownTable",
            "posterior": (
                "ComposedNoise ExactPosterior Posterior WidenedPosterior halfwidth halfwidths tail"
            ),
            "quantile": "QuantilePosterior Survey",
            "regression": "LinearEstimate Regression",
            "state": "MOST_COARSE_ROWS Inference",
            "estimate_noise": "noise_of",
            "exactly": "Exactly is_large_table known_exactly",
            "resting": "resting_on",
            "tables": "table_weight",
        },
    )
