"""Objects made of given parts, and views: copies that share all that is there already."""

from __future__ import annotations

from copy import copy
from typing import Any, TypeVar

T = TypeVar("T")


def made_of(kind: type[T], **parts: Any) -> T:
    """An object that has just these parts, whatever its constructor would make."""
    made = kind.__new__(kind)
    for name, part in parts.items():
        setattr(made, name, part)
    return made


def view_with(original: T, **parts: Any) -> T:
    """A copy of an object with these parts in place of its own; all others are shared."""
    made = copy(original)
    for name, part in parts.items():
        setattr(made, name, part)
    return made
