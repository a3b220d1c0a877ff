"""Publisher: what a way of publishing must offer, and the list of all of them by name.

A publisher is made from a `Setting`, public facts alone, and the options of the call. It says what
to measure (a plan, or nothing when history suffices), what the ledger stores of that, and makes
rows of it. To add one, write a file with such a class and enter it in `eke.publish.PUBLISHERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from eke.domain import Domain
from eke.engine import Adaptive, RowPublisher
from eke.errors import PrivacyError, QueryError
from eke.history import Measurement
from eke.inference import Inference
from eke.planning import Facts, Plan
from eke.privacy.accountant import Measure
from eke.publish.published import Published
from eke.query import Neighbours

InferenceThrough = Callable[[int], Inference]
"""What was known right after a ledger entry."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The public facts that a publication may depend on.

    `budget` is what it may cost by itself, in nano-units; `public_rows` the number of rows where
    that is public; `publishes_rows` whether one output row for each record is allowed.
    """

    domain: Domain
    measure: Measure
    neighbours: Neighbours
    budget: int
    public_rows: int | None
    publishes_rows: bool
    rows_per_unit: int = 1

    @property
    def group_factor(self) -> int:
        """By how much a unit of several rows multiplies every loss (group privacy)."""
        return self.rows_per_unit if self.measure == "epsilon" else self.rows_per_unit**2


class Publisher(Protocol):
    """One publication, checked and planned, but not paid for yet.

    Privacy: everything that can be wrong with the request is refused when it is made, from public
    facts; nothing it does later may touch data.
    """

    @property
    def plan(self) -> Plan | None:
        """What to measure; None when history is enough."""
        ...

    @property
    def rows(self) -> RowPublisher | None:
        """Who chooses the scores of rows, if rows leave the vault one by one."""
        ...

    @property
    def adaptive(self) -> Adaptive | None:
        """Who decides further steps, if what is measured depends on what was measured."""
        ...

    def stored(self, facts: Facts, measured: Sequence[Measurement], cost: int) -> str:
        """The text the ledger keeps of the release; without a plan, `measured` is all history."""
        ...

    def finish(self, stored: str, inference_through: InferenceThrough) -> Published:
        """The rows, from that text and from what was known then; post-processing."""
        ...


MakePublisher = Callable[[Setting, Mapping[str, Any]], Publisher]


def chosen_attributes(domain: Domain, attributes: object) -> tuple[str, ...]:
    """The attributes to publish: all, or those named, in the domain's order."""
    if attributes is None:
        return domain.names
    if isinstance(attributes, str) or not isinstance(attributes, (list, tuple)):
        raise QueryError("attributes must be a list of names, e.g. attributes=['age', 'sex']")
    return domain.in_order(attributes)


def check_options(options: Mapping[str, Any], known: Sequence[str], mechanism: str) -> None:
    """Raise unless all options are known."""
    unknown = [name for name in options if name not in known]
    if unknown:
        raise QueryError(
            f"{mechanism!r} has no option {', '.join(map(repr, unknown))}; it has "
            f"{', '.join(known)}"
        )


def check_size(plan: Plan, public_rows: int | None) -> None:
    """Raise when the table is known to be so small that the noise would bury it."""
    if public_rows is None:
        return
    widest = max(float(part.law.variance) ** 0.5 for part in plan.parts)
    if public_rows < 2 or widest >= public_rows:
        raise PrivacyError(
            f"the table has {public_rows} rows, and the noise on its sums would have a deviation "
            f"of {widest:.0f}; publish fewer attributes or give more budget"
        )
