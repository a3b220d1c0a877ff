"""Lookups and derived columns in datasets: checked, asked, priced, shown and published."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke import dbapi
from eke.errors import DomainError
from tests.command_line import call
from tests.flights import CARRIERS, ORIGINS, flights

NAMES = {carrier: f"Airline {carrier[0]}" for carrier in CARRIERS[:-1]}
DERIVED = {
    "month": "EXTRACT(month FROM day)",
    "weekend": "EXTRACT(isodow FROM day) >= 6",
    "airline": "airlines.name",
    "route": "origin || '/' || carrier",
    "half_hour": "hour / 2",
    "week": "date_trunc('week', day)",
    "season": "seasons.season",
}
SEASONS = eke.Lookup(
    "seasons",
    ["month"],
    {"month": range(1, 13), "season": ["cold"] * 3 + ["warm"] * 6 + ["cold"] * 3},
)


def airlines() -> eke.Lookup:
    return eke.Lookup(
        "airlines", ["carrier"], {"carrier": list(NAMES), "name": list(NAMES.values())}
    )


def plain_domain() -> eke.Domain:
    return eke.Domain(
        day=eke.Date("2013-01-01", "2013-12-31", null="bucket"),
        carrier=eke.Categorical(*CARRIERS),
        origin=eke.Categorical(*ORIGINS),
        hour=eke.Integer(0, 23),
    )


def full_domain() -> eke.Domain:
    return plain_domain().with_lookups(airlines(), SEASONS).with_derived(DERIVED)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    rows = flights(5_000)
    rows["day"] = pd.to_datetime(rows[["year", "month", "day"]]).dt.date
    return rows[["day", "carrier", "origin", "hour"]]


@pytest.fixture
def session(table: pd.DataFrame, tmp_path: Path) -> eke.Session:
    return eke.create(tmp_path / "flights.eke", table, full_domain(), rho=100.0)


def test_what_follows_from_paid_counts_is_free(session: eke.Session) -> None:
    """Months and weekends meet in the same days, airlines in the same carriers."""
    session.ask("SELECT day, COUNT(*) FROM flights GROUP BY day", within=2)
    session.ask("SELECT carrier, COUNT(*) FROM flights GROUP BY carrier", within=2)
    for text in (
        "SELECT month, COUNT(*) FROM flights GROUP BY month",
        "SELECT weekend, COUNT(*) FROM flights GROUP BY weekend",
        "SELECT season, COUNT(*) FROM flights WHERE NOT weekend GROUP BY season",
        "SELECT name, COUNT(*) FROM flights JOIN airlines USING (carrier) GROUP BY name",
        "SELECT airline, COUNT(*) FROM flights GROUP BY airline",
    ):
        assert session.ask(text, within=60).cost == 0, text
    wrong = "SELECT hour, COUNT(*) FROM flights GROUP BY hour"  # positive control
    assert session.ask(wrong, within=60).cost > 0


def test_functions_change_no_price_and_no_cell(session, table, tmp_path) -> None:
    plain = eke.create(tmp_path / "plain.eke", table, plain_domain(), rho=100.0)
    prices = [
        place.preview(f"SELECT COUNT(*) FROM flights WHERE {condition}", within=20).cost
        for place, condition in (
            (plain, "EXTRACT(month FROM day) = 3"),
            (session, "EXTRACT(month FROM day) = 3"),
            (session, "month = 3"),
        )
    ]
    assert len(set(prices)) == 1
    assert session.domain.size == plain.domain.size
    assert "3 attributes" not in repr(session)


def test_an_answer_is_that_of_the_joined_tables(session, table) -> None:
    text = "SELECT name, COUNT(*) FROM flights JOIN airlines USING (carrier) GROUP BY name"
    answer = session.ask(text, within=2)
    expected = table["carrier"].map(NAMES).dropna().value_counts()
    found = {row[0]: row[1].value for row in answer.rows}
    assert found.keys() == set(NAMES.values())
    assert all(abs(found[name] - expected.get(name, 0)) < 10 for name in found)


def test_a_dataset_keeps_its_functions(session: eke.Session, table, tmp_path: Path) -> None:
    again = eke.open(tmp_path / "flights.eke", data=table)
    assert again.domain == full_domain()
    assert again.ask("SELECT COUNT(*) FROM flights WHERE month = 3", within=50).cost > 0


@pytest.mark.parametrize(
    ("derived", "message"),
    [
        ("EXTRACT(month FROM dai)", "derived column 'x': there is no column 'dai'; did you mean"),
        ("EXTRACT(month FROM hour)", "derived column 'x': 'hour' holds no dates"),
        ("COUNT(*)", "derived column 'x': an aggregate cannot stand inside"),
        ("hour, day", "derived column 'x': write one expression, without AS or FROM"),
        ("hour AS h", "derived column 'x': write one expression"),
        ("hour FROM flights", "derived column 'x': write one expression"),
        ("hour; DROP TABLE x", "derived column 'x': one statement at a time"),
        ("(SELECT hour)", "derived column 'x': "),
        ("hour +", "derived column 'x': the text cannot be read"),
        ("NULL", "derived column 'x': it is always NULL"),
        ("1 + 1", "derived column 'x' is the same in every record"),
        ("x + 1", "derived column 'x': derived columns are made of each other: x → x"),
        ("y + 1", "derived column 'x': derived columns are made of each other: x → y → x"),
        ("airline.name", "derived column 'x': nothing is called 'airline' here; did you mean"),
        ("airlines.size", "derived column 'x': there is no column 'size'"),
        ("hour / (hour - 3)", "derived column 'x': the divisor is zero for a declared value"),
    ],
)
def test_what_cannot_be_derived_is_refused(table, tmp_path, derived, message) -> None:
    domain = plain_domain().with_lookups(airlines()).with_derived(x=derived)
    if derived == "y + 1":
        domain = domain.with_derived(y="x * 2")
    for attempt in (
        lambda: eke.create(tmp_path / "x.eke", table, domain, epsilon=1.0),
        lambda: eke.check(table, domain),
    ):
        with pytest.raises(DomainError) as refused:
            attempt()
        assert message in str(refused.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("key", "values", "message"),
    [
        ("carrier", ["xx", "yy"], "none of its keys is a declared value of carrier"),
        ("carrier", [1, 2], "none of its keys is a declared value of carrier"),
        ("hour", ["1", "01"], "two rows of 'l' have the same key"),
        ("day", ["31.1.2013", "x"], "none of its keys is a declared value of day"),
    ],
)
def test_a_lookup_that_finds_nothing_is_refused(table, tmp_path, key, values, message) -> None:
    domain = plain_domain().with_lookups(eke.Lookup("l", [key], {key: values}))
    with pytest.raises(DomainError, match="lookup 'l': ") as refused:
        eke.create(tmp_path / "x.eke", table, domain, epsilon=1.0)
    assert message in str(refused.value)


def test_keys_are_compared_as_what_they_are_joined_with(table, tmp_path) -> None:
    """Days and numbers of a text file are days and numbers."""
    holidays = eke.Lookup("holidays", ["day"], {"day": ["2013-12-25", "2013-07-04"]})
    hours = eke.Lookup("hours", ["hour"], {"hour": ["8", "9"], "word": ["eight", "nine"]})
    domain = plain_domain().with_lookups(holidays, hours)
    session = eke.create(tmp_path / "x.eke", table, domain, rho=100.0)
    for text, expected in (
        ("holidays USING (day)", table["day"].isin([date(2013, 12, 25), date(2013, 7, 4)]).sum()),
        ("hours USING (hour) WHERE word = 'nine'", (table["hour"] == 9).sum()),
    ):
        found = session.ask(f"SELECT COUNT(*) FROM flights JOIN {text}", within=2).value
        assert abs(found - expected) < 10


def test_describe_lists_them(session: eke.Session) -> None:
    with dbapi.connect(session) as connection:
        rows = connection.cursor().execute("DESCRIBE flights").fetchall()
    assert ("month", "derived", "EXTRACT(month FROM day)", None) in rows
    assert ("airlines.name", "lookup", "texts by carrier, 15 rows", False) in rows


def test_python_names_sql_for_derived_columns(session: eke.Session) -> None:
    with pytest.raises(eke.EkeError, match="'month' is derived from other columns; ask about it"):
        session.ask(eke.count(month=3), within=50)


def test_published_rows_obey_always(session: eke.Session) -> None:
    """Positive control: another month is noticed."""
    rows = session.publish("max_entropy", rho=1.0, rows=2_000)
    frame = rows.to_pandas()
    assert list(frame.columns) == [*session.domain.names, *sorted(DERIVED)]
    known = frame[frame["day"].notna()]
    days = pd.to_datetime(known["day"])
    assert (known["month"] == days.dt.month).all()
    assert not (known["month"] == days.dt.month + 1).any()
    assert (known["weekend"] == (days.dt.day_of_week >= 5)).all()
    weeks = (days - pd.to_timedelta(days.dt.day_of_week, unit="D")).dt.date
    assert (known["week"] == weeks).all()
    assert (known["season"] == np.where(days.dt.month.isin(range(4, 10)), "warm", "cold")).all()
    named = frame["carrier"].map(NAMES)
    assert (frame["airline"].fillna("?") == named.fillna("?")).all()
    assert (frame["route"] == frame["origin"] + "/" + frame["carrier"]).all()
    assert (frame["half_hour"] == frame["hour"] / 2).all()


def test_a_column_is_left_out_when_its_source_is(session: eke.Session) -> None:
    rows = session.publish("max_entropy", rho=1.0, rows=50, attributes=["carrier", "hour"])
    assert list(rows.to_pandas().columns) == ["carrier", "hour", "airline", "half_hour"]
    assert len(rows.to_arrow()) == 50


def test_the_command_line_shows_and_asks(table, tmp_path: Path) -> None:
    table.to_csv(tmp_path / "flights.csv", index=False)
    eke.write_domain(plain_domain(), tmp_path / "flights.yaml")
    pd.DataFrame({"carrier": list(NAMES), "name": list(NAMES.values())}).to_csv(
        tmp_path / "airlines.csv", index=False
    )
    functions = {
        "lookups": {"airlines": {"file": "airlines.csv", "keys": ["carrier"]}},
        "derived": {"month": "EXTRACT(month FROM day)"},
    }
    text = (tmp_path / "flights.yaml").read_text("utf-8")
    more = "".join(f"{key}: {json.dumps(value)}\n" for key, value in functions.items())
    (tmp_path / "flights.yaml").write_text(text + more, "utf-8")
    dataset = tmp_path / "flights.eke"
    files = (tmp_path / "flights.csv", tmp_path / "flights.yaml")
    made = call("init", *files, "--rho", "100", "-o", dataset)
    assert made.code == 0, made.err
    listed = {row["column"]: row for row in _rows(call("schema", dataset, "--json"))}
    assert listed["month"]["values"] == "EXTRACT(month FROM day)"
    assert listed["airlines.name"]["values"] == "texts by carrier, 15 rows"
    described = _rows(call("ask", dataset, "SHOW TABLES", "--json"))
    assert described == list(listed.values())
    question = "SELECT name, COUNT(*) FROM flights JOIN airlines USING (carrier) GROUP BY name"
    assert call("ask", dataset, question, "-w", "20").code == 0
    broken = (tmp_path / "flights.yaml").read_text("utf-8").replace("FROM day", "FROM dia")
    (tmp_path / "flights.yaml").write_text(broken, "utf-8")
    refused = call("check", *files)
    assert refused.code == 1
    assert "derived column 'month': there is no column 'dia'" in " ".join(refused.err.split())


def _rows(shown: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = shown.json
    return found
