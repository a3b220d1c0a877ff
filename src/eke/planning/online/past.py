"""Past: the questions that were paid for before, as the ledger tells them.

Reservations hold the plan, the demands that caused it, and, when something else was bought, what
measuring the demands themselves would have been: the *rent*. Free answers leave no trace. So the
past is the same for everyone who holds the ledger, and a policy that looks at nothing else can be
replayed.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

from eke.inference import table_weight
from eke.planning.look_ahead.prospect import Prospect, prospect_of
from eke.planning.online.plan import Part, Plan
from eke.planning.online.requirement import Demand
from eke.privacy.accountant import Accountant


@dataclass(frozen=True, slots=True)
class Paid:
    """A demand that history did not meet, and the measurement of its own that would have."""

    demand: Demand
    rent: Part


class _Memory:
    """What was worked out about the beginning of a past, for all who look at it.

    Pasts only grow, so whatever was found about the first so many entries stays true. Threads may
    share it: an entry is replaced as a whole, and at worst something is worked out twice.
    """

    __slots__ = ("prospects", "rents")

    def __init__(self) -> None:
        # Of the demands paid for first, each with a mark of its question.
        self.prospects: tuple[tuple[Prospect | None, int], ...] = ()
        self.rents: tuple[int, Accountant] | None = None  # (how many rents, their accounts)


@dataclass(slots=True)
class Past:
    """What was demanded, rented and bought so far. It only grows."""

    paid: list[Paid] = field(default_factory=list)
    blocks: list[Part] = field(default_factory=list)  # whole marginals, blocks of products
    rents: list[Part] = field(default_factory=list)
    bought: list[Part] = field(default_factory=list)  # measured instead of rents
    _memory: _Memory = field(default_factory=_Memory, compare=False, repr=False)

    def view(self) -> Past:
        """The past as it is now, for good."""
        paid, blocks, rents, bought = (
            list(self.paid),
            list(self.blocks),
            list(self.rents),
            list(self.bought),
        )
        return Past(paid, blocks, rents, bought, self._memory)

    def learn(self, plan: Plan) -> None:
        """Take in a plan that was charged."""
        rents = plan.instead_of or plan.parts
        if plan.demands:  # a release without a demand is the curator's own gift
            self.rents += rents
        if plan.instead_of:
            self.bought += plan.parts
        self.blocks += [part for part in plan.parts if is_block(part)]
        for demand in plan.demands:
            rent = next((part for part in rents if part.query == demand.query), None)
            if rent is None and len(plan.demands) == len(rents) == 1:
                rent = rents[0]  # the question had a constant
            if rent is not None:
                self.paid.append(Paid(demand, rent))

    def prospects(self, like: Accountant, most: int, now: Sequence[Demand] = ()) -> list[Prospect]:
        """What may be asked next: questions like the latest that were paid for.

        A question that was asked again, to be refined, counts once: such is no habit.
        """
        known = self._memory.prospects[: len(self.paid)]
        if len(known) < len(self.paid):
            fresh = (
                (prospect_of(one.demand, one.rent, like), hash(one.demand.query))
                for one in self.paid[len(known) :]
            )
            known = (*known, *fresh)
            self._memory.prospects = known
        seen = {hash(demand.query) for demand in now}
        latest: list[Prospect] = []
        for prospect, question in reversed(known[-most:]):
            if prospect is not None and question not in seen:
                latest.append(prospect)
            seen.add(question)
        return latest[::-1]

    def rent_loss(self, like: Accountant, more: tuple[Part, ...] = ()) -> int:
        """The loss, had every demand been met by its rent; with some more rents."""
        before = self._memory.rents
        if before is None or before[0] > len(self.rents):  # another view is ahead of this one
            before = 0, like.empty()
        if before[0] < len(self.rents):
            accounts = copy(before[1])
            for part in self.rents[before[0] :]:
                accounts.add(part.query, part.charged, 0)
            before = self._memory.rents = len(self.rents), accounts
        return before[1].after_all([(p.query, p.charged) for p in more], 2**60 - 1)

    def bought_loss(self, like: Accountant) -> int:
        """The prices of everything bought instead of rents, added up."""
        return sum(like.price(part.query, part.charged) for part in self.bought)


def is_block(part: Part) -> bool:
    """True for a whole marginal, in which every record counts alike, and a block of products."""
    return part.query.matrices is not None or table_weight(part.query) is not None
