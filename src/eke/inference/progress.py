"""Progress: how long work tells whoever waits how far it is, and how they stop it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, float], None]
"""Called with what is being done and the part of it that is done, from 0 to 1."""


class Stopped(BaseException):
    """Whoever was told of progress wants no more of it; `reason` is what they raised.

    No `Exception`: it is not the work that failed, and what was paid for can go on later.
    """

    def __init__(self, reason: Exception) -> None:
        super().__init__(str(reason))
        self.reason = reason


def silent(what: str, done: float) -> None:
    """Nobody is waiting."""


def stoppable(progress: Progress) -> Progress:
    """The same, but what it raises cannot be taken for a failure of the work."""

    def tell(what: str, done: float) -> None:
        try:
            progress(what, done)
        except Exception as reason:
            raise Stopped(reason) from reason

    return tell
