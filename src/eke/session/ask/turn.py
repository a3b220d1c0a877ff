"""Turns: who may compute next, where several share a machine.

A session by itself lets everybody compute at once. A server lets few do so whose work is long, and
shares the places out among accounts (`eke.service.turns`).
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

Turns: TypeAlias = Callable[[str, int], AbstractContextManager[None]]
"""A turn for an analyst's work of so many steps (`online/effort.py`): in it they compute."""


def at_once(analyst: str, steps: int) -> AbstractContextManager[None]:
    """Nobody has to wait."""
    del analyst, steps
    return nullcontext()
