"""Turns: long work of many accounts on few places, none of which one account can keep from others.

Python computes one thing at a time, so a server lets few requests compute for long at once. An
account has at most one of the places, whatever it sends, and few more of its requests may wait;
the rest are told to come again, for a request that waits holds a thread. Whose turn it is next:
the account's that had its last turn longest ago.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from eke.service.failure import Problem

PLACES = 2
"""Long work under way at a time, of all accounts."""
WAITING = 2
"""Requests of one account that may wait for its place."""
PATIENCE = 10.0
"""Seconds that a request waits."""


class FairTurns:
    """The places for long work, shared out among accounts. Threads share it."""

    def __init__(
        self, places: int = PLACES, waiting: int = WAITING, patience: float = PATIENCE
    ) -> None:
        self._places, self._most_waiting, self._patience = places, waiting, patience
        self._changed = threading.Condition()
        self._working: set[str] = set()
        self._waiting: dict[int, str] = {}  # tickets in the order of their requests
        self._tickets = 0
        self._last: dict[str, int] = {}  # the ticket with which an account had its last turn

    @contextmanager
    def turn(self, account: str, steps: int = 0) -> Iterator[None]:
        """Within it a request computes for long; raises `Problem` (429) when it must come again."""
        del steps  # counted and bounded by whoever asks for the turn
        self._begin(account)
        try:
            yield
        finally:
            with self._changed:
                self._working.discard(account)
                self._changed.notify_all()

    def _begin(self, account: str) -> None:
        with self._changed:
            if list(self._waiting.values()).count(account) >= self._most_waiting:
                raise _busy("other long requests of yours are waiting; wait for their answers")
            self._tickets += 1
            ticket = self._tickets
            self._waiting[ticket] = account
            try:
                if not self._changed.wait_for(lambda: self._next() == ticket, self._patience):
                    raise _busy("the server is computing for you and for others; wait")
                self._working.add(account)
                self._last[account] = ticket
            finally:
                del self._waiting[ticket]
                self._changed.notify_all()

    def _next(self) -> int | None:
        """The ticket that is next; None while there is no place for any."""
        if len(self._working) >= self._places:
            return None
        able = [one for one, account in self._waiting.items() if account not in self._working]
        return min(able, key=lambda one: (self._last.get(self._waiting[one], 0), one), default=None)


def _busy(reason: str) -> Problem:
    return Problem(429, "Busy", f"{reason}; nothing was spent", retry_after=10)
