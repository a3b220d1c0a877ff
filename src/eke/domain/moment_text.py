"""Moment texts: which texts spell a day, a moment or a time of day, so that all engines agree.

A text is matched against a pattern of the few means that Python and every data engine share.
Without a declared form the text is that of ISO 8601: a date, with or without a time of day and its
distance from UTC; or a time of day alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache

from eke.errors import DomainError

_HOUR, _SIXTY = "([01][0-9]|2[0-3])", "[0-5][0-9]"
_FOURTH = "(0[48]|[2468][048]|[13579][26])"  # two digits of a leap year
DAY_PATTERN = (
    "((000[1-9]|00[1-9][0-9]|0[1-9][0-9]{2}|[1-9][0-9]{3})"
    "-((0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])|(0[469]|11)-(0[1-9]|[12][0-9]|30)"
    rf"|02-(0[1-9]|1[0-9]|2[0-8]))|([0-9]{{2}}{_FOURTH}|{_FOURTH}00)-02-29)"
)
"""All days of the Gregorian calendar from 0001-01-01 to 9999-12-31."""
DISTANCE = rf"(Z|[+-]{_HOUR}(:?{_SIXTY})?)"
"""How far from UTC the clock was that a text tells the time of."""
CLOCK = rf"{_HOUR}:{_SIXTY}(:{_SIXTY}(\.[0-9]+)?)?"
"""The texts that spell a time of day if no form is declared."""
NAIVE = f"{DAY_PATTERN}([T ]{CLOCK})?"
"""The texts that spell a day if no form is declared; all numbers stand at fixed places."""
ZONED = f"{DAY_PATTERN}[T ]{CLOCK} ?{DISTANCE}"
"""The texts that spell a moment, with its distance from UTC."""

_DIRECTIVES = {
    "Y": ("year", "([0-9]{4})", "([0-9]{4})"),
    "m": ("month", "([0-9]{2})", "([0-9]{1,2})"),
    "d": ("day", "([0-9]{2})", "([0-9]{1,2})"),
    "H": ("hour", "([01][0-9]|2[0-3])", "([01]?[0-9]|2[0-3])"),
    "M": ("minute", "([0-5][0-9])", "([0-5]?[0-9])"),
    "S": ("second", "([0-5][0-9])", "([0-5]?[0-9])"),
}
DAY_PARTS, CLOCK_PARTS = ("year", "month", "day"), ("hour", "minute", "second")
_PLAIN = "-/., :;_T"  # what may stand between the numbers: nothing that a pattern gives a meaning


@dataclass(frozen=True, slots=True)
class MomentForm:
    """A declared form of texts: its pattern, and which of the pattern's groups is which number."""

    pattern: str
    groups: Mapping[str, int]

    def read(self, text: str) -> datetime | time | None:
        """The moment that a text spells, if it is one; of a form without days, the time of day."""
        match = re.fullmatch(self.pattern, text, re.ASCII)
        if match is None:
            return None
        told = {name: int(match[group]) for name, group in self.groups.items()}
        hour, minute, second = (told.get(name, 0) for name in CLOCK_PARTS)
        clock = time(hour, minute, second)
        if "year" not in told:
            return clock
        day = _day(*(told[name] for name in DAY_PARTS))
        return None if day is None else datetime.combine(day, clock)


@lru_cache
def day_form(form: str) -> MomentForm:
    """The form of days and moments, such as %d.%m.%Y or %Y%m%d %H:%M; numbers only."""
    made = _form(form)
    if not set(DAY_PARTS) <= set(made.groups):
        raise DomainError(_ADVICE.format(form))
    return made


@lru_cache
def clock_form(form: str) -> MomentForm:
    """The form of times of day, such as %H.%M; numbers only."""
    made = _form(form)
    if "hour" not in made.groups or set(DAY_PARTS) & set(made.groups):
        raise DomainError(_CLOCK_ADVICE.format(form))
    return made


def _form(form: str) -> MomentForm:
    """The form that directives of `strptime` describe.

    Month and day may be written with one digit where something else than a digit stands on both
    sides, so that there is one way only to read a text.
    """
    pieces = re.findall(r"%.|[^%]|%$", form, re.DOTALL)
    pattern, groups = "", dict[str, int]()
    for place, piece in enumerate(pieces):
        if not piece.startswith("%"):
            if piece not in _PLAIN:
                raise DomainError(_ADVICE.format(form))
            pattern += re.escape(piece) if piece == "." else piece
            continue
        if piece[1:] not in _DIRECTIVES:
            raise DomainError(_ADVICE.format(form))
        name, exact, loose = _DIRECTIVES[piece[1:]]
        alone = not any(p.startswith("%") for p in pieces[max(place - 1, 0) : place])
        alone &= not any(p.startswith("%") for p in pieces[place + 1 : place + 2])
        if name in groups:
            raise DomainError(f"the form {form!r} names the {name} twice; write it once")
        groups[name] = len(groups) + 1
        pattern += loose if alone else exact
    return MomentForm(pattern, groups)


def iso_moment(text: str) -> datetime | None:
    """The moment that an ISO text spells, by seconds; with a distance from UTC, in UTC."""
    if re.fullmatch(NAIVE, text, re.ASCII) is not None:
        day = written_day(text[:10])
        return None if day is None else datetime.combine(day, _clock(text[11:19]))
    day = written_day(text[:10]) if re.fullmatch(ZONED, text, re.ASCII) is not None else None
    distance = re.search(DISTANCE + "$", text, re.ASCII)
    if day is None or distance is None:
        return None
    moment = datetime.combine(day, _clock(text[11:19].partition(distance[0])[0]), UTC)
    written = distance[0].lstrip("Z+-").replace(":", "").ljust(4, "0")
    ahead = timedelta(hours=int(written[:2]), minutes=int(written[2:]))
    try:
        return moment + ahead if distance[0].startswith("-") else moment - ahead
    except OverflowError:  # the first and the last day of the calendar
        return moment


def iso_clock(text: str) -> time | None:
    """The time of day that an ISO text spells, by seconds."""
    return _clock(text[:8]) if re.fullmatch(CLOCK, text, re.ASCII) is not None else None


def written_day(text: str) -> date | None:
    """The day of a text such as 2013-01-31, as people write it in a question."""
    if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text, re.ASCII) is None:
        return None
    return _day(int(text[:4]), int(text[5:7]), int(text[8:]))


def written_moment(text: str) -> datetime | None:
    """The moment of a text such as 2013-01-31 05:00, as people write it; a day is its midnight."""
    is_told = re.fullmatch(NAIVE, text, re.ASCII) is not None
    day, clock = written_day(text[:10]) if is_told else None, written_clock(text[11:] or "00:00")
    return None if day is None or clock is None else datetime.combine(day, clock)


def written_clock(text: str) -> time | None:
    """The time of day of a text such as 05:00 or 05:00:30.5, as people write it."""
    clock, fraction = iso_clock(text), text.partition(".")[2]
    if clock is None or len(fraction) > 6:
        return None
    return clock.replace(microsecond=int(fraction.ljust(6, "0")))


def _clock(text: str) -> time:
    hour, minute, second = [*map(int, re.findall("[0-9]{2}", text)), 0, 0, 0][:3]
    return time(hour, minute, second)


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


_ADVICE = (
    "the form {!r} cannot be read; write numbers only, each once, with signs between them: "
    "%Y, %m and %d, and perhaps %H, %M and %S, as in '%d.%m.%Y'"
)
_CLOCK_ADVICE = (
    "the form {!r} of a time of day cannot be read; write %H, and perhaps %M and %S, each once, "
    "with signs between them, as in '%H.%M'"
)
