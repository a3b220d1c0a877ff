"""Questions about timestamps and times of day have the values that DuckDB computes on the raw rows.

The machinery is that of `test_sql_dates.py`. DuckDB looks at the rows as they are, to the
microsecond: what eke answers from steps must not depend on anything finer. Only = and <= are about
steps, so that DuckDB is given the beginning of the step for them.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from eke.data import open_source
from eke.domain import Categorical, Domain, Integer, Time, Timestamp
from eke.errors import SqlError
from eke.sql import parse
from tests.property.test_sql_dates import KNOWN, RULES, Null, Outside, check_statements, differs
from tests.property.test_sql_values import agree
from tests.sql_adult import Adult
from tests.sql_grammar import as_asked

ROWS, STATEMENTS = 3_000, 90
LOW, HIGH = datetime(2012, 2, 20), datetime(2012, 3, 20, 23)  # noqa: DTZ001
DAY_PARTS = ("year", "quarter", "month", "week", "day", "dow", "isodow", "doy", "hour")
CUTS = ("year", "quarter", "month", "week", "day", "hour")


class Log(Adult):
    """Rows with a moment and a time of day, some missing and some beyond the bounds."""

    def __init__(self, null: Null, outside: Outside) -> None:
        chance = random.Random(13)
        moments = [
            None
            if chance.random() < 0.1
            else LOW + timedelta(microseconds=chance.randint(-(10**11), 29 * 10**11))
            for _ in range(ROWS)
        ]
        clocks = [
            (LOW + timedelta(microseconds=chance.randrange(86_400 * 10**6))).time() for _ in moments
        ]
        raw = pa.table(
            {
                "t": pa.array(moments, pa.timestamp("us")),
                "c": pa.array(clocks, pa.time64("us")),
                "sex": [chance.choice(["Female", "Male"]) for _ in moments],
                "n": [chance.randint(0, 20) for _ in moments],
            }
        )
        self.domain = Domain(
            t=Timestamp(LOW, HIGH, "hour", null, outside),
            c=Time(step="15 minutes"),
            sex=Categorical("Female", "Male"),
            n=Integer(0, 20),
        )
        self.seed = RULES.index((null, outside))
        self.engine = duckdb.connect(config={"threads": 1})
        self.engine.register("raw", raw)
        self.source = open_source(raw, self.domain)
        after = HIGH + timedelta(hours=1)
        inside = f"t >= TIMESTAMP '{LOW}' AND t < TIMESTAMP '{after}'"
        ends = f"LEAST(GREATEST(t, TIMESTAMP '{LOW}'), TIMESTAMP '{HIGH} '::TIMESTAMP)"
        within = {
            "drop": "t",
            "bucket": f"CASE WHEN {inside} THEN t END",
            "clamp": f"CASE WHEN t IS NULL OR ({inside}) THEN t ELSE {ends} END",
        }
        present = f"(t IS NULL OR ({inside}))" if outside == "drop" else "TRUE"
        present += " AND t IS NOT NULL" if null == "drop" else ""
        self.engine.execute(
            f"CREATE TABLE exact AS SELECT {within[outside]} AS t, c, sex, n "
            f"FROM raw WHERE {present}"
        )
        self.engine.execute("CREATE VIEW diary AS SELECT * FROM exact")


class MomentWriter:
    """Statements about the log, drawn by chance."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def statement(self) -> str:
        where = f" WHERE {self._condition(2)}" if self._chance.random() < 0.7 else ""
        value = self._chance.choice(
            [
                *("COUNT(*)", "COUNT(t)", "\x01SUM(n)\x02", f"AVG({self._part()})"),
                f"\x01SUM(CASE WHEN {self._condition(1)} THEN n ELSE 0 END)\x02",
            ]
        )
        if self._chance.random() < 0.4:
            return f"SELECT {value} AS v FROM diary{where}"
        key = self._chance.choice([self._part, self._cut, self._date, self._case, self._part])()
        having = f" HAVING k <> {self._stamp()}" if key.startswith("date_t") else ""
        return f"SELECT {key} AS k, {value} AS v FROM diary{where} GROUP BY k{having}"

    def _hour(self) -> datetime:
        return LOW + timedelta(hours=self._chance.randint(-50, 800))

    def _literal(self) -> str:
        hour = self._hour()
        return self._chance.choice(
            [
                *(f"TIMESTAMP '{hour}'", f"CAST('{hour:%Y-%m-%d %H:%M}' AS TIMESTAMP)"),
                *(f"'{hour.isoformat()}'::timestamp", f"DATE '{hour.date()}'"),
                f"DATE '{hour.date()}' + INTERVAL '{hour.hour}' HOUR",
                f"TIMESTAMP '{hour}' - INTERVAL {self._chance.randint(0, 120) * 60} MINUTES",
            ]
        )

    def _clock(self) -> str:
        minutes = self._chance.randrange(0, 1440, 15)
        text = f"'{minutes // 60:02}:{minutes % 60:02}'"
        return self._chance.choice([f"TIME {text}", f"CAST({text} AS TIME)", text])

    def _date(self) -> str:
        return self._chance.choice(["CAST(t AS DATE)", "t::date"])

    def _moment(self) -> str:
        hours = self._chance.randint(0, 40)
        return self._chance.choice(
            [
                *("t", "t", "t", f"t + INTERVAL {hours} HOUR", f"t - INTERVAL '{hours}' HOURS"),
                *(f"t + INTERVAL {hours} DAY", f"t - INTERVAL {hours % 5} MONTH", "(t)"),
                *(f"COALESCE(t, {self._stamp()})", f"IF(t >= {self._stamp()}, t, {self._stamp()})"),
                *(f"LEAST(t, {self._stamp()})", f"GREATEST({self._stamp()}, t)"),
            ]
        )

    def _stamp(self) -> str:
        return f"TIMESTAMP '{self._hour()}'"

    def _part(self) -> str:
        chance = self._chance
        form = chance.choice(["EXTRACT({0} FROM {1})", "date_part('{0}', {1})"])
        if chance.random() < 0.15:
            return form.format("hour", chance.choice(["c", "CAST(t AS TIME)"]))
        called = f"{chance.choice(['YEAR', 'MONTH', 'DAY', 'HOUR', 'DAYOFWEEK'])}({self._moment()})"
        return chance.choice([called, form.format(chance.choice(DAY_PARTS), self._moment())])

    def _cut(self) -> str:
        return f"date_trunc('{self._chance.choice(CUTS[:-1])}', {self._moment()})"

    def _case(self) -> str:
        first = f"CASE WHEN {self._condition(1)} THEN {self._stamp()}"
        return f"{first} WHEN {self._condition(1)} THEN {self._stamp()} END"

    def _condition(self, depth: int) -> str:
        chance = self._chance
        if depth and chance.random() < 0.5:
            first, second = self._condition(depth - 1), self._condition(depth - 1)
            return chance.choice(
                [f"({first} AND {second})", f"({first} OR {second})", f"NOT ({first})"]
            )
        sign, half_open = (
            chance.choice(["=", "<>", "<", "<=", ">", ">="]),
            chance.choice(["<", ">="]),
        )
        number, hour = chance.randint(0, 31), self._hour()
        return chance.choice(
            [
                f"{self._moment()} {half_open} {self._literal()}",
                f"t {half_open} '{hour}'",
                f"t >= {self._literal()} AND t < {self._literal()}",
                f"date_trunc('hour', t) {sign} {self._literal()}",
                f"date_trunc('hour', t) BETWEEN '{hour}' AND {self._literal()}",
                f"date_trunc('hour', t) IN ('{hour}', {self._stamp()})",
                f"{self._cut()} {sign} {self._literal()}",
                f"{self._date()} {sign} DATE '{hour.date()}'",
                f"{self._date()} - DATE '2012-03-01' {sign} {number}",
                f"{self._part()} {sign} {number}",
                f"{self._part()} IN (1, 2, {number})",
                f"c {half_open} {self._clock()}",
                f"CAST(t AS TIME) {half_open} TIME '{number % 24:02}:00'",
                f"c + INTERVAL {15 * number} MINUTE {half_open} {self._clock()}",
                chance.choice(["t IS NULL", "t IS NOT NULL", "sex = 'Male'", f"n > {number % 20}"]),
            ]
        )


@pytest.fixture(scope="module", params=RULES, ids="-".join)
def log(request: pytest.FixtureRequest) -> Iterator[Log]:
    log = Log(*request.param)
    yield log
    log.engine.close()


def shown(label: Any) -> Any:
    """A key of DuckDB's as eke shows it."""
    return str(label) if isinstance(label, (date, time)) else label


def test_moments_have_the_values_of_duckdb_on_the_raw_rows(log: Log) -> None:
    """90 generated questions, a part for each pair of rules."""
    refused = check_statements(
        MomentWriter(log.seed).statement,
        lambda text: differs(log, text, shown),
        STATEMENTS // len(RULES) + 1,
    )
    assert [r for r in refused if not any(reason in r for reason in KNOWN)] == []


@pytest.mark.long
def test_more_moments_have_the_values_of_duckdb(log: Log) -> None:
    """600 generated questions, a hundred for each pair of rules."""
    writer = MomentWriter(100 + log.seed)
    check_statements(writer.statement, lambda text: differs(log, text, shown), 100)


@pytest.mark.parametrize("sign", ["=", "<>", "<", "<=", ">", ">="])
def test_every_comparison_is_about_the_beginning_of_a_step(log: Log, sign: str) -> None:
    hour = "'2012-02-29 05:00'"
    quarters = "extract(hour FROM c) * 4 + extract(minute FROM c) // 15"
    for ours, theirs in (
        (f"t {sign} TIMESTAMP {hour}", f"date_trunc('hour', t) {sign} TIMESTAMP {hour}"),
        (f"c {sign} '08:15'", f"{quarters} {sign} 33"),
    ):
        statement = parse(f"SELECT COUNT(*) FROM diary WHERE {ours}", log.domain, "diary")
        ((expected,),) = log.answer(f"SELECT COUNT(*) FROM diary WHERE {theirs}")
        assert agree(log.rows(statement)[0].values[0], expected, 1.0)


def test_the_column_itself_makes_groups_of_steps(log: Log) -> None:
    text = "SELECT {} AS k, COUNT(*) AS n FROM diary GROUP BY k"
    ours = [parse(text.format(k), log.domain, "diary") for k in ("t", "date_trunc('hour', t)")]
    assert ours[0].blocks == ours[1].blocks
    expected = {shown(k): n for k, n in log.answer(text.format("date_trunc('hour', t)"))}
    rows = log.rows(ours[0])
    counted = dict(ours[0].shown(rows[place]) for place in ours[0].result(rows))
    assert {k: n for k, n in counted.items() if n} == {k: n for k, n in expected.items() if n}


@pytest.mark.parametrize(
    ("condition", "problem"),
    [
        ("t < '2012-02-29 05:30'", "begin at '2012-02-29 05:00:00' and '2012-02-29 06:00:00'"),
        ("t = TIMESTAMP '2012-02-29 05:00:01'", "lies within a step of hour"),
        ("t IN ('2012-02-29 05:00', '2012-02-29 05:59')", "lies within a step of hour"),
        ("t + INTERVAL 30 MINUTE < '2012-02-29 05:00'", "begin at '2012-02-29 04:30:00' and"),
        ("LEAST(t, TIMESTAMP '2012-02-29 05:30') < '2012-03-01'", "lies within a step of hour"),
        ("t <= '2012-02-29 23:59:59.999999'", "as in < '2012-03-01 00:00:00'"),
        ("t < '2012-02-30'", "is not a timestamp; write a timestamp as TIMESTAMP"),
        ("t < '05:00'", "is not a timestamp"),
        ("c < '05:10'", "begin at '05:00:00' and '05:15:00'"),
        ("c < '25:00'", "is not a time of day; write a time of day as TIME '05:00'"),
        ("c < t", "is not a timestamp; write CAST(t AS DATE) or CAST(t AS TIME)"),
        ("EXTRACT(minute FROM t) = 5", "the minute does not follow from steps of hour"),
        ("EXTRACT(minute FROM c) = 15", "the minute does not follow from steps of 15 minutes"),
        ("EXTRACT(hour FROM t + INTERVAL 30 MINUTE) = 5", "the hour does not follow from steps"),
        ("date_trunc('minute', t) > '2012-02-29'", "beginning of the minute does not follow"),
        ("EXTRACT(month FROM c) = 5", "times of day have no part 'MONTH' here; there is hour"),
        (
            "EXTRACT(epoch FROM t) = 5",
            "the number of seconds since 1970 does not follow from steps of hour",
        ),
        ("date_trunc('hour', c) > '05:00'", "times of day are not cut"),
        ("c + INTERVAL 10 MINUTE > '05:00'", "add whole steps of 15 minutes"),
        ("c + INTERVAL 1 DAY > '05:00'", "whole number of hours, minutes or seconds"),
        ("t - TIMESTAMP '2012-02-29' > 5", "CAST(t AS DATE) - DATE '2013-01-31'"),
        ("t + 7 > '2012-02-29'", "to a timestamp one adds an interval"),
        ("t > NOW()", "a question means the same whenever it is asked"),
        ("t > CURRENT_TIMESTAMP", "or TIMESTAMP '2013-01-31 05:00'"),
        ("t > LOCALTIMESTAMP", "a question means the same whenever it is asked"),
        ("t > TIMESTAMPTZ '2012-02-29'", "told by the clocks of the declared zone"),
        ("t AT TIME ZONE 'UTC' > '2012-02-29'", "told by the clocks of the declared zone"),
        ("CAST(t AS VARCHAR) = 'x'", "dates become no other type here"),
        ("t + INTERVAL 8000 YEAR > '2012-02-29'", "beyond the years 1 to 9999"),
    ],
)
def test_what_steps_do_not_tell_is_refused(condition: str, problem: str) -> None:
    domain = Domain(t=Timestamp(LOW, HIGH, "hour"), c=Time(step="15 minutes"))
    with pytest.raises(SqlError) as refusal:
        parse(f"SELECT COUNT(*) FROM diary WHERE {condition}", domain, "diary")
    assert problem in str(refusal.value)


def test_moments_beyond_the_bounds_may_lie_within_steps(log: Log) -> None:
    """All records are on one side of them, whatever is finer than a step."""
    for condition in ("t < '2012-06-01 05:30'", "t >= '2011-01-01 00:00:01' AND n >= 0"):
        statement = parse(f"SELECT SUM(n) FROM diary WHERE {condition}", log.domain, "diary")
        ((expected,),) = log.answer(f"SELECT SUM(n) FROM diary WHERE {condition}")
        assert agree(log.rows(statement)[0].values[0], expected, 1.0)


def test_finer_steps_have_minutes_and_seconds() -> None:
    """Every minute of two days: brute force over Python's own parts."""
    minutes = Domain(t=Timestamp("2012-02-28", "2012-02-29", "minute"), c=Time(step="second"))
    times = [LOW.replace(day=28) + timedelta(minutes=n) for n in range(2880)]
    for part, expected in (
        ("minute", [m.minute for m in times]),
        ("hour", [m.hour for m in times]),
        ("doy", [m.timetuple().tm_yday for m in times]),
    ):
        statement = parse(
            f"SELECT EXTRACT({part} FROM t) AS k, COUNT(*) FROM d GROUP BY k", minutes
        )
        (key,) = statement.group_by
        found = {label: key.part(minutes, place) for place, label in enumerate(key.labels)}
        assert sorted(found) == sorted(set(expected))
        for label, query in list(found.items())[:5]:
            (term,) = query.terms
            ((_, chosen),) = term.factors
            assert [n for n, one in enumerate(chosen) if one] == [
                n for n, one in enumerate(expected) if one == label
            ]
    assert parse("SELECT COUNT(*) FROM d WHERE SECOND(c) < 10 AND MINUTE(t) = 3", minutes).blocks


def test_a_wrong_hour_is_noticed(log: Log) -> None:
    """Positive control: the hour before is another question."""
    text = "SELECT COUNT(*) AS v FROM diary WHERE EXTRACT(hour FROM t) = 7"
    statement = parse(as_asked(text.replace("7", "6")), log.domain, "diary")
    ((theirs,),) = log.answer(text)
    assert not agree(log.rows(statement)[0].values[0], theirs, 1.0)
