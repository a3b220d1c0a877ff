"""Type objects and constructors of DB-API 2.0. A type code in a description is such an object."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time


@dataclass(frozen=True, slots=True)
class TypeObject:
    """A kind of column; equal to itself only."""

    name: str

    def __repr__(self) -> str:
        return self.name


STRING = TypeObject("STRING")
BINARY = TypeObject("BINARY")
NUMBER = TypeObject("NUMBER")
DATETIME = TypeObject("DATETIME")
ROWID = TypeObject("ROWID")

Date = date
Time = time
Timestamp = datetime
Binary = bytes


def DateFromTicks(ticks: float) -> date:  # noqa: N802 - named by PEP 249
    """The date of a number of seconds since 1970, in UTC."""
    return datetime.fromtimestamp(ticks, UTC).date()


def TimeFromTicks(ticks: float) -> time:  # noqa: N802 - named by PEP 249
    """The time of day of a number of seconds since 1970, in UTC."""
    return datetime.fromtimestamp(ticks, UTC).time()


def TimestampFromTicks(ticks: float) -> datetime:  # noqa: N802 - named by PEP 249
    """The moment of a number of seconds since 1970, in UTC."""
    return datetime.fromtimestamp(ticks, UTC)
