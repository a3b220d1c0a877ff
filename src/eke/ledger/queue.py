"""A fair order among the writers of one file, so that none waits for ever.

SQLite lets waiting writers poll, the longer they have waited the less often, and each poll disturbs
the one who writes: with 64 writers some waited for more than 30 s. So writers on one machine first
take turns at an advisory lock of the operating system on the journal file, which is there anyway,
which SQLite itself never locks, and whose lock a dying process gives back. This is a courtesy: the
lock that keeps writers apart is SQLite's, taken next by everyone, with or without a turn.
"""

from __future__ import annotations

import os
import secrets
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl

_LONGEST_PAUSE = 0.02


@contextmanager
def turn(journal: Path, seconds: float) -> Iterator[None]:
    """A block that runs when its turn comes, or at the latest after some seconds."""
    owner = os.getpid()
    place = _queue_up(journal, seconds)
    try:
        yield
    finally:
        if place is not None:
            if os.getpid() == owner:  # a forked child must not give away its parent's turn
                _leave(place)
            os.close(place)


def _queue_up(journal: Path, seconds: float) -> int | None:
    """An open file that holds the lock; None where there is no such lock or journal."""
    if sys.platform == "win32":
        return None
    try:
        place = os.open(journal, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None  # no journal yet: the first writer needs no queue
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with suppress(OSError):
            fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        # Random, so that everybody has the same chance.
        time.sleep(_LONGEST_PAUSE * secrets.randbelow(1000) / 1000)
    return place


def _leave(place: int) -> None:
    """Give the lock back at once, even if a forked child still has the file open."""
    if sys.platform != "win32":
        with suppress(OSError):
            fcntl.flock(place, fcntl.LOCK_UN)
