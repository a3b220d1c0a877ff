"""Posteriors of linear estimates: value, interval, probabilities and density of the true answer.

`composed.ComposedNoise` says what the error consists of. `ExactPosterior` is the default;
the methods of BAYES §4 are in `inference/papers`.
"""

from typing import TYPE_CHECKING

from eke.late import late_names

if TYPE_CHECKING:
    from eke.inference.posterior.bounded import BoundedPosterior, NoisyBound
    from eke.inference.posterior.composed import ComposedNoise
    from eke.inference.posterior.exact import (
        ExactPosterior,
        exact_masses,
        halfwidth,
        halfwidths,
        tail,
    )
    from eke.inference.posterior.mass import ProbabilityMass, mass_error
    from eke.inference.posterior.protocol import Posterior, SymmetricPosterior
    from eke.inference.posterior.widened import WidenedPosterior

__all__ = [
    "BoundedPosterior",
    "ComposedNoise",
    "ExactPosterior",
    "NoisyBound",
    "Posterior",
    "ProbabilityMass",
    "SymmetricPosterior",
    "WidenedPosterior",
    "exact_masses",
    "halfwidth",
    "halfwidths",
    "mass_error",
    "tail",
]

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "bounded": "BoundedPosterior NoisyBound",
            "composed": "ComposedNoise",
            "exact": "ExactPosterior exact_masses halfwidth halfwidths tail",
            "mass": "ProbabilityMass mass_error",
            "protocol": "Posterior SymmetricPosterior",
            "widened": "WidenedPosterior",
        },
    )
