"""A table with dates from its file to answers, releases and published rows."""

from __future__ import annotations

import io
from datetime import date, datetime, time, timedelta
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

import eke
from eke.errors import SqlError
from eke.sql import parse

DAYS = [date(2013, 1, 1) + timedelta(days=n % 90) for n in range(900)]
DOMAIN = eke.Domain(
    when=eke.Date("2013-01-01", "2013-03-31", null="bucket"), sex=eke.Categorical("F", "M")
)


@pytest.fixture
def session(folder: Path) -> eke.Session:
    table = pd.DataFrame({"when": [*DAYS, None], "sex": ["F", *["M"] * 900]})
    eke.create(folder / "visits.eke", table, DOMAIN, epsilon=1e6, analyst="ann")
    return eke.open(folder / "visits.eke", data=table, analyst="ann")


def test_ranges_and_days_are_asked_in_python_and_in_sql(session: eke.Session) -> None:
    first = session.ask(eke.count(when=("2013-01-01", date(2013, 1, 31))), 0.05)
    again = session.ask('SELECT COUNT(*) FROM t WHERE EXTRACT(month FROM "when") = 1', 0.05)
    assert isinstance(again, eke.Answer)
    assert first.value == pytest.approx(310, abs=0.5)
    assert again.value == first.value
    assert again.cost == 0, "the same cells, so it is the same question"


def test_months_are_made_of_days_that_were_asked_before(session: eke.Session) -> None:
    """What was paid for by days answers by months and by weekdays, at no further cost."""
    session.ask(eke.count().by("when"), 0.05)
    months = session.ask(
        "SELECT date_trunc('month', \"when\") AS m, COUNT(*) AS n FROM t GROUP BY m", 0.5
    )
    weekdays = session.ask('SELECT EXTRACT(dow FROM "when") AS d, COUNT(*) FROM t GROUP BY d', 0.5)
    assert isinstance(months, eke.Answer)
    assert isinstance(weekdays, eke.Answer)
    assert months.cost == weekdays.cost == 0
    frame = months.to_pandas()
    assert frame["m"].tolist()[:3] == ["2013-01-01", "2013-02-01", "2013-03-01"]
    assert frame["n"].tolist()[:3] == pytest.approx([310, 280, 310], abs=0.5)


def test_published_rows_hold_dates(session: eke.Session, tmp_path: Path) -> None:
    published = session.publish("max_entropy", epsilon=1000.0, rows=40)
    rows = published.to_pandas()
    assert {type(day) for day in rows["when"].dropna()} == {date}
    assert published.to_arrow().schema.field("when").type == pa.date32()
    rows.to_parquet(tmp_path / "rows.parquet")
    assert pd.read_parquet(tmp_path / "rows.parquet")["when"].dropna().isin(DAYS).all()
    written = pd.read_csv(io.StringIO(rows.to_csv(index=False)))
    assert set(written["when"].dropna()) <= {str(day) for day in DAYS}


def test_a_table_with_moments_and_times_of_day(folder: Path) -> None:
    """From a table to answers, a free answer by hours, published rows and their files."""
    moments = [datetime(2013, 1, 1) + timedelta(minutes=37 * n) for n in range(300)]  # noqa: DTZ001
    table = pd.DataFrame({"at": moments, "clock": [moment.time() for moment in moments]})
    domain = eke.Domain(
        at=eke.Timestamp("2013-01-01", "2013-01-08", "hour", null="bucket"),
        clock=eke.Time(step="6 hours", null="bucket"),
    )
    eke.create(folder / "log.eke", table, domain, epsilon=1e6, analyst="ann")
    session = eke.open(folder / "log.eke", data=table, analyst="ann")
    text = "SELECT EXTRACT(hour FROM at) AS h, COUNT(*) AS n FROM t GROUP BY h"
    session.ask(eke.count().by("at"), 0.05)
    hours = session.ask(text, 0.5)
    assert isinstance(hours, eke.Answer)
    assert hours.cost == 0
    expected = pd.Series([moment.hour for moment in moments]).value_counts().sort_index().tolist()
    assert hours.to_pandas()["n"].tolist()[:24] == pytest.approx(expected, abs=0.5)
    first = session.ask(eke.count(at=("2013-01-01", date(2013, 1, 1)), clock="06:00"), 0.05)
    assert first.value == pytest.approx(
        sum(m.day == 1 and 6 <= m.hour < 12 for m in moments), abs=0.5
    )
    published = session.publish("max_entropy", epsilon=1000.0, rows=40)
    rows = published.to_pandas()
    schema = published.to_arrow().schema
    assert str(rows["at"].dtype) == "datetime64[us]"
    assert {type(clock) for clock in rows["clock"].dropna()} == {time}
    assert pa.types.is_timestamp(schema.field("at").type)
    assert pa.types.is_time(schema.field("clock").type)
    assert eke.domain.described_columns(domain)[0]["values"] == (
        "2013-01-01 00:00:00 to 2013-01-08 23:00:00, by hour"
    )


def test_the_schema_says_date(session: eke.Session) -> None:
    described = eke.domain.described_columns(session.domain)
    assert described[0] == {
        "column": "when",
        "type": "date",
        "values": "2013-01-01 to 2013-03-31",
        "missing": True,
    }


def test_weekdays_of_ten_years_are_groups() -> None:
    domain = eke.Domain(day=eke.Date("2013-01-01", "2022-12-31", null="bucket"))
    for part, groups in (("dow", 8), ("week", 54), ("year", 11), ("doy", 367)):
        text = f"SELECT EXTRACT({part} FROM day) AS k, COUNT(*) FROM t GROUP BY k"
        assert parse(text, domain).rows == groups


def test_hours_and_days_of_a_year_of_hours_are_groups() -> None:
    domain = eke.Domain(at=eke.Timestamp("2013-01-01", "2013-12-31", "hour", null="bucket"))
    keys = ("EXTRACT(hour FROM at)", "CAST(at AS DATE)", "date_trunc('month', at)", "at")
    for key, groups in zip(keys, (25, 366, 13, 8761), strict=True):
        assert parse(f"SELECT {key} AS k, COUNT(*) FROM t GROUP BY k", domain).rows == groups


def test_days_of_one_year_by_number_are_the_days(session: eke.Session) -> None:
    """A key that only has other names for the values of a column costs and takes what it does."""
    text = "SELECT {} AS k, COUNT(*) AS n FROM t GROUP BY k"
    days = session.ask(text.format('"when"'), 0.05)
    numbers = session.ask(text.format('EXTRACT(doy FROM "when")'), 0.05)
    assert isinstance(days, eke.Answer)
    assert isinstance(numbers, eke.Answer)
    assert (numbers.cost, numbers.source) == (0, "from history")
    frame = numbers.to_pandas()
    assert frame["k"].tolist()[:-1] == [*range(1, 91)]
    assert frame["n"].tolist() == days.to_pandas()["n"].tolist()
    ages = eke.Domain(age=eke.Integer(0, 99))
    grouped = [f"SELECT {key} AS k, COUNT(*) AS n FROM t GROUP BY k" for key in ("age + 1", "age")]
    counts = [parse(text, ages).blocks for text in grouped]
    assert counts[0] == counts[1]
    assert parse("SELECT -age AS k, COUNT(*) AS n FROM t GROUP BY k", ages).blocks != counts[0]


def test_casts_after_having_are_dates_or_finish_an_aggregate() -> None:
    key = 'SELECT "when", COUNT(*) AS n FROM t GROUP BY "when" HAVING '
    dates = [
        parse(key + f'"when" > {text}', DOMAIN).having
        for text in ("DATE '2013-01-31'", "'2013-01-31'::date", "CAST('2013-01-31' AS DATE)")
    ]
    assert dates[0] == dates[1] == dates[2] == parse(key + "\"when\" > '2013-01-31'", DOMAIN).having
    assert parse(key + "n::int > 3", DOMAIN).having == parse(key + "ROUND(n) > 3", DOMAIN).having
    for text, problem in (("DATE '2013-02-30'", "is not a date"), ("n::date", "a noisy number")):
        with pytest.raises(SqlError, match=problem):
            parse(key + f'"when" > {text}', DOMAIN)
