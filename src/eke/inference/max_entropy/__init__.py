"""Maximum entropy: the most natural distribution that explains all noisy answers (HIST §4).

`constraints_of` turns noisy answers into constraints, `fit_max_entropy` fits a model to them; the
model answers any query, gives marginals and draws synthetic records.
"""

from eke.inference.max_entropy.constraints import (
    Constraints,
    constraints_of,
    constraints_of_history,
)
from eke.inference.max_entropy.fit import Fit, fit_max_entropy
from eke.inference.max_entropy.gibbs import SampledDistribution
from eke.inference.max_entropy.held_out import choose_entropy_alpha
from eke.inference.max_entropy.junction_tree import JunctionTree, junction_tree
from eke.inference.max_entropy.model import Distribution, TreeDistribution
from eke.inference.max_entropy.report import FitDistance
from eke.inference.max_entropy.sampled import SamplingEffort

__all__ = [
    "Constraints",
    "Distribution",
    "Fit",
    "FitDistance",
    "JunctionTree",
    "SampledDistribution",
    "SamplingEffort",
    "TreeDistribution",
    "choose_entropy_alpha",
    "constraints_of",
    "constraints_of_history",
    "fit_max_entropy",
    "junction_tree",
]
