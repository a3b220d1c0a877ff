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
from eke.engine import Measuring
from eke.errors import PrivacyError, QueryError
from eke.history import Assertion, Measurement
from eke.inference import Inference
from eke.planning import Facts, Plan
from eke.privacy.measure import Measure
from eke.publish.published import Published
from eke.publish.row_rules import RowRules
from eke.query import Neighbours

InferenceThrough = Callable[[int], Inference]
"""What was known right after a ledger entry."""
MOST_ROWS = 10_000_000
"""Of a publication: more would not fit into memory, or into the ledger."""


@dataclass(frozen=True, slots=True)
class Setting:
    """The public facts that a publication may depend on.

    `budget` is what it may cost by itself, in nano-units; `public_rows` the number of rows where
    that is public; `publishes_rows` whether one output row for each record is allowed; `most_rows`
    how many rows may be made; `facts` what else is public, and `known_total` the number of records
    where that follows.
    """

    domain: Domain
    measure: Measure
    neighbours: Neighbours
    budget: int
    public_rows: int | None
    publishes_rows: bool
    rows_per_unit: int = 1
    most_rows: int = MOST_ROWS
    facts: tuple[Assertion, ...] = ()
    known_total: int | None = None

    def rules(self, names: tuple[str, ...], rows: int | None) -> RowRules:
        """What facts demand of rows with these columns; of as many as are wanted, if that is known.

        Raises when they cannot be met.
        """
        return RowRules(
            self.domain,
            names,
            self.facts,
            total=self.records,
            rows=self.records if rows is None else rows,
            most_rows=self.most_rows,
        )

    @property
    def records(self) -> int | None:
        """The number of records, where it is public."""
        return self.public_rows if self.known_total is None else self.known_total

    @property
    def group_factor(self) -> int:
        """By how much a unit of several rows multiplies every loss (group privacy)."""
        return self.measure.group_factor(self.rows_per_unit)


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
    def seconds(self) -> float:
        """About how long it takes, from public facts; 0 for what is always done soon."""
        ...

    @property
    def measuring(self) -> Measuring:
        """What is measured beside the plan's parts."""
        ...

    @property
    def stores_rows(self) -> bool:
        """True when the text that the ledger keeps of the release holds the rows already."""
        ...

    def stored(self, facts: Facts, measured: Sequence[Measurement], cost: int) -> str:
        """The text the ledger keeps of the release; without a plan, `measured` is all history."""
        ...

    def finish(self, stored: str, inference_through: InferenceThrough) -> Published:
        """The rows, from that text and from what was known then; post-processing."""
        ...


def number_of_rows(wanted: object, setting: Setting) -> int | None:
    """How many rows to make, as far as that is known beforehand; too many are refused here.

    None says: as many as the table is estimated to have, and at most `setting.most_rows`.
    """
    most = setting.most_rows
    if wanted is not None and (type(wanted) is not int or not 1 <= wanted <= most):
        raise QueryError(f"rows must be a whole number from 1 to {most:,}, or left out")
    rows = setting.records if wanted is None else wanted
    if rows is not None and rows > most:
        raise QueryError(
            f"the table has {rows:,} rows, and at most {most:,} may be published here; say how "
            "many you want with rows=..., which 'max_entropy' and 'lda' take"
        )
    return rows


def within_most_rows(total: float, most: int) -> tuple[int, list[str]]:
    """A noisy number of rows as a whole one that may be made, and notes on it.

    Privacy: the total is released, so what is done to it is post-processing. With very little
    budget it can be far beyond any table.
    """
    wanted = max(round(total), 0)
    if wanted <= most:
        return wanted, ["the number of rows is an estimate, too"]
    return most, [
        f"the number of rows is estimated at {wanted:,}; at most {most:,} may be published here"
    ]


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
