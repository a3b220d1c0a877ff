"""Shrinkage for large histories: whole blocks, an implicit kernel, conjugate gradients.

`LargeEvidence` holds the history, `choose_alpha_by_sample` picks the strength of the prior,
`LargeShrinkage` estimates. `Parts` is what their preconditioners at different α share.
"""

from typing import TYPE_CHECKING

from eke.late import late_names

if TYPE_CHECKING:
    from eke.inference.shrinkage.large.conjugate_gradients import Convergence
    from eke.inference.shrinkage.large.estimator import LargeShrinkage
    from eke.inference.shrinkage.large.evidence import LargeEvidence, singles_in
    from eke.inference.shrinkage.large.leave_one_out import LargeChoice, choose_alpha_by_sample
    from eke.inference.shrinkage.large.preconditioner import Parts

__all__ = [
    "Convergence",
    "LargeChoice",
    "LargeEvidence",
    "LargeShrinkage",
    "Parts",
    "choose_alpha_by_sample",
    "singles_in",
]

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "conjugate_gradients": "Convergence",
            "estimator": "LargeShrinkage",
            "evidence": "LargeEvidence singles_in",
            "leave_one_out": "LargeChoice choose_alpha_by_sample",
            "preconditioner": "Parts",
        },
    )
