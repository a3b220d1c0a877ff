"""Posteriors of linear estimates: value, interval, probabilities and density of the true answer.

`composed.ComposedNoise` says what the error consists of. `ExactPosterior` is the default;
`ConvolutionPosterior` and `MonteCarloPosterior` are the methods of BAYES §4.
"""

from eke.inference.posterior.composed import ComposedNoise
from eke.inference.posterior.convolution import ConvolutionPosterior
from eke.inference.posterior.exact import ExactPosterior, exact_masses, halfwidth, tail
from eke.inference.posterior.mass import ProbabilityMass, mass_error
from eke.inference.posterior.monte_carlo import MonteCarloPosterior, required_sample_size
from eke.inference.posterior.protocol import Posterior, SymmetricPosterior

__all__ = [
    "ComposedNoise",
    "ConvolutionPosterior",
    "ExactPosterior",
    "MonteCarloPosterior",
    "Posterior",
    "ProbabilityMass",
    "SymmetricPosterior",
    "exact_masses",
    "halfwidth",
    "mass_error",
    "required_sample_size",
    "tail",
]
