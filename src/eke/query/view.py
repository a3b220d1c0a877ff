"""Views: copies of what only grows, which share all that is there already."""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar

T = TypeVar("T")


def view_with(original: T, **parts: Any) -> T:
    """A copy of an object with these parts in place of its own; all others are shared."""
    found = copy(original)
    for name, part in parts.items():
        setattr(found, name, part)
    return found
