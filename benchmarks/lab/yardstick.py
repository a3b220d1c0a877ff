"""Yardstick: what somebody who knows the whole trace beforehand would do with the limit.

Tables are chosen offline: every demand is given a marginal that contains it (over its own
attributes, or over a larger set that is shared), and noise is chosen for each marginal so that most
arrivals are answered for the limit. The best of several ways to share is kept: an achievable
figure, so an upper bound of the least loss. The lower bound is for any mechanism with pure
differential privacy: with half-width w at confidence 1-δ, tables that differ in k = ⌊2w/S⌋ + 1
records of the right kind have answers whose intervals do not meet, so 1-δ ≤ e^{kε}·δ.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.lab.traces import Trace
from eke.planning import direct, part_for
from eke.planning.prospect import MOST_CELLS, Names, Prospect, prospect_of
from eke.privacy.accountant import Accountant, Measure
from eke.privacy.record_loss import NANO
from eke.query import sensitivity

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Yardstick:
    """The share of arrivals that foresight answers, its loss, and the least loss for them all."""

    answered: float
    loss: float
    all_answered: float  # the loss with which every arrival is answered
    least: float  # no pure mechanism answers every arrival with less


def yardstick(trace: Trace, measure: Measure) -> Yardstick:
    """What foresight achieves on a trace."""
    often = Counter(trace.arrivals)
    accountant = Accountant(trace.table.domain, measure, "add_remove")
    prospects: list[tuple[Prospect, int]] = []
    for place, times in often.items():
        demand = trace.demands[place]
        part = part_for(demand.query, direct(demand.requirement, None, measure), measure)
        one = prospect_of(demand, part, accountant)
        if one is not None:
            prospects.append((one, times))
    limit = trace.limit / NANO
    best: tuple[float, float] = (0.0, math.inf)
    everything = math.inf
    for homes in _ways_to_share(trace, prospects):
        groups: dict[Names, list[tuple[float, int]]] = {}
        for (one, times), names in zip(prospects, homes, strict=True):
            cells = math.prod(trace.table.domain.sizes(names))
            variance = one.needed_variance(cells, measure) / one.squares(cells)
            price = math.sqrt(2.0 / variance) if measure == "epsilon" else 0.5 / variance
            groups.setdefault(names, []).append((price, times))
        everything = min(everything, sum(max(p for p, _ in own) for own in groups.values()))
        answered, loss = _allocated(list(groups.values()), limit)
        best = max(best, (answered / len(trace.arrivals), loss), key=lambda x: (x[0], -x[1]))
    least = 0.0
    for place in often:
        wanted = trace.demands[place].requirement
        delta = 1.0 - wanted.confidence
        reach = float(sensitivity(trace.demands[place].query, "add_remove"))
        records = math.floor(2.0 * wanted.within / reach) + 1
        least = max(least, math.log(wanted.confidence / delta) / records)
    return Yardstick(*best, everything, least if measure == "epsilon" else 0.0)


def _ways_to_share(trace: Trace, prospects: list[tuple[Prospect, int]]) -> list[list[Names]]:
    domain = trace.table.domain
    own = [one.names or domain.names[:1] for one, _ in prospects]
    sets = sorted(set(own), key=lambda names: (-len(names), names))
    ways = [own]
    for most in (2**6, 2**8, 2**10, 2**12, MOST_CELLS):
        kept: list[Names] = []
        for names in sets:  # larger sets take in smaller ones, up to so many cells
            for place, home in enumerate(kept):
                union = domain.in_order({*home, *names})
                if set(names).issubset(home) or math.prod(domain.sizes(union)) <= most:
                    kept[place] = union
                    break
            else:
                kept.append(names)
        ways.append([next(h for h in kept if set(n).issubset(h)) for n in own])
    return ways


def _allocated(groups: list[list[tuple[float, int]]], limit: float) -> tuple[int, float]:
    """Arrivals answered and loss: for each group a price, by a common price for an answer."""
    steps = []
    for group in groups:
        prices, times = (np.array(x, np.float64) for x in zip(*sorted(group), strict=True))
        steps.append((np.append(0.0, prices), np.append(0.0, np.cumsum(times))))

    def chosen(worth: float) -> tuple[int, float]:
        picks = [int(np.argmax(gained - worth * prices)) for prices, gained in steps]
        answered = sum(gained[i] for i, (_, gained) in zip(picks, steps, strict=True))
        return int(answered), float(sum(p[i] for i, (p, _) in zip(picks, steps, strict=True)))

    low, high = 1e-12, 1e12
    best = (0, 0.0)
    for _ in range(120):
        middle = math.sqrt(low * high)
        found = chosen(middle)
        if found[1] <= limit:
            best, high = max(best, found, key=lambda x: x[0]), middle
        else:
            low = middle
    return best
