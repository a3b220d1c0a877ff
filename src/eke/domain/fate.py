"""Fate: what a raw value is to an attribute, before any rule has its say."""

from __future__ import annotations

from enum import IntEnum


class Fate(IntEnum):
    """One of five: a value of the domain, or what a rule is for."""

    DECLARED = 0
    MISSING = 1
    """NULL or NaN, for the rule `null`."""
    BEYOND = 2
    """A number below or above all bounds, for the rule `outside`."""
    UNDECLARED = 3
    """Anything else, for the rule `outside`; where that says clamp, for `null`."""
    ROUNDED = 4
    """A number between declared ones, which counts as one of them, whatever the rules."""
