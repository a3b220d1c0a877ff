"""Price search: how little demands must be stretched so that a plan costs no more than a price.

Planning takes long, so it is done a bounded number of times. Loss is nearly a power of the stretch:
each guess is where that power meets the price, and where history or the accounts bend the curve,
the bracket is halved now and then.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

MOST_PLANS = 14
LEAST_PLANS = 4
"""With fewer, what is found may be far from the best."""
NOTICEABLE = 1.002
"""Intervals that differ by a smaller factor are taken for the same."""
_CLOSE = 0.998  # of the price: near enough
_AIM = 0.9995
_FARTHEST = 64.0


@dataclass(slots=True)
class _Bracket:
    """A stretch that is too expensive and one that is not, with their costs; 0 is none yet."""

    low: float = 0.0
    cost_low: int = 0
    high: float = 0.0
    cost_high: int = 0

    def take_in(self, stretch: float, cost: int, most: int) -> None:
        if cost <= most:
            self.high, self.cost_high = stretch, cost
        else:
            self.low, self.cost_low = stretch, cost

    def is_narrow(self, most: int) -> bool:
        if self.high and self.cost_high >= _CLOSE * most:
            return True
        return bool(self.low and self.high) and self.high <= NOTICEABLE * self.low

    def guess(self, aim: float, root: Callable[[float], float], *, halve: bool) -> float:
        """Where to look next."""
        if not self.high:
            return self.low * min(_FARTHEST, max(NOTICEABLE, root(self.cost_low / aim)))
        if not self.low:
            near = root(aim / self.cost_high) if self.cost_high else 4.0
            return self.high / min(_FARTHEST, max(NOTICEABLE, near))
        share = 0.5
        if self.cost_high and not halve:
            share = math.log(self.cost_low / aim) / math.log(self.cost_low / self.cost_high)
        return float(self.low * (self.high / self.low) ** min(max(share, 0.02), 0.98))


def least_stretch_for(
    cost_at: Callable[[float], int],
    start: float,
    most: int,
    root: Callable[[float], float],
    free_at: float | None,
    *,
    most_plans: int = MOST_PLANS,
) -> float | None:
    """The least stretch found at which what is planned costs at most `most` nano-units.

    `cost_at` plans for demands stretched so, `root` undoes the power with which losses grow as
    noise shrinks, and from `free_at` on history suffices. Fewer plans find a wider one. None:
    nothing noticeably narrower than that can be bought, or nothing at all.
    """
    widest = math.inf if free_at is None else free_at / NOTICEABLE
    bracket = _Bracket()
    stretch = min(start, widest)
    aim = max(_AIM * most, 0.5)
    for attempt in range(most_plans):
        bracket.take_in(stretch, cost_at(stretch), most)
        if bracket.is_narrow(most) or bracket.low >= widest:
            break
        stretch = min(bracket.guess(aim, root, halve=attempt % 3 == 2), widest)
    return bracket.high or None
