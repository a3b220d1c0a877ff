"""Suggestions: blocks that would make questions like those of the past free, and their prices.

Everything here follows from the ledger: which questions were paid for, how accurate they had to be,
and what each cost by itself. `look_ahead` buys by itself when the sums are right; a suggestion
shows the sums to the curator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from eke.planning.look_ahead.look_ahead import MOST_REMEMBERED, candidates
from eke.planning.look_ahead.offer import Offer, offers
from eke.planning.look_ahead.prospect import Names, Outlook, Prospect
from eke.planning.online.facts import Facts
from eke.privacy.accountant import Accountant
from eke.privacy.record_loss import NANO
from eke.query import Block

MOST_SUGGESTIONS = 8


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the frontier between cost and accuracy."""

    cost: float  # epsilon or rho of the block
    share: float  # of the questions seen, those that questions like them would be free
    noise: float  # standard deviation of each noisy answer


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A block over some attributes: what its questions cost so far, and what the block costs."""

    attributes: Names
    cells: int
    block: Block  # the whole table, or a strategy for ranges
    questions: int  # paid for so far, within the attributes
    paid: float  # what they cost, each by itself, added up for the record that paid most
    frontier: tuple[Point, ...]  # cheapest first; the last point serves all questions seen

    @property
    def cost(self) -> float:
        """What it costs to make questions like all those seen free."""
        return self.frontier[-1].cost


def suggestions(facts: Facts) -> list[Suggestion]:
    """Blocks for the questions paid for so far, those that save most first.

    For each set of attributes a table, or a hierarchy or wavelet where that is cheaper.

    Privacy: a function of the ledger.
    """
    accountant, domain = facts.accountant, facts.inference.domain
    before = facts.past.prospects(accountant, MOST_REMEMBERED)
    sets = {one.names: one for one in before if one.names}
    wanted = {names for one in sets.values() for names in candidates(domain, [one], before)}
    saved: list[tuple[float, Suggestion]] = []
    for names in sorted(wanted):
        inside = [one for one in before if set(one.names).issubset(names)]
        outlook = Outlook.over(
            names, inside, facts.past.blocks, accountant, domain=domain, worth=_rent
        )
        paid = float(outlook.rents.sum(axis=0).max()) / NANO
        cells, rows = math.prod(domain.sizes(names)), len(facts.inference.rows)
        cheapest: Suggestion | None = None
        for offer in offers(names, inside, accountant, domain, now=0, rows=rows):
            if offer.kind == "groups":
                continue  # a bet on habits, for the policy to make
            frontier = _frontier(offer, outlook, accountant)
            if frontier and (cheapest is None or frontier[-1].cost < cheapest.cost):
                cheapest = Suggestion(names, cells, offer.block, len(inside), paid, frontier)
        if cheapest is not None:
            saved.append((paid - cheapest.cost, cheapest))
    saved.sort(key=lambda pair: (-pair[0], len(pair[1].attributes), pair[1].attributes))
    return [one for _, one in saved[:MOST_SUGGESTIONS]]


def _frontier(offer: Offer, outlook: Outlook, accountant: Accountant) -> tuple[Point, ...]:
    """Cost against the share of questions served; empty when all are served already."""
    needed = [offer.variance_for(i, known) for i, known in enumerate(outlook.known)]
    open_ones = sorted((v for v in needed if math.isfinite(v)), reverse=True)
    met = len(needed) - len(open_ones)
    frontier = []
    for place, variance in enumerate(open_ones):
        part = offer.part(variance)
        price = accountant.price(part.query, part.law) / NANO
        share = (met + place + 1) / len(needed)
        frontier.append(Point(price, share, math.sqrt(variance)))
    return tuple(frontier)


def _rent(prospect: Prospect) -> float:
    return prospect.rent
