"""Steps: the public lengths of time that moments and times of day are told by."""

from __future__ import annotations

import re
from functools import lru_cache

from eke.domain.zone import DAY
from eke.errors import DomainError

UNITS = {"day": DAY, "hour": 3600, "minute": 60, "second": 1}
"""The units of a step, in seconds."""


@lru_cache
def step_seconds(step: str) -> int:
    """The seconds of a step such as "hour" or "15 minutes", if a day is made of whole ones."""
    match = re.fullmatch("([1-9][0-9]{0,4} )?(day|hour|minute|second)s?", step, re.ASCII)
    seconds = int(match[1] or 1) * UNITS[match[2]] if match else 0
    if not seconds or DAY % seconds:
        raise DomainError(_ADVICE.format(step))
    return seconds


def checked_step(step: object) -> int:
    """The same of whatever is given for a step."""
    if not isinstance(step, str):
        raise DomainError(_ADVICE.format(step))
    return step_seconds(step)


def step_text(seconds: int) -> str:
    """A step as a file writes it."""
    name, unit = next((name, unit) for name, unit in UNITS.items() if seconds % unit == 0)
    return name if seconds == unit else f"{seconds // unit} {name}s"


_ADVICE = (
    "the step {!r} cannot be used; write 'day', 'hour', 'minute', 'second', or several of them "
    "that a day is made of, as in '15 minutes' or '6 hours'"
)
