"""Logic: SQL's three truth values. None is SQL's NULL: unknown."""

from __future__ import annotations


def both(first: bool | None, second: bool | None) -> bool | None:
    """SQL's AND: false if either is, unknown if that may be."""
    if first is False or second is False:
        return False
    return None if first is None or second is None else True


def either(first: bool | None, second: bool | None) -> bool | None:
    """SQL's OR: true if either is, unknown if that may be."""
    if first is True or second is True:
        return True
    return None if first is None or second is None else False


def opposite(truth: bool | None) -> bool | None:
    """SQL's NOT: what is unknown stays unknown."""
    return None if truth is None else not truth
