"""Timestamp and Time: bounds, steps, texts, rules, labels, ranges and the file form."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.domain import domain_from_document, domain_to_document
from eke.domain.fate import Fate
from eke.domain.moment_text import written_clock, written_moment
from eke.domain.step import step_seconds, step_text
from eke.errors import DomainError, QueryError

HOURS = eke.Timestamp("2013-01-01", "2013-12-31", "hour", null="bucket")
QUARTERS = eke.Time("08:00", "19:45", "15 minutes", null="bucket")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def test_steps_have_codes_and_labels() -> None:
    assert eke.Timestamp(at("2013-01-01 00:00"), "2013-12-31 23:00", null="bucket") == HOURS
    assert HOURS.size == len(HOURS.labels) == 365 * 24 + 1
    assert (HOURS.labels[0], HOURS.labels[-2]) == ("2013-01-01 00:00:00", "2013-12-31 23:00:00")
    assert HOURS.cell_values[25] == at("2013-01-02 01:00")
    assert HOURS.label_text(8760) == "missing"
    assert HOURS.values_text == "2013-01-01 00:00:00 to 2013-12-31 23:00:00, by hour"
    assert eke.Timestamp("2012-02-29", "2012-02-29", "day").declared == ("2012-02-29 00:00:00",)
    assert QUARTERS.size == 49
    assert QUARTERS.labels[:2] == ("08:00:00", "08:15:00")
    assert QUARTERS.cell_values[1:2] == (time(8, 15),)
    assert eke.Time().size == 24
    assert eke.Time(step="second").high == time(23, 59, 59)


@pytest.mark.parametrize("step", ["second", "90 seconds", "15 minutes", "hour", "6 hours", "day"])
def test_every_second_is_in_the_step_that_arithmetic_finds(step: str) -> None:
    """Brute force over two days around 1970 and a leap day, before and after the bounds."""
    length = timedelta(seconds=step_seconds(step))
    for low in (at("1969-12-31 00:00"), at("2012-02-29 00:00")):
        attribute = eke.Timestamp(low, low.date() + timedelta(days=1), step, outside="drop")
        clock = eke.Time(step=step)
        for second in range(-3600, 49 * 3600, 613):
            moment = low + timedelta(seconds=second, microseconds=999_999)
            code = (moment - low) // length
            inside = 0 <= code < attribute.size
            assert attribute.code(moment) == (code if inside else None)
            assert attribute.code(str(moment)) == attribute.code(moment)
            assert attribute.code(np.datetime64(moment)) == attribute.code(moment)
            assert clock.code(moment.time()) == code % (timedelta(days=1) // length)
            assert clock.code(moment.time().isoformat()) == clock.code(moment.time())


@pytest.mark.parametrize(
    ("raw", "fate"),
    [
        (at("2013-05-01 05:59:59.999999"), Fate.DECLARED),
        (np.datetime64("2013-05-01T05:59:59.999999999"), Fate.DECLARED),
        (pd.Timestamp("2013-05-01 05:00"), Fate.DECLARED),
        ("2013-05-01T05:30", Fate.DECLARED),
        (date(2012, 12, 31), Fate.BEYOND),
        (at("2014-01-01 00:00"), Fate.BEYOND),
        (np.datetime64("-0044-03-15"), Fate.BEYOND),
        ("0001-01-01", Fate.BEYOND),
        ("9999-12-31 23:59:59", Fate.BEYOND),
        (None, Fate.MISSING),
        (pd.NaT, Fate.MISSING),
        (np.datetime64("NaT"), Fate.MISSING),
        ("2013-02-29 05:00", Fate.UNDECLARED),
        ("2013-05-01 24:00", Fate.UNDECLARED),
        ("05:00", Fate.UNDECLARED),
        ("2013-05-01T05:00:00Z", Fate.UNDECLARED),
        (datetime(2013, 5, 1, tzinfo=UTC), Fate.UNDECLARED),
        (time(5), Fate.UNDECLARED),
        (20130501, Fate.UNDECLARED),
        (float("inf"), Fate.UNDECLARED),
    ],
)
def test_every_value_has_a_fate_and_follows_its_rule(raw: object, fate: Fate) -> None:
    assert HOURS.fate(raw) is fate
    codes = {Fate.DECLARED: {120 * 24 + 5}, Fate.BEYOND: {0, 8759}}.get(fate, {8760})
    assert HOURS.code(raw) in codes
    replaced = eke.Replace(at("2013-01-01 03:00"))
    replacing = eke.Timestamp("2013-01-01", "2013-12-31", "hour", replaced, "never")
    assert replacing.code(raw) == {Fate.DECLARED: 2885, Fate.MISSING: 3}.get(fate)


@pytest.mark.parametrize(
    ("raw", "fate"),
    [
        (time(8, 14, 59, 999_999), Fate.DECLARED),
        ("08:14:59.999999999", Fate.DECLARED),
        (time(7, 59), Fate.BEYOND),
        (time(20), Fate.BEYOND),
        (None, Fate.MISSING),
        (time(8, tzinfo=UTC), Fate.UNDECLARED),
        (at("2013-01-01 08:00"), Fate.UNDECLARED),
        ("8:00", Fate.UNDECLARED),
        ("24:00", Fate.UNDECLARED),
        (" 08:00", Fate.UNDECLARED),
        (800, Fate.UNDECLARED),
    ],
)
def test_times_of_day_have_a_fate(raw: object, fate: Fate) -> None:
    assert QUARTERS.fate(raw) is fate
    assert QUARTERS.code(raw) in {Fate.DECLARED: {0}, Fate.BEYOND: {0, 47}}.get(fate, {48})


def test_clocks_of_a_zone_go_through_gaps_and_folds() -> None:
    there = eke.Timestamp("2013-01-01", "2013-12-31", "hour", zone="America/New_York")
    gap = [there.code(f"2013-03-10T{hour}:59:59Z") for hour in ("06", "07")]
    assert gap == [there.code("2013-03-10 01:00"), there.code("2013-03-10 03:00")]
    fold = [there.code(f"2013-11-03T{hour}:30:00Z") for hour in ("05", "06")]
    assert fold == [there.code("2013-11-03 01:00")] * 2, "the hour that comes twice is one step"
    assert there.code(datetime(2013, 1, 2, 5, tzinfo=UTC)) == there.code("2013-01-02")
    assert there.code("2013-07-02 23:00") == there.code("2013-07-02T23:00-04:00")
    kolkata = eke.Timestamp("2013-01-01", "2013-12-31", "hour", zone="Asia/Kolkata")
    assert kolkata.code("2013-01-01T00:29:59Z") == 5
    assert kolkata.code("2013-01-01T00:30:00Z") == 6


@pytest.mark.parametrize("form", ["%d.%m.%Y %H:%M", "%Y%m%d%H%M%S", "%m/%d/%Y"])
def test_forms_read_what_strptime_reads(form: str) -> None:
    column = eke.Timestamp("2012-01-01", "2012-12-31", "minute", format=form)
    for n in range(0, 366, 7):
        text = (at("2012-01-01 13:05") + timedelta(days=n, minutes=n)).strftime(form)
        assert column.code(text) == column.declared_code(datetime.strptime(text, form))  # noqa: DTZ007
        assert column.code(text + "x") is None
    clock = eke.Time(step="minute", format="%H.%M")
    assert (clock.code("5.07"), clock.code("05:07"), clock.code("24.00")) == (307, None, None)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: eke.Timestamp("2013-12-31", "2013-01-01"), "swap them"),
        (lambda: eke.Timestamp("2013-02-30", "2013-12-31"), "bounds of a Timestamp are moments"),
        (lambda: eke.Timestamp(pd.NaT, "2013-12-31"), "Timestamp are moments"),  # type: ignore[arg-type]
        (lambda: eke.Timestamp("2013-01-01 05:30", "2013-12-31"), "within a step of hour"),
        (lambda: eke.Timestamp("2013-01-01", "2015-12-31", "minute"), "at most 1,000,000 steps"),
        (lambda: eke.Timestamp("0001-01-01", "0002-12-31"), "years 2 to 9998"),
        (lambda: eke.Timestamp("2013-01-01", "2013-12-31", "week"), "step 'week' cannot be used"),
        (lambda: eke.Timestamp("2013-01-01", "2013-12-31", "7 hours"), "that a day is made of"),
        (lambda: eke.Timestamp("2013-01-01", "2013-12-31", 60), "step 60 cannot"),  # type: ignore[arg-type]
        (lambda: eke.Timestamp("2013-01-01", "2013-12-31", zone="Mars/Base"), "no time zone"),
        (lambda: eke.Timestamp("2013-01-01", "2013-12-31", format="%H"), "cannot be read"),
        (lambda: eke.Timestamp("2013-01-01", "2013-12-31", null=eke.Replace("2014")), "replace"),
        (lambda: eke.Time("20:00", "08:00"), "swap them"),
        (lambda: eke.Time("08:10", "20:00"), "within a step"),
        (lambda: eke.Time(630), "in quotation marks"),  # type: ignore[arg-type]
        (lambda: eke.Time(format="%M"), "of a time of day cannot be read"),
        (lambda: eke.Time(format="%Y-%m-%d %H"), "of a time of day cannot be read"),
    ],
)
def test_bad_bounds_and_steps_are_refused(make: object, message: str) -> None:
    with pytest.raises(DomainError, match=message):
        make()  # type: ignore[operator]


def test_steps_are_written_in_one_way() -> None:
    assert step_seconds("60 minutes") == step_seconds("hour") == step_seconds("1 hours")
    for text in ("day", "hour", "15 minutes", "90 seconds", "second"):
        assert step_text(step_seconds(text)) == text
    assert eke.Time(step="60 minutes") == eke.Time()


def test_what_people_write_is_read_exactly() -> None:
    assert written_moment("2013-01-31T05:00:00.25") == at("2013-01-31 05:00:00.25")
    assert written_moment("2013-01-31") == at("2013-01-31 00:00")
    for text in ("2013-01-31 5:00", "2013-01-31 05:00Z", "2013-01-31 05:00:00.1234567", "now"):
        assert written_moment(text) is None
    assert written_clock("05:00") == time(5)
    assert written_clock("2013-01-31 05:00") is None


def test_files_hold_texts_and_yaml_may_hold_moments(tmp_path: Path) -> None:
    when = eke.Timestamp(
        *("2013-01-01", "2013-12-31", "15 minutes", eke.Replace("2013-01-01 00:15"), "drop"),
        format="%d.%m.%Y %H:%M",
        zone="UTC",
    )
    domain = eke.Domain(when=when, plain=HOURS, clock=QUARTERS, day=eke.Time(format="%H.%M"))
    document = json.loads(json.dumps(domain_to_document(domain)))
    assert document["attributes"]["plain"] == {
        "type": "timestamp",
        "low": "2013-01-01 00:00:00",
        "high": "2013-12-31 23:00:00",
        "step": "hour",
        "null": "bucket",
        "outside": "clamp",
    }
    assert domain_from_document(document) == domain
    eke.write_domain(domain, tmp_path / "d.yaml")
    assert eke.read_domain(tmp_path / "d.yaml") == domain
    unquoted = (
        "attributes: {plain: {type: timestamp, low: 2013-01-01 00:00:00, high: 2013-12-31, "
        "step: hour, null: bucket}, clock: {type: time, low: '08:00', high: '19:45', "
        "step: 15 minutes, null: bucket}}"
    )
    (tmp_path / "u.yaml").write_text(unquoted)
    assert eke.read_domain(tmp_path / "u.yaml") == eke.Domain(plain=HOURS, clock=QUARTERS)
    assert domain_from_document({"attributes": {"t": {"type": "time"}}})["t"] == eke.Time()


def test_conditions_take_moments_and_texts() -> None:
    domain = eke.Domain(when=HOURS, clock=QUARTERS)
    january = eke.count(when=("2013-01-01", "2013-01-31")).on(domain)
    assert january == eke.count(when=(None, at("2013-01-31 23:00"))).on(domain), "all of the day"
    assert january.description == (
        "count where when from 2013-01-01 00:00:00 to 2013-01-31 23:00:00"
    )
    one = eke.count(when="2013-05-01 05:00").on(domain)
    assert one == eke.count(when=[at("2013-05-01 05:00")]).on(domain)
    assert eke.count(clock=("08:00", time(8, 45))).on(domain).description == (
        "count where clock from 08:00:00 to 08:45:00"
    )
    nearest = "nearest begin at '2013-05-01 05:00:00' and '2013-05-01 06:00:00'"
    for bad in ("2013-05-01 05:30", ("2013-05-01 05:30", None), (None, "2013-05-01 05:59:59.9")):
        with pytest.raises(QueryError, match=nearest):
            eke.count(when=bad).on(domain)
    assert eke.count(when=("1999-01-01 00:30", None)).on(domain) == (
        eke.count(when=("2013-01-01", None)).on(domain)
    ), "beyond the bounds it does not matter"
    for other in ("2014-01-01", 5, (1, 5), ("2014-01-01", None), ("2013-02-01", "2013-01-01")):
        with pytest.raises(QueryError):
            eke.count(when=other).on(domain)
    with pytest.raises(QueryError, match="moments cannot be summed"):
        eke.total("when").on(domain)
