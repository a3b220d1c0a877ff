"""Plan: what will be measured and with which noise; frozen, and independent of the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from eke.domain import Domain
from eke.errors import PrivacyError
from eke.history import RankChoice
from eke.planning.online.requirement import Demand
from eke.privacy.law import (
    DiscreteGaussian,
    DiscreteLaplace,
    DiscreteLaw,
    Refinement,
    law_from_json,
)
from eke.privacy.measure import Measure
from eke.privacy.noise_grid import MOST_STEPS
from eke.privacy.refinement import Earlier, charged, earlier_from_json
from eke.query import Block
from eke.query.kinds import ReadBlocks, block_read


@dataclass(frozen=True, slots=True)
class Part:
    """A query (or a block) to be measured under a noise law.

    It may refine an answer to it that was released before.
    """

    query: Block
    law: DiscreteLaw
    refines: Earlier | None = None

    def __post_init__(self) -> None:
        if self.query.constant:
            raise PrivacyError("a plan measures a query without its constant")
        if self.query.is_zero:
            raise PrivacyError("there is nothing to measure in a question that is always zero")
        if self.law.exponent > self.query.exponent:
            raise PrivacyError("the noise grid must be at least as fine as the coefficients'")
        _ = self.charged  # refined to less noise than before, or an error

    @property
    def charged(self) -> DiscreteLaw | Refinement:
        """What it costs by: its noise, or by how much that is less than before."""
        return charged(self.law, self.refines)

    def to_document(self) -> dict[str, Any]:
        document = {"query": self.query.to_document(), "law": self.law.to_json()}
        return document if self.refines is None else {**document, "refines": self.refines.to_json()}

    @staticmethod
    def from_document(domain: Domain, document: Mapping[str, Any], read: ReadBlocks = ()) -> Part:
        law = law_from_json(document["law"])
        if not isinstance(law, (DiscreteLaplace, DiscreteGaussian)):
            raise PrivacyError("only discrete noise is ever drawn")
        earlier = earlier_from_json(document.get("refines"))
        return Part(block_read(domain, document["query"], read), law, earlier)


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that is measured in one release: all of it is paid for together, or nothing.

    `row_loss`, in nano-units, is what noisy scores of every row may cost on top (PCA); such scores
    are chosen after the parts are measured, so a plan knows their price and not their noise.
    `later_loss` is the same for measurements and choices that follow from the parts' results
    (selected marginals), with the factor for units of several rows already in it. It pays for
    `choices` as well, numbers that are chosen as quantiles; their noise is known beforehand.

    The rest is for the record, and for later decisions: the demands that the plan was made for,
    and, when it measures something else than they ask for, what measuring them would have been.
    `purpose`, a JSON text, says of releases and publications what they were; nothing depends on it.
    """

    parts: tuple[Part, ...]
    row_loss: int = 0
    later_loss: int = 0
    demands: tuple[Demand, ...] = ()
    instead_of: tuple[Part, ...] = ()
    purpose: str = ""
    choices: tuple[RankChoice, ...] = ()

    def __post_init__(self) -> None:
        if not self.parts and not self.choices:
            raise PrivacyError("a plan measures at least one question")
        if type(self.row_loss) is not int or self.row_loss < 0:
            raise PrivacyError("the loss of row scores is a whole number of nano-units")
        if type(self.later_loss) is not int or self.later_loss < 0:
            raise PrivacyError("the loss of later steps is a whole number of nano-units")

    @property
    def flat_loss(self) -> int:
        """What every record is charged on top of the parts, whatever its cell."""
        return self.row_loss + self.later_loss

    def to_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {"parts": [part.to_document() for part in self.parts]}
        losses = {"row_loss": self.row_loss, "later_loss": self.later_loss}
        document |= {name: loss for name, loss in losses.items() if loss}
        if self.demands:
            document["demands"] = [demand.to_document() for demand in self.demands]
        if self.instead_of:
            document["instead_of"] = [part.to_document() for part in self.instead_of]
        if self.purpose:
            document["purpose"] = self.purpose
        if self.choices:
            document["choices"] = [choice.to_document() for choice in self.choices]
        return document

    @staticmethod
    def from_document(domain: Domain, document: Mapping[str, Any], read: ReadBlocks = ()) -> Plan:
        def parts(kind: str) -> tuple[Part, ...]:
            return tuple(Part.from_document(domain, part, read) for part in document.get(kind, ()))

        measured = parts("parts")
        # Demands are nearly always the questions that are measured, and are read once then.
        read = [
            (stored["query"], part.query)
            for stored, part in zip(document["parts"], measured, strict=True)
        ]
        return Plan(
            measured,
            document.get("row_loss", 0),
            document.get("later_loss", 0),
            tuple(Demand.from_document(domain, one, read) for one in document.get("demands", ())),
            parts("instead_of"),
            str(document.get("purpose", "")),
            tuple(RankChoice.from_document(domain, one) for one in document.get("choices", ())),
        )


def part_for(query: Block, noise_scale: float, measure: Measure) -> Part:
    """A question to be measured with (at least) this noise, on a fine enough grid.

    Beyond the widest noise that can be drawn exactly, that one: it meets any laxer requirement.
    """
    exponent = query.exponent
    wanted = min(Fraction(noise_scale), MOST_STEPS * Fraction(2) ** exponent)
    return Part(query, measure.law(wanted, exponent))
