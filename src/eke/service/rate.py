"""Rates: a bucket for each caller that fills with time; an empty one means wait."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_MOST_BUCKETS = 10_000


class Rate:
    """So many a minute for each name, in bursts of up to a minute's worth."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_minute / 60.0
        self._most = float(per_minute)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[str, tuple[float, float]] = {}  # name -> (left, when)

    def take(self, name: str) -> float:
        """Zero, or the seconds to wait before one more is allowed."""
        with self._lock:
            now = self._clock()
            left, when = self._buckets.pop(name, (self._most, now))
            left = min(self._most, left + (now - when) * self._per_second)
            if left < 1.0:
                self._buckets[name] = (left, now)
                return (1.0 - left) / self._per_second
            self._buckets[name] = (left - 1.0, now)
            if len(self._buckets) > _MOST_BUCKETS:  # the one that was used longest ago
                del self._buckets[next(iter(self._buckets))]
            return 0.0
