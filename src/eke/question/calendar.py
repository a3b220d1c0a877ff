"""Calendar: dates, timestamps and times of day as numbers, and how such numbers are told.

A date is the number of its day since 1970, a timestamp that of its second, and a time of day that
of its second since midnight. What is planned, measured and stored is about numbers; an analyst
reads and writes texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from fractions import Fraction

from eke.domain.attribute import Attribute
from eke.domain.moment_text import written_clock, written_day, written_moment
from eke.domain.zone import DAY
from eke.errors import AccuracyError
from eke.question.groups import MomentKind

_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001 - of the wall's clock
_KINDS: dict[str, MomentKind] = {"day": "day", "moment": "moment", "clock": "clock"}
_LENGTHS = {"week": 7 * DAY, "day": DAY, "hour": 3600, "minute": 60, "second": 1}
_EXAMPLES = {"day": "2013-01-31", "moment": "2013-01-31 05:00", "clock": "05:00"}


@dataclass(frozen=True, slots=True)
class Calendar:
    """What the numbers of a column stand for: so many steps since 1970, or since midnight.

    Attributes:
        kind: of days, of moments or of times of day.
        step: how many seconds a step has.
    """

    kind: MomentKind
    step: int

    @staticmethod
    def of(kind: MomentKind, attribute: Attribute) -> Calendar:
        """That of what follows from a column: by days, or by the column's own steps."""
        if kind == "day":
            return Calendar(kind, DAY)
        is_told = attribute.sql_kind in _KINDS
        return Calendar(kind, attribute.step_numbers()[1] if is_told else 1)

    @property
    def unit(self) -> int:
        """How many steps a number of `written_number` has, or seconds: what it is divided by."""
        return 1 if self.kind == "day" else self.step

    def text(self, number: float) -> str:
        """The date or time at a number of steps, as people and JSON write it."""
        return label_text(Fraction(round(number * self.unit)), self.kind)

    def number(self, told: object) -> float:
        """The number of steps at which something lies: a text, a date or a time; numbers stay."""
        if isinstance(told, (int, float)) and not isinstance(told, bool):
            return float(told)
        spelled = str(told) if isinstance(told, (str, date, time)) else ""
        number = written_number(spelled, self.kind)
        if number is None and self.kind == "day":
            moment = written_number(spelled, "moment")
            number = None if moment is None else moment / DAY
        if number is None:
            raise AccuracyError(
                f"{spelled[:40]!r} is not what the answer is about; compare it with a text such "
                f"as {_EXAMPLES[self.kind]!r}"
            )
        return float(number / self.unit)

    def steps(self, seconds: float) -> float:
        """How many steps a length of time is."""
        return seconds / self.step

    def length_text(self, steps: float) -> str:
        """A length in steps, as people say it."""
        seconds = steps * self.step
        units = [name for name in _LENGTHS if name != "week"]
        longest = seconds or self.step
        unit = next((name for name in units if longest >= _LENGTHS[name]), units[-1])
        told = f"{seconds / _LENGTHS[unit]:.4g}"
        return f"{told} {unit}{'' if told == '1' else 's'}"

    def to_document(self) -> dict[str, object]:
        """As answers in JSON hold it."""
        return {"kind": self.kind, "step": self.step}


def calendar_of_column(attribute: Attribute) -> Calendar | None:
    """The calendar of a column of dates or times; None for others."""
    kind = _KINDS.get(attribute.sql_kind)
    return None if kind is None else Calendar.of(kind, attribute)


def unit_seconds(name: str) -> int | None:
    """The seconds of a unit such as hours; None for what is none."""
    return _LENGTHS.get(name.lower().removesuffix("s"))


def written_number(text: str, kind: MomentKind) -> Fraction | None:
    """The number of what a text spells; None if it spells none of this kind."""
    if kind == "day":
        day = written_day(text)
        return None if day is None else Fraction((day - _EPOCH.date()).days)
    if kind == "moment":
        moment = written_moment(text)
        return None if moment is None else _seconds(moment - _EPOCH)
    clock = written_clock(text)
    return None if clock is None else _seconds(datetime.combine(_EPOCH, clock) - _EPOCH)


def is_moment(text: str) -> bool:
    """Whether a text spells a date, a timestamp or a time of day."""
    return any(written_number(text, kind) is not None for kind in _KINDS.values())


def value_at(number: Fraction, kind: MomentKind) -> date | time:
    """The date, the timestamp or the time of day of a number."""
    moment = _EPOCH + timedelta(seconds=int(number) * (DAY if kind == "day" else 1))
    return moment if kind == "moment" else moment.date() if kind == "day" else moment.time()


def label_text(number: Fraction, kind: MomentKind) -> str:
    """The label of a date, a timestamp or a time of day, as people and JSON write it."""
    return str(value_at(number, kind))


def _seconds(length: timedelta) -> Fraction:
    return length.days * DAY + length.seconds + Fraction(length.microseconds, 10**6)
