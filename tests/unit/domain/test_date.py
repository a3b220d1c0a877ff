"""Date: bounds, texts, rules, labels, ranges and the file form of days."""

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
from eke.domain.moment_text import day_form, iso_moment
from eke.errors import DomainError, QueryError

YEAR = eke.Date("2013-01-01", "2013-12-31", null="bucket")


def test_days_have_codes_and_labels() -> None:
    assert eke.Date(date(2013, 1, 1), datetime(2013, 12, 31), "bucket") == YEAR  # noqa: DTZ001
    assert YEAR.size == len(YEAR.labels) == 366
    assert YEAR.labels[0] == "2013-01-01"
    assert YEAR.labels[-1] is None
    assert YEAR.cell_values[31:33] == (date(2013, 2, 1), date(2013, 2, 2))
    assert YEAR.label_text(365) == "missing"
    assert eke.Date("2012-02-29", "2012-02-29").declared == ("2012-02-29",)
    assert YEAR.values_text == "2013-01-01 to 2013-12-31"


@pytest.mark.parametrize(
    ("raw", "fate"),
    [
        (date(2013, 5, 1), Fate.DECLARED),
        (datetime(2013, 5, 1, 23, 59, 59, 999_999), Fate.DECLARED),  # noqa: DTZ001
        (np.datetime64("2013-05-01T23:59:59.999999999"), Fate.DECLARED),
        (pd.Timestamp("2013-05-01 12:00"), Fate.DECLARED),
        ("2013-05-01T05:00:00", Fate.DECLARED),
        (date(2012, 12, 31), Fate.BEYOND),
        (np.datetime64("-0044-03-15"), Fate.BEYOND),
        ("2014-01-01", Fate.BEYOND),
        (None, Fate.MISSING),
        (pd.NaT, Fate.MISSING),
        (np.datetime64("NaT"), Fate.MISSING),
        (float("nan"), Fate.MISSING),
        ("2013-02-29", Fate.UNDECLARED),
        ("2013-05-01T05:00:00Z", Fate.UNDECLARED),
        (datetime(2013, 5, 1, tzinfo=UTC), Fate.UNDECLARED),
        (20130501, Fate.UNDECLARED),
        (float("inf"), Fate.UNDECLARED),
        (True, Fate.UNDECLARED),
        (b"2013-05-01", Fate.UNDECLARED),
    ],
)
def test_every_value_has_a_fate_and_follows_its_rule(raw: object, fate: Fate) -> None:
    assert YEAR.fate(raw) is fate
    codes = {Fate.DECLARED: {120}, Fate.BEYOND: {0, 364}}.get(fate, {365})
    assert YEAR.code(raw) in codes
    dropping = eke.Date("2013-01-01", "2013-12-31", outside="drop")
    assert dropping.code(raw) == (120 if fate is Fate.DECLARED else None)
    replacing = eke.Date("2013-01-01", "2013-12-31", eke.Replace(date(2013, 1, 3)), "never")
    assert replacing.code(raw) == {Fate.DECLARED: 120, Fate.MISSING: 2}.get(fate)


def test_zones_say_where_days_begin() -> None:
    there = eke.Date("2013-01-01", "2013-12-31", zone="America/New_York")
    assert there.code("2013-07-02T03:59:59Z") == there.code("2013-07-01")
    assert there.code("2013-07-02T04:00:00Z") == there.code("2013-07-02")
    assert there.code("2013-01-02T05:00:00+01:00") == there.code("2013-01-01")
    assert there.code(datetime(2013, 1, 2, 5, tzinfo=UTC)) == 1
    assert there.code("2013-07-02 23:00") == there.code("2013-07-02"), "no zone: as it is told"


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d-%m-%Y %H:%M:%S"])
def test_forms_read_what_strptime_reads(form: str) -> None:
    """Two digits a number, each day of a leap year and what is almost one."""
    for n in range(0, 366, 5):
        moment = datetime(2012, 1, 1, 13, 5, 59) + timedelta(days=n)  # noqa: DTZ001
        text = moment.strftime(form)
        spelled = moment if "%H" in form else datetime.combine(moment, time())
        assert day_form(form).read(text) == spelled
        for broken in (text + " ", text[:-1] + "x", text.replace("2", "٢"), "3" + text, ""):
            assert day_form(form).read(broken) is None
    assert day_form("%d.%m.%Y").read("1.2.2013") == datetime(2013, 2, 1)  # noqa: DTZ001
    assert day_form("%d.%m.%Y").read("30.2.2013") is None
    assert day_form("%d-%m-%Y %H:%M:%S").read("01-02-2013 24:00:00") is None


def test_iso_texts_of_every_day_are_read() -> None:
    for n in range(0, 3_652_059, 997):
        day = date.fromordinal(n + 1)
        assert iso_moment(day.isoformat()) == datetime.combine(day, time())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("2013-12-31", "2013-01-01"), "swap them"),
        (("2013-02-30", "2013-12-31"), "bounds of a Date are days"),
        ((2013, "2013-12-31"), "bounds of a Date are days"),
        (("1600-01-01", "2013-12-31"), "at most 100,000 days"),
        (("0001-01-01", "0002-12-31"), "years 2 to 9998"),
        (("2013-01-01", "2013-12-31", "maybe"), "null must be"),
        (("2013-01-01", "2013-12-31", eke.Replace("2014-01-01")), "not a declared value"),
    ],
)
def test_bad_bounds_and_rules_are_refused(arguments: tuple[str, str], message: str) -> None:
    with pytest.raises(DomainError, match=message):
        eke.Date(*arguments)


@pytest.mark.parametrize("form", ["%d.%m.%y", "%d.%m", "%Y %Y %m %d", "(%Y)%m%d", "%", "%b %d %Y"])
def test_other_forms_are_refused(form: str) -> None:
    with pytest.raises(DomainError, match=r"cannot be read|twice"):
        eke.Date("2013-01-01", "2013-12-31", format=form)


def test_zones_that_do_not_exist_are_refused() -> None:
    for zone in ("Mars/Base", "../etc/passwd", ""):
        with pytest.raises(DomainError, match="no time zone"):
            eke.Date("2013-01-01", "2013-12-31", zone=zone)


def test_files_hold_texts_and_yaml_may_hold_dates(tmp_path: Path) -> None:
    when = eke.Date(
        *("2013-01-01", "2013-12-31", eke.Replace("2013-01-01"), "drop"),
        format="%d.%m.%Y",
        zone="UTC",
    )
    domain = eke.Domain(when=when, plain=YEAR)
    document = json.loads(json.dumps(domain_to_document(domain)))
    assert document["attributes"]["plain"] == {
        "type": "date",
        "low": "2013-01-01",
        "high": "2013-12-31",
        "null": "bucket",
        "outside": "clamp",
    }
    assert domain_from_document(document) == domain
    eke.write_domain(domain, tmp_path / "d.yaml")
    assert eke.read_domain(tmp_path / "d.yaml") == domain
    unquoted = "attributes: {plain: {type: date, low: 2013-01-01, high: 2013-12-31, null: bucket}}"
    (tmp_path / "u.yaml").write_text(unquoted)
    assert eke.read_domain(tmp_path / "u.yaml") == eke.Domain(plain=YEAR)


def test_conditions_take_dates_and_texts() -> None:
    domain = eke.Domain(when=YEAR)
    january = eke.count(when=("2013-01-01", "2013-01-31")).on(domain)
    assert january == eke.count(when=(None, date(2013, 1, 31))).on(domain)
    assert january.description == "count where when from 2013-01-01 to 2013-01-31"
    one = eke.count(when="2013-05-01").on(domain)
    assert one == eke.count(when=[date(2013, 5, 1)]).on(domain)
    assert one == eke.count(when=pd.Timestamp("2013-05-01")).on(domain)
    for bad in ("2014-01-01", "2013-02-30", 5, ("2014-01-01", None), ("2013-02-01", "2013-01-01")):
        with pytest.raises(QueryError):
            eke.count(when=bad).on(domain)
    with pytest.raises(QueryError, match="texts such as '2013-01-31'"):
        eke.count(when=(1, 5)).on(domain)
    with pytest.raises(QueryError, match="days cannot be summed"):
        eke.total("when").on(domain)
