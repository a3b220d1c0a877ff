"""Stretch: by how much a refused list of demands must be relaxed before the budget allows it.

Planning takes long, so it is done a few times and not over and over. Measurements with s times the
noise meet demands relaxed by s, whatever is known, and their cost needs no planning: the least such
s is found first. It is planned once, as if it were asked, for an advice must hold. Only where
history helps can less do; then two more plans narrow it down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from eke.planning.online.facts import Facts
from eke.planning.online.plan import Part, part_for

_FINE = 1.01  # to a hundredth
_MOST = 2.0**10
_TRIES = 3
_NARROWINGS = 2


def least_with_noise(rents: Sequence[Part], facts: Facts) -> float | None:
    """The least factor, to a hundredth, by which noise makes the measurements affordable."""
    # Loss falls with noise as 1/s, or as 1/s²: often the first guess is the answer.
    over = _grown(rents, 1.0, facts) / max(1, facts.limit - facts.spent)
    guess = facts.measure.root(over)
    low, high = 1.0, max(_FINE, 1.001 * guess)
    while not _affords(rents, high, facts):
        low, high = high, high * 2.0
        if high > _MOST:
            return None
    nearly = high / _FINE
    if nearly > low and not _affords(rents, nearly, facts):
        low = nearly
    while high / low > _FINE * 1.0001:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _affords(rents, middle, facts) else (middle, high)
    return high


def least_affordable(
    planned: Callable[[float], int], most: float, rents: Sequence[Part], facts: Facts
) -> float | None:
    """The least stretch found at which what is planned costs no more than is left.

    `planned` is the growth of the loss by the plan for demands relaxed so; `most` is about enough.
    """
    left = facts.limit - facts.spent
    high = most
    for attempt in range(_TRIES):
        cost = planned(high)
        if cost <= left:
            break
        high *= 1.0 + 0.004 * 4.0**attempt
    else:
        return None
    low, highest = 1.0, _grown(rents, 1.0, facts)
    for _ in range(_NARROWINGS):
        if high / low <= _FINE or not 0 < cost < highest:
            break
        # Loss is nearly a power of the stretch: the next guess is where that meets what is left.
        share = math.log(highest / max(1, left)) / math.log(highest / cost)
        guess = low * (high / low) ** min(1.0, share) * 1.002
        if guess >= high / 1.002:
            break
        price = planned(guess)
        if price <= left:
            high, cost = guess, price
        else:
            low, highest = guess, price
    return high


def _affords(rents: Sequence[Part], stretch: float, facts: Facts) -> bool:
    return _grown(rents, stretch, facts) <= facts.limit - facts.spent


def _grown(rents: Sequence[Part], stretch: float, facts: Facts) -> int:
    """The growth of the loss by the same measurements with so many times the noise."""
    measured = []
    for part in rents:
        law = part.law
        noise_scale = law.laplace_scale or math.sqrt(law.gaussian_variance)
        wider = part_for(part.query, noise_scale * stretch, facts.measure)
        measured.append((wider.query, wider.law))
    return facts.accountant.after_all(measured, facts.limit) - facts.spent
