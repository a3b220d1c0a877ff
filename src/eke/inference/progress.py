"""Progress: how long work tells whoever waits how far it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, float], None]
"""Called with what is being done and the part of it that is done, from 0 to 1."""


def silent(what: str, done: float) -> None:
    """Nobody is waiting."""
