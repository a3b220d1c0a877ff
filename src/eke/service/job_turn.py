"""Job turns: who is next when several accounts wait for one worker.

Each account has a line of its own, and next is the account that was served longest ago: whoever has
three jobs waiting is not served thrice before somebody with one.
"""

from __future__ import annotations

import threading
from collections import deque


class JobTurns:
    """What waits, by account; threads may share it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._lines: dict[str, deque[str]] = {}  # of those who wait, whoever came first first
        self._served: dict[str, int] = {}  # the last turn of each account
        self._turn = 0
        self._closed = False

    def put(self, account: str, waiting: str) -> None:
        """Let something wait at the end of the account's line."""
        with self._changed:
            self._lines.setdefault(account, deque()).append(waiting)
            self._changed.notify()

    def take(self) -> str | None:
        """What is next, as soon as there is something; None once it is closed."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or bool(self._lines))
            if self._closed:
                return None
            account = min(self._lines, key=lambda one: self._served.get(one, 0))
            self._turn += 1
            self._served[account] = self._turn
            line = self._lines[account]
            job = line.popleft()
            if not line:
                del self._lines[account]
            return job

    def waiting(self) -> list[str]:
        """Everything that waits."""
        with self._changed:
            return [one for line in self._lines.values() for one in line]

    def close(self) -> None:
        """Hand out nothing more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
