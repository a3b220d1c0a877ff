"""Shrinkage: estimates of any question from all noisy answers and a prior (HIST §3).

Start at `Evidence`, which holds the kernel; `choose_alpha` picks the strength of the prior by
cross-validation; `Shrinkage` estimates.
"""

from typing import TYPE_CHECKING

from eke.late import late_names

if TYPE_CHECKING:
    from eke.inference.shrinkage.cross_validation import AlphaChoice, choose_alpha
    from eke.inference.shrinkage.estimator import Estimates, Shrinkage
    from eke.inference.shrinkage.evidence import Evidence, SeenQuestions, Total
    from eke.inference.shrinkage.noise import Noise
    from eke.inference.shrinkage.path import ShrinkagePath
    from eke.inference.shrinkage.prior import measured_prior, onto_simplex, prior_from_history

__all__ = [
    "AlphaChoice",
    "Estimates",
    "Evidence",
    "Noise",
    "SeenQuestions",
    "Shrinkage",
    "ShrinkagePath",
    "Total",
    "choose_alpha",
    "measured_prior",
    "onto_simplex",
    "prior_from_history",
]

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "cross_validation": "AlphaChoice choose_alpha",
            "estimator": "Estimates Shrinkage",
            "evidence": "Evidence SeenQuestions Total",
            "noise": "Noise",
            "path": "ShrinkagePath",
            "prior": "measured_prior onto_simplex prior_from_history",
        },
    )
