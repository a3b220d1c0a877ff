"""Calendars: numbers of steps and the texts that people read and write are each other's inverse."""

from __future__ import annotations

from datetime import date, datetime, time

import pytest

import eke
from eke.errors import AccuracyError
from eke.question.calendar import Calendar, calendar_of_column, unit_seconds

DAYS, HOURS = Calendar("day", 86_400), Calendar("moment", 3600)
QUARTERS = Calendar("clock", 900)


@pytest.mark.parametrize(
    ("calendar", "number", "text"),
    [
        (DAYS, 0, "1970-01-01"),
        (DAYS, 15_870, "2013-06-14"),
        (DAYS, -1, "1969-12-31"),
        (HOURS, 380_880, "2013-06-14 00:00:00"),
        (HOURS, -1, "1969-12-31 23:00:00"),
        (HOURS, 380_880.5, "2013-06-14 00:30:00"),
        (QUARTERS, 0, "00:00:00"),
        (QUARTERS, 95, "23:45:00"),
    ],
)
def test_numbers_are_told_and_read_again(calendar: Calendar, number: float, text: str) -> None:
    assert calendar.text(number) == text
    assert calendar.number(text) == number


def test_dates_and_times_of_python_are_read_and_numbers_stay() -> None:
    assert DAYS.number(date(2013, 6, 14)) == DAYS.number("2013-06-14") == 15_870
    assert DAYS.number("2013-06-14 12:00") == 15_870.5
    assert HOURS.number(datetime(2013, 6, 14, 6)) == HOURS.number("2013-06-14") + 6  # noqa: DTZ001
    assert QUARTERS.number(time(0, 30)) == 2
    assert DAYS.number(3) == 3.0


@pytest.mark.parametrize("told", ["monday", "05:00", "2013-02-30", True, None, b"2013-06-14"])
def test_what_spells_nothing_is_refused(told: object) -> None:
    with pytest.raises(AccuracyError, match="2013-01-31"):
        DAYS.number(told)


@pytest.mark.parametrize(
    ("calendar", "steps", "text"),
    [
        (DAYS, 1, "1 day"),
        (DAYS, 2.5, "2.5 days"),
        (DAYS, 0.5, "12 hours"),
        (DAYS, 0, "0 days"),
        (HOURS, 36, "1.5 days"),
        (HOURS, 0, "0 hours"),
        (QUARTERS, 1, "15 minutes"),
        (QUARTERS, 0.001, "0.9 seconds"),
    ],
)
def test_lengths_are_told_in_the_unit_that_fits(
    calendar: Calendar, steps: float, text: str
) -> None:
    assert calendar.length_text(steps) == text


def test_columns_have_the_calendars_of_their_steps() -> None:
    assert calendar_of_column(eke.Date("2013-01-01", "2013-01-02")) == DAYS
    assert calendar_of_column(eke.Timestamp("2013-01-01", "2013-01-02")) == HOURS
    assert calendar_of_column(eke.Time(step="15 minutes")) == QUARTERS
    assert calendar_of_column(eke.Integer(0, 9)) is None


def test_units_are_read_in_both_numbers() -> None:
    assert [unit_seconds(unit) for unit in ("week", "Days", "HOUR", "minutes", "second")] == [
        *(604_800, 86_400, 3600, 60, 1)
    ]
    assert unit_seconds("fortnight") is None
