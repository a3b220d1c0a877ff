"""Look ahead: buy a block when questions like those paid for would cost as much to rent.

A question that history does not answer can be measured by itself (the *rent*, as `top_up` does),
or a block that determines it can be *bought* (`offer.py`): a whole marginal, which costs a record
only once, however many cells it has; the same over groups of values; a hierarchy or a wavelet.
Every later question about the same attributes is then a sum of its answers. The rule is ski rental
with a memory. The future is taken to be HORIZON times as long as the past and like it: for each set
of attributes the rents paid so far tell what is to come. A block over the set is bought, with the
noise at which price and rents to come are least together, when that beats renting.

The reserve: everything bought so far, this purchase included, may cost at most RESERVE times what
renting alone would have cost by now. So the loss never passes (1 + RESERVE) times the rents; see
docs/concepts/look-ahead.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eke.domain import Domain
from eke.planning.look_ahead.offer import Offer, offers
from eke.planning.look_ahead.prospect import MOST_CELLS, Names, Outlook, Prospect, prospect_of
from eke.planning.online.effort import steps_for
from eke.planning.online.facts import Facts, Missing, known_errors, offered
from eke.planning.online.plan import Part, Plan
from eke.planning.online.rent import PEAKED, Rent, loss_after, suppose, top_up

HORIZON = 2.0
"""How long the future is taken to be, in lengths of the past."""
MOST_OF_THE_REST = 0.5
"""Of what the limit leaves, a purchase takes at most this share."""
RESERVE = 2.0
"""What may be bought for each unit of rent."""
OCTAVES = 0.5
"""Accuracies to come are spread by this many factors of two around those seen."""
MOST_REMEMBERED = 128
"""Paid questions that are looked back upon."""
MOST_SETS = 8
_MARGIN = 1.01  # a block no better than its rent is not bought: it costs more records
_NOISES = 10
_TRIES = 10
_MOST_TO_LOOK = 2**31
"""Steps (`effort.py`) that trying purchases out may take; then what is left of them is not made."""


@dataclass(frozen=True, slots=True)
class LookAhead:
    """The policy that rents until buying is as cheap."""

    name: str = "look_ahead"
    rent: Rent = top_up
    horizon: float = HORIZON
    reserve: float = RESERVE
    octaves: float = OCTAVES

    def plan(self, missing: Sequence[Missing], facts: Facts) -> Plan:
        """A table that meets all demands, if it is worth its price; else what renting measures."""
        rented = self.rent.plan(missing, facts)
        looks = _MOST_TO_LOOK // _steps_to_look(missing, facts)
        for purchase in self._purchases(missing, rented, facts):
            if purchase.gain <= 0.0 and _affordable(rented, facts):
                break
            plan, looked = self._tried(purchase, missing, rented, facts, looks)
            looks -= looked
            if plan is not None and self._in_reserve(plan, facts):
                return plan
        return rented

    def least_stretch(
        self, missing: Sequence[Missing], facts: Facts, rents: Sequence[Part]
    ) -> float | None:
        """The same as for renting: whatever can be rented is at least rented."""
        return self.rent.least_stretch(missing, facts, rents)

    # -- inside --------------------------------------------------------------------------------

    def _purchases(self, missing: Sequence[Missing], rented: Plan, facts: Facts) -> list[Purchase]:
        """The best noise for each block worth a look, best first."""
        accountant, past = facts.accountant, facts.past
        domain = facts.inference.domain
        present = _present(missing, rented, facts)
        if present is None:
            return []
        before = past.prospects(accountant, MOST_REMEMBERED, [demand for demand, _ in missing])
        worth = self._worth([*before, *present], facts)
        rows, now = len(facts.inference.rows), len(present)
        purchases: list[Purchase] = []
        for names in candidates(domain, present, before):
            inside = [one for one in before if set(one.names).issubset(names)]
            prospects = [*inside, *present]
            outlook = Outlook.over(
                names, prospects, past.blocks, accountant, domain=domain, worth=worth
            )
            offered_ones = offers(names, prospects, accountant, domain, now=now, rows=rows)
            purchases += [
                self._best_noise(
                    replace(one, earlier=facts.refinable(one.block)), outlook, now, rented, facts
                )
                for one in offered_ones
            ]
        return sorted(purchases, key=lambda one: (-one.gain, len(one.offer.names), one.offer.names))

    def _worth(self, prospects: Sequence[Prospect], facts: Facts) -> Callable[[Prospect], float]:
        """What an answer is worth: its rent; near the limit, what answers cost on average.

        When the limit is far, a purchase saves loss. When rents would have used it up, every
        question after that is refused alike, so that answers count, not losses.
        """
        average = sum(one.rent for one in prospects) / len(prospects)
        near = min(1.0, facts.past.rent_loss(facts.accountant) / max(1, facts.limit))
        return lambda one: (1.0 - near) * one.rent + near * average

    def _best_noise(
        self, offer: Offer, outlook: Outlook, now: int, rented: Plan, facts: Facts
    ) -> Purchase:
        """The noise at which price and rents to come are least; it meets the demands made now."""
        accountant = facts.accountant
        known = outlook.known
        wanted = [offer.variance_for(i, known[i]) for i in range(len(known))]
        wanted_now = wanted[len(wanted) - now :]
        most = min(wanted_now)
        surely = offer.kind == "table" and not known[len(wanted) - now :].any()
        if not (math.isfinite(most) and most > 0.0):  # blocks alone would do, or this one does not
            return Purchase(offer, 0.0, -math.inf)
        tightest = min(v for v in wanted if v > 0.0)
        least = min(most, tightest) * 4.0**-self.octaves
        rent = sum(accountant.price(part.query, part.charged) for part in rented.parts)
        most_price = MOST_OF_THE_REST * (facts.limit - accountant.spent)
        nothing = outlook.left(offer.unmet(math.inf, known, self.octaves))
        best = Purchase(offer, 0.0, -math.inf)
        for variance in np.geomspace(most, least, _NOISES):
            price = offer.price(float(variance))
            if price > max(rent, most_price):
                break
            left = outlook.left(offer.unmet(float(variance), known, self.octaves))
            gain = rent + self.horizon * (nothing - left) - _MARGIN * price
            if gain > best.gain:
                best = Purchase(offer, float(variance), gain, most, surely)
        return best

    def _tried(
        self,
        purchase: Purchase,
        missing: Sequence[Missing],
        rented: Plan,
        facts: Facts,
        looks: int,
    ) -> tuple[Plan | None, int]:
        """The plan of a purchase, tried out on history, and how often that was looked at.

        None if the limit does not allow it, or it is not found with so many looks.
        """
        if not purchase.variance > 0.0:
            return None, 0
        looked = 0
        variance, most = purchase.variance, purchase.most_variance
        # A table by itself meets the demands: with what else is known, intervals are no wider.
        surely = purchase.surely and all(d.requirement.confidence >= PEAKED for d, _ in missing)
        for _ in range(_TRIES):
            part = purchase.offer.part(variance)
            plan = Plan((part,), instead_of=rented.parts)
            if loss_after(plan, facts) > facts.limit:
                if variance >= most:
                    return None, looked
                variance = min(most, 2.0 * variance)
                continue
            if surely:
                return plan, looked
            if looked == looks:
                return None, looked
            looked += 1
            excess = _excess(part, missing, facts)
            if excess <= 1.0:
                return plan, looked
            variance /= (1.01 * excess) ** 2
            most = variance
        return None, looked

    def _in_reserve(self, plan: Plan, facts: Facts) -> bool:
        """Whether all that was bought stays within its share of the rents."""
        accountant, past = facts.accountant, facts.past
        price = sum(accountant.price(part.query, part.charged) for part in plan.parts)
        rents = past.rent_loss(accountant, plan.instead_of)
        return past.bought_loss(accountant) + price <= self.reserve * rents


@dataclass(frozen=True, slots=True)
class Purchase:
    """A block that might be bought, and the loss that it is expected to save."""

    offer: Offer
    variance: float  # of the noise in each answer
    gain: float  # nano-units
    most_variance: float = 0.0  # with which the demands made now are met
    surely: bool = False  # they are met without a look at what else is known


look_ahead = LookAhead()


def _steps_to_look(missing: Sequence[Missing], facts: Facts) -> int:
    """The steps of one look: a table is taken in, then every answer is looked at."""
    rows = len(facts.inference.rows)
    asked = sum(d.query.cells for d, _ in missing)
    return steps_for(asked + rows, rows, together=False)


def _affordable(plan: Plan, facts: Facts) -> bool:
    """Whether the limit allows a plan; a look at the prices is often enough."""
    price = sum(facts.accountant.price(part.query, part.charged) for part in plan.parts)
    return facts.spent + price <= facts.limit or loss_after(plan, facts) <= facts.limit


def _present(missing: Sequence[Missing], rented: Plan, facts: Facts) -> list[Prospect] | None:
    """The demands made now, each with an equal share of the rent; None if one spans too much."""
    prospects = []
    for place, (demand, _) in enumerate(missing):
        same = [part for part in rented.parts if part.query == demand.query]
        part = same[0] if same else rented.parts[min(place, len(rented.parts) - 1)]
        prospect = prospect_of(demand, part, facts.accountant)
        if prospect is None:
            return None
        prospects.append(prospect)
    return prospects


def candidates(
    domain: Domain, present: Sequence[Prospect], before: Sequence[Prospect]
) -> Iterator[Names]:
    """Sets of attributes to buy: that of the demands, and unions with those of the past."""
    here = {name for prospect in present for name in prospect.names}
    if not here:
        return
    often: dict[frozenset[str], int] = {}
    for prospect in before:
        key = frozenset(prospect.names)
        often[key] = often.get(key, 0) + 1
    unions: dict[Names, int] = {domain.in_order(here): 0}
    growing = set(here)
    for key in sorted(often, key=lambda k: (-often[k], sorted(k))):
        for union in (here | key, growing | key):
            names = domain.in_order(union)
            if math.prod(domain.sizes(names)) <= MOST_CELLS:
                unions.setdefault(names, 0)
        if math.prod(domain.sizes(domain.in_order(growing | key))) <= MOST_CELLS:
            growing |= key
    # Those that serve most of the past come first.
    for names in unions:
        unions[names] = sum(n for key, n in often.items() if key.issubset(names))
    ranked = sorted(unions, key=lambda names: (-unions[names], len(names), names))
    yield from [n for n in ranked if math.prod(domain.sizes(n)) <= MOST_CELLS][:MOST_SETS]


def _excess(part: Part, missing: Sequence[Missing], facts: Facts) -> float:
    """The widest interval after a purchase, as a share of what is demanded."""
    longer = facts.inference.view()
    suppose(part, longer)
    worst = 0.0
    for demand, _ in missing:
        width = offered(known_errors(demand.query, longer), demand.requirement.confidence)
        worst = max(worst, math.inf if width is None else width / demand.requirement.within)
    return worst
