"""Refinement: what it costs, and what it is worth, to make noise smaller that was drawn before.

An answer y₁ with discrete Laplace noise of scale b₁ is refined to y₂ with the smaller scale b₂ so
that both together cost what y₂ costs alone (docs/proofs/refinement.md). So a record pays the
difference of the two rates. Given y₂, y₁ says nothing more. For least squares it is as if an
independent answer with precision 1/var₂ - 1/var₁ had come on top of y₁.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from eke.errors import PrivacyError
from eke.privacy.discrete_laplace import DiscreteLaplace
from eke.privacy.loss_array import nano_array
from eke.privacy.record_loss import record_nano

Values = TypeVar("Values", float, NDArray[np.float64])


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is refined: a measurement's place among all, and the steps of its noise."""

    place: int
    steps: int

    def to_json(self) -> dict[str, int]:
        """Plain values from which `earlier_from_json` makes the same."""
        return {"place": self.place, "steps": self.steps}


def earlier_from_json(document: Mapping[str, object] | None) -> Earlier | None:
    """What a document says that is refined, if anything."""
    if document is None:
        return None
    place, steps = document.get("place"), document.get("steps")
    if type(place) is not int or type(steps) is not int:
        raise PrivacyError("what is refined is told by its place and the steps of its noise")
    return Earlier(place, steps)


@dataclass(frozen=True, slots=True)
class Refinement:
    """Noise of fewer steps in place of coarser noise on the same grid."""

    steps: int
    exponent: int
    before: int  # the steps of the coarser noise

    kind: ClassVar[str] = "refinement"
    loss_unit: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        if self.fine.steps >= self.coarse.steps:
            raise PrivacyError("noise is refined to fewer steps than it had before")

    @property
    def fine(self) -> DiscreteLaplace:
        """The noise after it."""
        return DiscreteLaplace(self.steps, self.exponent)

    @property
    def coarse(self) -> DiscreteLaplace:
        """The noise before it."""
        return DiscreteLaplace(self.before, self.exponent)

    @property
    def variance(self) -> float:
        """That of an independent answer which would make y₁ as precise as y₂."""
        return 1.0 / (1.0 / self.fine.variance - 1.0 / self.coarse.variance)

    @property
    def share(self) -> float:
        """That answer is (1 + share)·y₂ - share·y₁."""
        return self.variance / self.coarse.variance

    def difference(self, coarse: Values, fine: Values) -> Values:
        """The value of that answer, from y₁ and y₂; of many answers at once, if need be."""
        return fine + self.share * (fine - coarse)

    def refined(self, coarse: float, difference: float) -> float:
        """y₂, from y₁ and the value of that answer."""
        return (difference + self.share * coarse) / (1.0 + self.share)

    @property
    def rate(self) -> Fraction:
        """The nano-epsilon of a coefficient of 1, not rounded."""
        return self.fine.rate - self.coarse.rate

    def loss_nano(self, coefficient: Fraction | int) -> int:
        """The nano-epsilon that a record with this coefficient loses on top, rounded up."""
        return record_nano(self.rate, 1, coefficient)

    def loss_nano_array(
        self, numerators: NDArray[np.int64], coefficient_exponent: int
    ) -> NDArray[np.int64]:
        """`loss_nano` of numerators · 2^coefficient_exponent, in the same shape."""
        return nano_array(self.rate, 1, numerators, coefficient_exponent)

    def to_json(self) -> dict[str, object]:
        """Plain values from which `charged_from_json` makes the same."""
        numbers = {"steps": self.steps, "exponent": self.exponent, "before": self.before}
        return {"kind": self.kind, **numbers}


Law = TypeVar("Law")


def charged(law: Law, refines: Earlier | None) -> Law | Refinement:
    """What a measurement costs by: its noise, or by how much that is less than before.

    Privacy: only Laplace noise is refined for the difference.
    """
    if refines is None:
        return law
    if not isinstance(law, DiscreteLaplace):
        raise PrivacyError("only discrete Laplace noise is refined")
    return Refinement(law.steps, law.exponent, refines.steps)
