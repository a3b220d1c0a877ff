"""Suggestions: tables that would make questions like those of the past free, and their prices.

Everything here follows from the ledger: which questions were paid for, how accurate they had to be,
and what each cost by itself. `look_ahead` buys by itself when the sums are right; a suggestion
shows the sums to the curator.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from eke.planning.facts import Facts
from eke.planning.look_ahead import MOST_REMEMBERED, candidates, whole_table
from eke.planning.prospect import Names, Outlook
from eke.privacy.record_loss import NANO

MOST_SUGGESTIONS = 8


@dataclass(frozen=True, slots=True)
class Point:
    """A point of the frontier between cost and accuracy."""

    cost: float  # epsilon or rho of the table
    share: float  # of the questions seen, those that questions like them would be free
    noise: float  # standard deviation of a cell


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A table over some attributes: what its questions cost so far, and what the table costs."""

    attributes: Names
    cells: int
    questions: int  # paid for so far, within the attributes
    paid: float  # what they cost, each by itself, added up for the record that paid most
    frontier: tuple[Point, ...]  # cheapest first; the last point serves all questions seen

    @property
    def cost(self) -> float:
        """What a table costs with which questions like all those seen become free."""
        return self.frontier[-1].cost


def suggestions(facts: Facts) -> list[Suggestion]:
    """Tables for the questions paid for so far, those that save most first.

    Privacy: a function of the ledger.
    """
    accountant, domain = facts.accountant, facts.inference.domain
    before = facts.past.prospects(accountant, MOST_REMEMBERED)
    sets = {one.names: one for one in before if one.names}
    wanted = {names for one in sets.values() for names in candidates(domain, [one], before)}
    found: list[tuple[float, Suggestion]] = []
    for names in sorted(wanted):
        inside = [one for one in before if set(one.names).issubset(names)]
        outlook = Outlook.over(names, inside, facts.past.tables, accountant, domain, octaves=0.0)
        needed = [outlook.cell_variance(i) for i in range(len(inside))]
        open_ones = sorted((v for v in needed if math.isfinite(v)), reverse=True)
        if not open_ones:
            continue  # tables that were bought serve all of them already
        met = len(inside) - len(open_ones)
        frontier = []
        for place, variance in enumerate(open_ones):
            part = whole_table(domain, names, variance, facts)
            price = accountant.price(part.query, part.law) / NANO
            share = (met + place + 1) / len(inside)
            frontier.append(Point(price, share, math.sqrt(variance)))
        paid = float(outlook.rents.sum(axis=0).max()) / NANO
        one = Suggestion(names, math.prod(domain.sizes(names)), len(inside), paid, tuple(frontier))
        found.append((paid - one.cost, one))
    found.sort(key=lambda pair: (-pair[0], len(pair[1].attributes), pair[1].attributes))
    return [one for _, one in found[:MOST_SUGGESTIONS]]
