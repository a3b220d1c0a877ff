"""Look ahead: buy a table when questions like those paid for would cost as much to rent.

A question that history does not answer can be measured by itself (the *rent*, as `top_up` does),
or a whole marginal that contains it can be *bought*: it costs a record only once, however many
cells it has, and every later question about the same attributes is a sum of its cells. The rule is
ski rental with a memory. The future is taken to be HORIZON times as long as the past and like it:
for each set of attributes the rents paid so far tell what is to come. A table over the set is
bought, with the noise at which price and rents to come are least together, when that beats renting.

The reserve: everything bought so far, this purchase included, may cost at most RESERVE times what
renting alone would have cost by now. So the loss never passes (1 + RESERVE) times the rents; see
docs/concepts/look-ahead.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from eke.domain import Domain
from eke.planning.facts import Facts, Missing, known_errors, offered
from eke.planning.plan import Part, Plan, part_for
from eke.planning.prospect import MOST_CELLS, Names, Outlook, Prospect, prospect_of
from eke.planning.rent import Rent, loss_after, released_as_zeros, top_up
from eke.query import Marginal, Query, Term

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
_NOISES = 10
_TRIES = 10


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
        affordable = loss_after(rented, facts) <= facts.limit
        for purchase in self._purchases(missing, rented, facts):
            if purchase.gain <= 0.0 and affordable:
                break
            plan = self._tried(purchase, missing, rented, facts)
            if plan is not None and self._in_reserve(plan, facts):
                return plan
        return rented

    def least_stretch(self, missing: Sequence[Missing], facts: Facts) -> float | None:
        """The same as for renting: whatever can be rented is at least rented."""
        return self.rent.least_stretch(missing, facts)

    # -- inside --------------------------------------------------------------------------------

    def _purchases(self, missing: Sequence[Missing], rented: Plan, facts: Facts) -> list[Purchase]:
        """The best noise for each set of attributes worth a look, best first."""
        accountant, past = facts.accountant, facts.past
        domain = facts.inference.domain
        present = _present(missing, rented, facts)
        if present is None:
            return []
        before = past.prospects(accountant, MOST_REMEMBERED)
        found: list[Purchase] = []
        for names in candidates(domain, present, before):
            inside = [one for one in before if set(one.names).issubset(names)]
            prospects = [*inside, *present]
            outlook = Outlook.over(
                names, prospects, past.tables, accountant, domain, octaves=self.octaves
            )
            own = range(len(inside), len(prospects))
            found.append(self._best_noise(names, outlook, own, rented, facts))
        return sorted(found, key=lambda one: (-one.gain, len(one.names), one.names))

    def _best_noise(
        self, names: Names, outlook: Outlook, own: range, rented: Plan, facts: Facts
    ) -> Purchase:
        """The noise at which price and rents to come are least; it meets the demands made now."""
        accountant, domain = facts.accountant, facts.inference.domain
        most = min(outlook.cell_variance(i) for i in own)
        if not math.isfinite(most):  # tables alone would do; renting is a trifle
            return Purchase(names, 0.0, -math.inf)
        tightest = min(outlook.cell_variance(i) for i in range(len(outlook.needed)))
        least = min(most, tightest) * 4.0**-self.octaves
        rent = sum(accountant.price(part.query, part.law) for part in rented.parts)
        most_price = MOST_OF_THE_REST * (facts.limit - accountant.spent)
        nothing = outlook.left(math.inf)
        best = Purchase(names, 0.0, -math.inf)
        for variance in np.geomspace(most, least, _NOISES):
            part = whole_table(domain, names, float(variance), facts)
            price = accountant.price(part.query, part.law)
            if price > max(rent, most_price):
                break
            saved = nothing - outlook.left(float(variance))
            gain = rent + self.horizon * saved - price
            if gain > best.gain:
                best = Purchase(names, float(variance), gain, most)
        return best

    def _tried(
        self, purchase: Purchase, missing: Sequence[Missing], rented: Plan, facts: Facts
    ) -> Plan | None:
        """The plan of a purchase, tried out on history; None if the limit does not allow it."""
        if not purchase.variance > 0.0:
            return None
        variance = purchase.variance
        for _ in range(_TRIES):
            part = whole_table(facts.inference.domain, purchase.names, variance, facts)
            plan = Plan((part,), instead_of=rented.parts)
            if loss_after(plan, facts) > facts.limit:
                if variance >= purchase.most_variance:
                    return None
                variance = min(purchase.most_variance, 2.0 * variance)
                continue
            excess = _excess(part, missing, facts)
            if excess <= 1.0:
                return plan
            variance /= (1.01 * excess) ** 2
            purchase = replace(purchase, most_variance=variance)
        return None

    def _in_reserve(self, plan: Plan, facts: Facts) -> bool:
        """Whether all that was bought stays within its share of the rents."""
        accountant, past = facts.accountant, facts.past
        price = sum(accountant.price(part.query, part.law) for part in plan.parts)
        rents = past.rent_loss(accountant, plan.instead_of)
        return past.bought_loss(accountant) + price <= self.reserve * rents


@dataclass(frozen=True, slots=True)
class Purchase:
    """A table that might be bought, and the loss that it is expected to save."""

    names: Names
    variance: float  # of a cell
    gain: float  # nano-units
    most_variance: float = 0.0  # with which the demands made now are met


look_ahead = LookAhead()


def _present(missing: Sequence[Missing], rented: Plan, facts: Facts) -> list[Prospect] | None:
    """The demands made now, each with an equal share of the rent; None if one spans too much."""
    found = []
    for place, (demand, _) in enumerate(missing):
        own = [part for part in rented.parts if part.query == demand.query]
        part = own[0] if own else rented.parts[min(place, len(rented.parts) - 1)]
        one = prospect_of(demand, part, facts.accountant)
        if one is None:
            return None
        found.append(one)
    return found


def candidates(
    domain: Domain, present: Sequence[Prospect], before: Sequence[Prospect]
) -> Iterator[Names]:
    """Sets of attributes to buy: that of the demands, and unions with those of the past."""
    own = {name for one in present for name in one.names}
    if not own:
        return
    often: dict[frozenset[str], int] = {}
    for one in before:
        key = frozenset(one.names)
        often[key] = often.get(key, 0) + 1
    unions: dict[Names, int] = {domain.in_order(own): 0}
    growing = set(own)
    for key in sorted(often, key=lambda k: (-often[k], sorted(k))):
        for union in (own | key, growing | key):
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


def whole_table(domain: Domain, names: Names, cell_variance: float, facts: Facts) -> Part:
    """The marginal over the names, to be measured with (a little less than) this variance."""
    everyone = Query.of(domain, [Term(Fraction(1), ())])
    measure = facts.accountant.measure
    noise_scale = math.sqrt(cell_variance / (2.0 if measure == "epsilon" else 1.0))
    return part_for(Marginal(names, everyone), noise_scale * (1.0 - 2.0**-18), measure)


def _excess(part: Part, missing: Sequence[Missing], facts: Facts) -> float:
    """The widest interval after a purchase, as a share of what is demanded."""
    longer = deepcopy(facts.inference)
    longer.extend(released_as_zeros(part))
    worst = 0.0
    for demand, _ in missing:
        width = offered(known_errors(demand.query, longer), demand.requirement.confidence)
        worst = max(worst, math.inf if width is None else width / demand.requirement.within)
    return worst
