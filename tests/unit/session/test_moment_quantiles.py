"""Quantiles of dates, timestamps and times of day, as every front end shows them."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

import eke
import eke.dbapi
from eke.cli.answer_picture import csv_text, present_answer
from eke.cli.options import half_widths_or_shares
from eke.codec.answer import answer_document, read_answer
from eke.dbapi.kind import NUMBER, STRING
from eke.errors import AccuracyError, ServiceError, SqlError
from eke.service.answer_setting import checked_setting
from eke.service.body import SqlQuestion
from eke.sql import parse
from eke.wire.kind import DATE, FLOAT8, TEXT, TIMESTAMP
from eke.wire.table import Outline

DOMAIN = eke.Domain(
    day=eke.Date("2013-01-01", "2013-12-31", null="bucket"),
    at=eke.Timestamp("2013-01-01", "2013-12-31", "hour"),
    opens=eke.Time(step="15 minutes"),
    sex=eke.Categorical("F", "M"),
)
MEDIAN = "SELECT MEDIAN(day) FROM t"
GROUPED = "SELECT sex, MEDIAN(day) AS m, COUNT(*) AS n FROM t GROUP BY sex"
WIDTHS: dict[str, float | str] = {"m": "1 day", "n": 5}
MIDDLE = date(2013, 5, 1)


def rows() -> pd.DataFrame:
    """Days around the first of May, 101 of each sex; those of men are ten days later."""
    made = [
        {"day": MIDDLE + timedelta(days=shift + late), "sex": sex}
        for sex, late in (("F", 0), ("M", 10))
        for shift in range(-50, 51)
        for _ in range(20)
    ]
    frame = pd.DataFrame(made)
    frame["at"] = [f"{day} 05:30:00" for day in frame["day"]]
    frame["opens"] = "08:20"
    return frame


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("days") / "t.eke"
    rows().to_parquet(path.with_suffix(".parquet"))
    eke.create(path, path.with_suffix(".parquet"), DOMAIN, epsilon=1e6)
    return path


@pytest.fixture(scope="module")
def session(path: Path) -> eke.Session:
    return eke.open(path)


def test_the_value_and_the_interval_are_texts(session: eke.Session) -> None:
    women = session.ask("SELECT MEDIAN(day) FROM t WHERE sex = 'F'", within=1, confidence=0.9999)
    low, high = women.interval
    assert low <= str(MIDDLE) <= high
    assert low <= women.value <= high
    assert women.within <= 1
    assert f"between {low} and {high} (±" in women.explain()
    assert low in repr(women)
    assert low in women._repr_html_()
    assert women.to_dict()["value"] == women.value
    assert women.to_pandas()["value"][0] == women.value
    assert women.probability(above="2013-04-01", below=date(2013, 6, 1)) > 0.99
    assert women.variance >= 0
    ((first, last),) = women.simultaneous(0.99)
    assert first <= women.value <= last
    assert eke.simultaneous([women], 0.99) == [(first, last)]
    with pytest.raises(AccuracyError, match="compare it with a text"):
        women.probability(above="april")


@pytest.mark.parametrize(
    ("value", "within", "true"),
    [
        ("QUANTILE_DISC(at, 0.5) FILTER (WHERE sex = 'F')", "12 hours", "2013-05-01 05:00:00"),
        pytest.param(
            *("QUANTILE_DISC(at, 0.5) FILTER (WHERE sex = 'F')", 12, "2013-05-01 05:00:00"),
            marks=pytest.mark.long,
        ),
        pytest.param(
            *("MEDIAN(CAST(at AS DATE)) FILTER (WHERE sex = 'M')", "1 day", "2013-05-11"),
            marks=pytest.mark.long,
        ),
        ("MEDIAN(CAST(at AS TIME))", "1 hour", "05:00:00"),
        ("MEDIAN(opens)", "15 minutes", "08:15:00"),
        ("PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY opens)", 1, "08:15:00"),
        ("MEDIAN(date_trunc('month', day)) FILTER (WHERE sex = 'F')", 20, "2013-05-01"),
        ("CAST(MEDIAN(day) FILTER (WHERE sex = 'F') AS DATE)", 1, "2013-05-01"),
        ("approx_quantile(day + 7, 0.5) FILTER (WHERE sex = 'F')", "1 week", "2013-05-08"),
        ("QUANTILE_DISC(COALESCE(day, DATE '2013-01-01'), 0.75)", "1 %", None),
    ],
)
def test_kinds_and_widths(
    session: eke.Session, value: str, within: float | str, true: str | None
) -> None:
    answer = session.ask(f"SELECT {value} FROM t", within=within, confidence=0.9999)
    low, high = answer.interval
    assert low <= (true or low) <= high
    assert len(low) == len(answer.value) == len(high)


def test_python_expressions_ask_the_same(session: eke.Session) -> None:
    session.ask(GROUPED, within=WIDTHS)
    by_sex = session.ask(eke.median("day").by("sex"), within="1 day")
    assert by_sex.free
    assert [
        low <= value <= high
        for value, (low, high) in zip(by_sex.values, by_sex.intervals, strict=True)
    ]
    assert session.ask(eke.quantile("opens", 0.9), within=1).value == "08:15:00"


def test_rows_are_kept_and_ordered_by_dates(session: eke.Session) -> None:
    late = session.ask(f"{GROUPED} HAVING m > '2013-05-06' ORDER BY m DESC", within=WIDTHS)
    assert late.keys == (("M",),)
    both = session.ask(
        f"{GROUPED} HAVING m BETWEEN DATE '2013-01-01' AND '2013-12-31' ORDER BY m DESC",
        within=WIDTHS,
    )
    assert both.keys == (("M",), ("F",))


def test_a_length_in_the_statement(session: eke.Session) -> None:
    for suffix in ("ERROR WITHIN 2 DAYS", "ERROR WITHIN INTERVAL 48 HOURS AT CONFIDENCE 0.9"):
        assert session.ask(f"{MEDIAN} {suffix}").within <= 2


def test_json_says_what_the_texts_stand_for(session: eke.Session) -> None:
    number, table = session.ask(MEDIAN, within=2), session.ask(GROUPED, within=WIDTHS)
    document = json.loads(json.dumps(answer_document(number, posterior=True)))
    assert (document["value"], document["calendar"]) == (
        number.value,
        {"kind": "day", "step": 86_400},
    )
    again = read_answer(document)
    assert (again.value, again.interval, again.within) == (
        number.value,
        number.interval,
        number.within,
    )
    assert again.probability(above="2013-01-02") == pytest.approx(1, abs=1e-6)
    document = json.loads(json.dumps(answer_document(table, posterior=False)))
    assert [column.get("calendar") for column in document["columns"]] == [
        None,
        {"kind": "day", "step": 86_400},
        None,
    ]
    assert read_answer(document).flat_rows() == table.flat_rows()
    assert read_answer(document).rows[0][1].numbers == table.rows[0][1].numbers


def test_the_command_line_draws_and_lists_dates(
    session: eke.Session, capsys: pytest.CaptureFixture[str]
) -> None:
    number, table = session.ask(MEDIAN, within=2), session.ask(GROUPED, within=WIDTHS)
    present_answer(number, as_json=False, as_csv=False)
    assert f"{number.interval[0]} to {number.interval[1]}" in capsys.readouterr().out
    present_answer(table, as_json=False, as_csv=False)
    assert f"{table.rows[0][1].value} ±" in capsys.readouterr().out  # no room for both ends
    present_answer(number, as_json=True, as_csv=False)
    assert json.loads(capsys.readouterr().out)["value"] == number.value
    assert list(csv.reader(io.StringIO(csv_text(number))))[1] == [number.value, *number.interval]
    assert list(csv.reader(io.StringIO(csv_text(table))))[1][1] == table.rows[0][1].value


def test_db_api_gives_texts_as_it_does_of_keys(path: Path) -> None:
    with eke.dbapi.connect(path, within=2) as connection, connection.cursor() as cursor:
        cursor.execute(MEDIAN)
        assert cursor.description is not None
        assert [column[1] for column in cursor.description] == [STRING] * 3
        cursor.execute(f"{GROUPED} ERROR WITHIN 5")
        assert [column[1] for column in cursor.description] == [STRING] * 4 + [NUMBER] * 3
        assert cursor.fetchall()[0][1].startswith("2013-")


@pytest.mark.parametrize(
    ("value", "kind", "python"),
    [("day", DATE, date), ("at", TIMESTAMP, datetime), ("opens", TEXT, str)],
)
def test_postgresql_has_dates_and_timestamps(
    session: eke.Session, value: str, kind: int, python: type
) -> None:
    text = f"SELECT sex, MEDIAN({value}) AS m, COUNT(*) AS n FROM t GROUP BY sex"
    question = parse(text, DOMAIN)
    answer = session.ask(text, within={"m": 30, "n": 5})
    plain, ends = Outline(question, intervals=False), Outline(question, intervals=True)
    assert [column.oid for column in plain.columns] == [TEXT, kind, FLOAT8]
    assert [column.oid for column in ends.columns] == [TEXT, *[kind] * 3, *[FLOAT8] * 3]
    assert {type(row[1]) for row in plain.rows(answer)} == {python}
    assert {type(cell) for row in ends.rows(answer) for cell in row[1:4]} == {python}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("SELECT ROUND(MEDIAN(day)) FROM t", "nothing is done to it here"),
        ("SELECT MEDIAN(day)::text FROM t", "nothing is done to it here"),
        ("SELECT MEDIAN(at)::date FROM t", "cast what it is of"),
        ("SELECT MEDIAN(day) - 3 FROM t", "quantiles are not calculated with"),
        ("SELECT MEDIAN(day) AS m FROM t HAVING m > 30", "write a date as DATE"),
        ("SELECT MEDIAN(day) AS m FROM t HAVING m > 'may'", "is not a date"),
        ("SELECT MEDIAN(day) AS m, MEDIAN(at) AS a FROM t HAVING m > a", "something else"),
        ("SELECT AVG(day) FROM t", "take MEDIAN"),
        ("SELECT MEDIAN(day) FROM t ERROR WITHIN 2 DAYS 3", "not complete or not at the end"),
    ],
)
def test_what_makes_no_date_is_refused(text: str, problem: str) -> None:
    with pytest.raises(SqlError, match=problem):
        parse(text, DOMAIN)


@pytest.mark.parametrize(
    ("text", "within", "problem"),
    [
        ("SELECT COUNT(*) FROM t", "2 days", "of quantiles of dates and times only"),
        (MEDIAN, "2 fortnights", "a length such as"),
        (MEDIAN, "0 days", "above 0"),
    ],
)
def test_lengths_that_make_no_sense_are_refused(
    session: eke.Session, text: str, within: str, problem: str
) -> None:
    with pytest.raises(AccuracyError, match=problem):
        session.ask(text, within=within)


def test_lengths_are_taken_by_commands_requests_and_settings() -> None:
    assert half_widths_or_shares(["6 hours"]) == "6 hours"
    assert half_widths_or_shares(["m=6 hours", "n=5", "k=2%"]) == {
        "m": "6 hours",
        "n": 5,
        "k": "2%",
    }
    body = SqlQuestion.model_validate({"sql": MEDIAN, "within": "6 hours"})
    assert body.within == "6 hours"
    with pytest.raises(ValueError, match="within"):
        SqlQuestion.model_validate({"sql": MEDIAN, "within": "hours"})
    assert checked_setting("eke.within", "6 hours") == "6 hours"
    with pytest.raises(ServiceError, match="a length such as"):
        checked_setting("eke.within", "6 fortnights")
