"""Shrinkage: estimates of any question from all noisy answers and a prior (HIST §3).

Start at `Evidence`, which holds the answers and the kernel. A solver (`solver.py`) chooses the
strength of the prior by cross-validation and solves the equations: `Factorisation` of a dense
kernel, or `ConjugateGradients` on the blocks of a large history. `Shrinkage` estimates with either.
"""

from typing import TYPE_CHECKING

from eke.late import late_names

if TYPE_CHECKING:
    from eke.inference.shrinkage.blocks.conjugate_gradients import ConjugateGradients
    from eke.inference.shrinkage.blocks.evidence import evidence_of_blocks, singles_in
    from eke.inference.shrinkage.dense.cross_validation import choose_alpha
    from eke.inference.shrinkage.dense.factorisation import Factorisation
    from eke.inference.shrinkage.dense.kernel import DenseKernel
    from eke.inference.shrinkage.estimator import Shrinkage
    from eke.inference.shrinkage.evidence import Evidence, Total
    from eke.inference.shrinkage.interactions import Interactions
    from eke.inference.shrinkage.noise import Noise
    from eke.inference.shrinkage.prior import measured_prior, onto_simplex, prior_from_history
    from eke.inference.shrinkage.solver import AlphaChoice, Convergence, Solver

__all__ = [
    "AlphaChoice",
    "ConjugateGradients",
    "Convergence",
    "DenseKernel",
    "Evidence",
    "Factorisation",
    "Interactions",
    "Noise",
    "Shrinkage",
    "Solver",
    "Total",
    "choose_alpha",
    "evidence_of_blocks",
    "measured_prior",
    "onto_simplex",
    "prior_from_history",
    "singles_in",
]

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "blocks.conjugate_gradients": "ConjugateGradients",
            "blocks.evidence": "evidence_of_blocks singles_in",
            "dense.cross_validation": "choose_alpha",
            "dense.factorisation": "Factorisation",
            "dense.kernel": "DenseKernel",
            "estimator": "Shrinkage",
            "evidence": "Evidence Total",
            "interactions": "Interactions",
            "noise": "Noise",
            "prior": "measured_prior onto_simplex prior_from_history",
            "solver": "AlphaChoice Convergence Solver",
        },
    )
