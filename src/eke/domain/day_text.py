"""Day texts: which texts spell a day, in a form that Python and every data engine read alike.

A text is matched against a pattern of the few means that all of them share. Without a declared form
the text is that of ISO 8601: a date, with or without a time of day and its distance from UTC.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
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
_CLOCK = rf"[T ]{_HOUR}:{_SIXTY}(:{_SIXTY}(\.[0-9]+)?)?"
NAIVE = f"{DAY_PATTERN}({_CLOCK})?"
"""The texts that spell a day if no form is declared; year, month and day stand at fixed places."""
ZONED = f"{DAY_PATTERN}{_CLOCK} ?{DISTANCE}"
"""The texts that spell a moment, with its distance from UTC."""

_DIRECTIVES = {
    "Y": ("year", "([0-9]{4})", "([0-9]{4})"),
    "m": ("month", "([0-9]{2})", "([0-9]{1,2})"),
    "d": ("day", "([0-9]{2})", "([0-9]{1,2})"),
    "H": ("hour", "([01][0-9]|2[0-3])", "([01]?[0-9]|2[0-3])"),
    "M": ("minute", "([0-5][0-9])", "([0-5]?[0-9])"),
    "S": ("second", "([0-5][0-9])", "([0-5]?[0-9])"),
}
_PLAIN = "-/., :;_T"  # what may stand between the numbers: nothing that a pattern gives a meaning


@dataclass(frozen=True, slots=True)
class DayForm:
    """A declared form of texts: its pattern, and which of the pattern's groups is which number."""

    pattern: str
    groups: Mapping[str, int]

    def day(self, text: str) -> date | None:
        """The day that a text spells, if it is one."""
        match = re.fullmatch(self.pattern, text, re.ASCII)
        if match is None:
            return None
        return _day(*(int(match[self.groups[name]]) for name in ("year", "month", "day")))


@lru_cache
def day_form(form: str) -> DayForm:
    """The form that directives of `strptime` describe, such as %d.%m.%Y; numbers only.

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
    if not {"year", "month", "day"} <= set(groups):
        raise DomainError(_ADVICE.format(form))
    return DayForm(pattern, groups)


def iso_day(text: str) -> date | datetime | None:
    """The day that an ISO text spells; with a distance from UTC, the moment in UTC."""
    if re.fullmatch(NAIVE, text, re.ASCII) is not None:
        return written_day(text[:10])
    day = written_day(text[:10]) if re.fullmatch(ZONED, text, re.ASCII) is not None else None
    distance = re.search(DISTANCE + "$", text, re.ASCII)
    if day is None or distance is None:
        return None
    clock = [int(part) for part in re.findall("[0-9]{2}", text[11:19].partition(distance[0])[0])]
    hours, minutes, seconds = [*clock, 0][:3]
    moment = datetime(day.year, day.month, day.day, hours, minutes, seconds, tzinfo=UTC)
    written = distance[0].lstrip("Z+-").replace(":", "").ljust(4, "0")
    ahead = timedelta(hours=int(written[:2]), minutes=int(written[2:]))
    try:
        return moment + ahead if distance[0].startswith("-") else moment - ahead
    except OverflowError:  # the first and the last day of the calendar
        return moment


def written_day(text: str) -> date | None:
    """The day of a text such as 2013-01-31, as people write it in a question."""
    if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text, re.ASCII) is None:
        return None
    return _day(int(text[:4]), int(text[5:7]), int(text[8:]))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


_ADVICE = (
    "the form {!r} cannot be read; write numbers only, each once, with signs between them: "
    "%Y, %m and %d, and perhaps %H, %M and %S, as in '%d.%m.%Y'"
)
