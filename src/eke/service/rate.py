"""Rates: a bucket for each caller that fills with time; an empty one means wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeAlias

_MOST_BUCKETS = 10_000
Level: TypeAlias = tuple[float, float]
"""What is left in a bucket, and when that was seen."""


class Buckets(Protocol):
    """Levels by name; what was used longest ago makes room."""

    def held(self) -> AbstractContextManager[object]:
        """Within it nobody else reads or writes them."""

    def get(self, name: str) -> Level | None: ...

    def put(self, name: str, level: Level) -> None: ...


class OwnBuckets:
    """The buckets of one process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._levels: dict[str, Level] = {}

    def held(self) -> AbstractContextManager[object]:
        return self._lock

    def get(self, name: str) -> Level | None:
        return self._levels.get(name)

    def put(self, name: str, level: Level) -> None:
        self._levels.pop(name, None)
        self._levels[name] = level
        if len(self._levels) > _MOST_BUCKETS:
            del self._levels[next(iter(self._levels))]


class Rate:
    """So many a minute for each name, in bursts of up to a minute's worth."""

    def __init__(
        self,
        per_minute: int,
        clock: Callable[[], float] = time.monotonic,
        buckets: Buckets | None = None,
    ) -> None:
        self._per_second = per_minute / 60.0
        self._most = float(per_minute)
        self._clock = clock
        self._buckets = OwnBuckets() if buckets is None else buckets

    def take(self, name: str) -> float:
        """Zero, or the seconds to wait before one more is allowed."""
        with self._buckets.held():
            now = self._clock()
            left, when = self._buckets.get(name) or (self._most, now)
            left = min(self._most, left + (now - when) * self._per_second)
            allowed = left >= 1.0
            self._buckets.put(name, (left - 1.0 if allowed else left, now))
            return 0.0 if allowed else (1.0 - left) / self._per_second
