"""Adjusted releases: consistent, non-negative or whole answers in place of the released ones.

Privacy: post-processing. Only a release that everybody may read is looked at, with the workload and
the public facts that were stored with it; nothing is measured and nothing is charged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eke.arrays import FloatArray
from eke.planning import Workload, agreed_answers
from eke.planning.workload.agreement import Kind
from eke.planning.workload.equations import Equation
from eke.planning.workload.programs import Norm

_ORDER = {"l1": 1.0, "l2": 2.0, "linf": np.inf}
_BIASED = "Small counts are too large on average."
_GUARANTEES = {
    ("consistent", True): (
        "All answers are those of one table of counts, some of which may be negative or fractional."
    ),
    ("nonnegative", True): "All answers are those of one table of counts, none of them negative.",
    ("nonnegative", False): (
        "All tables agree and none has a cell below zero; one table of non-negative counts behind "
        "all of them need not exist."
    ),
    ("whole", True): "All answers are those of one table of whole counts, none of them negative.",
    ("whole", False): (
        "All tables hold whole counts, none of them negative, and share one total; sums that they "
        "have in common agree but for rounding."
    ),
}


@dataclass(frozen=True, slots=True)
class Adjustment:
    """How the values of a release were adjusted. Made by `release.adjusted`.

    Attributes:
        kind: "consistent", "nonnegative" or "whole".
        norm: what was taken for near: "l2", "l1" or "linf".
        moved: the distance of all values from the released ones, in that norm.
        largest: the largest distance of a single value.
        joint: True when one table of counts with the property lies behind all answers.
    """

    kind: Kind
    norm: Norm
    moved: float
    largest: float
    joint: bool

    @property
    def guarantee(self) -> str:
        """What exactly holds of the answers."""
        return _GUARANTEES[self.kind, self.joint]

    @property
    def note(self) -> str:
        """The guarantee, and what the adjustment does to errors."""
        errors = "Standard errors are those of the released values."
        biased = "" if self.kind == "consistent" else f" {_BIASED}"
        return f"{self.guarantee}{biased} {errors}"


def adjusted(
    workload: Workload,
    released: Sequence[FloatArray],
    kind: Kind,
    norm: Norm,
    *,
    total: int | None,
    equations: Sequence[Equation],
) -> tuple[tuple[FloatArray, ...], Adjustment]:
    """The nearest answers of a kind, and what became of the released ones."""
    agreed = agreed_answers(workload, released, kind, norm, total=total, equations=equations)
    change = np.concatenate(
        [np.reshape(new - old, -1) for new, old in zip(agreed.answers, released, strict=True)]
    )
    moved = float(np.linalg.norm(change, _ORDER[norm]))
    largest = float(np.abs(change).max())
    return agreed.answers, Adjustment(kind, norm, moved, largest, agreed.joint)
