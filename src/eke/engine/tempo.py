"""Tempo: how long data is looked at, told in whole steps of a public length or not at all.

    look ──── count, add noise ────┬─ rest ─┐
    0                            step     2 step → what was drawn is stored

All that comes after is made of what was drawn, so its time tells nothing else. With a step that is
much longer than counting takes, nearly every look takes one, on a busy machine as well: only the
few milliseconds at the data can cross it, and not the planning and writing around them. A session
by itself has no such step; a server has one (`eke.service.pace`).
"""

from __future__ import annotations

from typing import Protocol


class Tempo(Protocol):
    """A clock, and rests that end at whole steps of it."""

    def now(self) -> float:
        """The time at which a look begins."""
        ...

    def rest(self, began: float) -> None:
        """Return a whole number of steps after `began`."""
        ...


class Unpaced:
    """No steps: nobody who is not trusted sees the time."""

    def now(self) -> float:
        return 0.0

    def rest(self, began: float) -> None:
        """Return at once."""


UNPACED = Unpaced()
