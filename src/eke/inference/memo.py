"""Memo: what was made of one state of the history, so that it is made once.

The same question is decided upon, answered and looked at, by many. What is kept is bounded by the
numbers in it; when there is no more room, everything is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

T = TypeVar("T")

MOST_NUMBERS = 2**22
MOST_KEPT_FEW = 16
_EACH = 64  # numbers' worth of room that anything takes by itself


class Memo:
    """Results by what they were made of. Threads may share it: at worst two make the same."""

    def __init__(self) -> None:
        self._made: dict[Hashable, Any] = {}
        self._numbers = 0

    def get(self, key: Hashable, make: Callable[[], T], numbers: Callable[[T], int]) -> T:
        """What was made under a key; else it is made now, and holds so many numbers."""
        try:
            made: T = self._made[key]  # one look: another thread may make room at any time
        except KeyError:
            made = make()
            room = _EACH + numbers(made)
            if self._numbers + room > MOST_NUMBERS:
                self._made, self._numbers = {}, 0
            self._made[key] = made
            self._numbers += room
        return made


def keep_few(few: dict[Hashable, T], key: Hashable, value: T) -> T:
    """Keep a value beside a few others; when there are too many, the others are forgotten.

    Whoever asks chooses the confidence of an interval, and may choose another one each time.
    """
    if len(few) >= MOST_KEPT_FEW:
        few.clear()
    few[key] = value
    return value
