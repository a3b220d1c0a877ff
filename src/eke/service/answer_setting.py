"""Answer settings: what tools that cannot say it in a question say about all of them.

A connection of PostgreSQL's protocol sets them; a curator may give an account what its connections
begin with.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from types import MappingProxyType

from eke.domain.zone import DAY
from eke.errors import AccuracyError, ServiceError
from eke.planning.online.policy import POLICIES
from eke.question.calendar import Calendar
from eke.session.ask.aim import half_width

ANSWER_SETTINGS = MappingProxyType(
    {
        "eke.confidence": "",
        "eke.groups_of": "",
        "eke.intervals": "off",
        "eke.policy": "",
        "eke.spend": "on",
        "eke.within": "",
    }
)
"""Each with its value where nobody sets it."""
_SWITCH = {
    **dict.fromkeys(("on", "true", "yes", "1", "t"), "on"),
    **dict.fromkeys(("off", "false", "no", "0", "f"), "off"),
}


def checked_setting(name: str, value: str) -> str:
    """The value as it is kept; a ServiceError for one that makes no sense."""
    text = value.strip()
    if name not in ANSWER_SETTINGS:
        raise ServiceError(f"there is no setting {name[:63]!r}: {', '.join(ANSWER_SETTINGS)}")
    if name in ("eke.spend", "eke.intervals"):
        switch = _SWITCH.get(text.lower())
        if switch is None:
            raise ServiceError(f"{name} is on or off")
        return switch
    if name == "eke.policy" and text and text not in POLICIES:
        raise ServiceError(f"eke.policy is one of {', '.join(POLICIES)}")
    if name in _SENSIBLE and text:
        sensible, words = _SENSIBLE[name]
        try:
            makes_sense = sensible(text)
        except (AccuracyError, ValueError):
            makes_sense = False
        if not makes_sense:
            raise ServiceError(f"{name} {words}")
    return text


def within_of(text: str) -> float | str | None:
    """What `within` of a question is: a number, a share or a length; None for nothing."""
    if not text:
        return None
    return text if text[-1] == "%" or text[-1].isalpha() else float(text)


_BY_DAYS = Calendar("day", DAY)  # any will do to tell whether a text is a length
_SENSIBLE: dict[str, tuple[Callable[[str], bool], str]] = {
    "eke.within": (
        lambda text: 0.0 < half_width(within_of(text) or 0.0, _BY_DAYS)[0] < math.inf,
        "is a positive number, a share of the value such as '2 %', or a length such as '6 hours'",
    ),
    "eke.confidence": (
        lambda text: 0.0 < float(text) < 1.0,
        "is between 0 and 1, for example 0.95",
    ),
    "eke.groups_of": (
        lambda text: int(text) >= 1,
        "is a whole number of records, at least 1",
    ),
}
