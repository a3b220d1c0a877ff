"""Pace: what touched data becomes visible at multiples of a public step, and never in between.

    arrival ──── work ────┬─ wait ─┐
    0         step      2 step   3 step → the answer leaves

How long the work took shows only as a number of whole steps, and nearly all answers take the same
number. The steps are counted from the arrival of the request (or the beginning of the job): on a
clock that had nothing to do with it, the chance that a multiple falls into the work would grow with
its length, and an average over many answers would tell it.

Within an answer each look at the data takes whole steps as well, shorter ones (`eke.engine.tempo`):
planning and writing may cross a step of the answer, but what the data adds to them is the same.

Free answers are not held back: they are made of what was released, so their time is a function of
public things (docs/concepts/known-limits.md).
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from fastapi import Request

# Event loops sleep whole milliseconds, rounded up. How much that is depends on when the sleep
# began, that is, on the work; so the last of them are waited out in turns of no length.
_GRAIN = 0.002


@dataclass(frozen=True, slots=True)
class Pace:
    """A step in seconds, 0 for none, with the clock it is counted on."""

    step: float
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    nap: Callable[[float], None] = time.sleep

    def now(self) -> float:
        """The time on the clock."""
        return self.clock()

    def due(self, began: float) -> float:
        """The first moment from now on that is a multiple of the step after `began`."""
        now = self.clock()
        if not self.step:
            return now
        return began + self.step * max(1, math.ceil((now - began) / self.step))

    async def keep(self, began: float) -> None:
        """Return at a multiple of the step after `began`; no thread is held meanwhile."""
        due = self.due(began)
        while (left := due - self.clock()) > 0:
            await self.sleep(max(0.0, left - _GRAIN))

    def rest(self, began: float) -> None:
        """The same for a thread, which is held meanwhile."""
        due = self.due(began)
        while (left := due - self.clock()) > 0:
            self.nap(left)


def hold_back(request: Request, *, held: bool = True) -> None:
    """Let the answer to a request leave in step, whatever becomes of it; or not, after all.

    Privacy: call it before the session is asked for anything that may be paid for, so that errors
    and refusals on the way are held back as well.
    """
    request.state.held_back = held
