"""Questions about dates in SQL have the values that DuckDB computes on the same rows.

The machinery is that of `test_sql_values.py`; the rows hold dates, whatever the rules make of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from itertools import product
from typing import Any, Literal

import duckdb
import pyarrow as pa
import pytest

from eke.data import open_source
from eke.domain import Categorical, Date, Domain, Integer
from eke.errors import SqlError
from eke.sql import parse
from tests.property.test_sql_values import agree, scale_of
from tests.sql_adult import Adult
from tests.sql_grammar import as_asked, for_duckdb

ROWS, STATEMENTS = 3_000, 220
LOW, HIGH = date(2011, 12, 20), date(2013, 3, 10)
PARTS = ("year", "quarter", "month", "week", "day", "dow", "isodow", "doy", "isoyear", "epoch")
CUTS = ("year", "quarter", "month", "week", "day")
CALLS = ("YEAR", "MONTH", "DAY", "QUARTER", "WEEK", "DAYOFWEEK", "ISODOW", "DAYOFYEAR")
Null = Literal["drop", "bucket"]
Outside = Literal["drop", "bucket", "clamp"]
NULLS: tuple[Null, ...] = ("drop", "bucket")
OUTSIDES: tuple[Outside, ...] = ("drop", "bucket", "clamp")
RULES = list(product(NULLS, OUTSIDES))


class Diary(Adult):
    """Rows with a date, some missing and some beyond the bounds, and DuckDB's view of them."""

    def __init__(self, null: Null, outside: Outside) -> None:
        chance = random.Random(11)
        days = [
            None if chance.random() < 0.1 else LOW + timedelta(days=chance.randint(-30, 480))
            for _ in range(ROWS)
        ]
        raw = pa.table(
            {
                "d": pa.array(days, pa.date32()),
                "sex": [chance.choice(["Female", "Male"]) for _ in days],
                "n": [chance.randint(0, 20) for _ in days],
            }
        )
        self.domain = Domain(
            d=Date(LOW, HIGH, null, outside),
            sex=Categorical("Female", "Male"),
            n=Integer(0, 20),
        )
        self.seed = RULES.index((null, outside))
        self.engine = duckdb.connect(config={"threads": 1})
        self.engine.register("raw", raw)
        self.source = open_source(raw, self.domain)
        bounds = f"DATE '{LOW}' AND DATE '{HIGH}'"
        within = {
            "drop": "d",
            "bucket": f"CASE WHEN d BETWEEN {bounds} THEN d END",
            "clamp": f"CASE WHEN d IS NOT NULL THEN LEAST(GREATEST(d, DATE '{LOW}'), '{HIGH}') END",
        }
        kept = f"(d IS NULL OR d BETWEEN {bounds})" if outside == "drop" else "TRUE"
        kept += " AND d IS NOT NULL" if null == "drop" else ""
        self.engine.execute(
            f"CREATE TABLE diary AS SELECT {within[outside]}::DATE AS d, sex, n "
            f"FROM raw WHERE {kept}"
        )


class DateWriter:
    """Statements about the diary, drawn by chance."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)

    def statement(self) -> str:
        pick, where = self._chance.choice, ""
        if self._chance.random() < 0.7:
            where = f" WHERE {self._condition(2)}"
        value = pick(
            [
                "COUNT(*)",
                "COUNT(d)",
                "\x01SUM(n)\x02",
                f"AVG({self._part()})",
                f"\x01SUM(d - {self._date()})\x02",
                f"\x01SUM(CASE WHEN {self._condition(1)} THEN n ELSE 0 END)\x02",
            ]
        )
        kind = self._chance.random()
        if kind < 0.4:
            return f"SELECT {value} AS v FROM diary{where}"
        key = pick([self._part, self._cut, self._case, lambda: "d", self._part])()
        having = (
            f" HAVING k IS NOT NULL AND k <> {self._date()}" if key.startswith("date_t") else ""
        )
        return f"SELECT {key} AS k, {value} AS v FROM diary{where} GROUP BY k{having}"

    def _date(self) -> str:
        day = LOW + timedelta(days=self._chance.randint(-60, 520))
        return self._chance.choice([f"DATE '{day}'", f"CAST('{day}' AS DATE)", f"'{day}'::date"])

    def _written(self) -> str:
        day = LOW + timedelta(days=self._chance.randint(-60, 520))
        return self._chance.choice([self._date(), f"'{day}'"])

    def _part(self) -> str:
        part, of = self._chance.choice(PARTS), self._day()
        form = self._chance.choice(["EXTRACT({0} FROM {1})", "date_part('{0}', {1})", "{2}({1})"])
        return form.format(part, of, self._chance.choice(CALLS))

    def _cut(self) -> str:
        return f"date_trunc('{self._chance.choice(CUTS)}', d)"

    def _case(self) -> str:
        first = f"CASE WHEN {self._condition(1)} THEN DATE '2012-01-01'"
        return f"{first} WHEN {self._condition(1)} THEN DATE '2013-01-01' END"

    def _day(self) -> str:
        number = self._chance.randint(0, 40)
        return self._chance.choice(
            [
                *("d", "d", "d", f"d + {number}", f"d - {number}", f"d + INTERVAL {number} DAY"),
                *(f"d - INTERVAL '{number % 5}' MONTH", f"d + INTERVAL {number % 3} YEAR"),
                *(f"d - INTERVAL ({number % 9}) WEEKS", self._cut()),
                *(f"COALESCE(d, {self._date()})", f"NULLIF(d, {self._date()})"),
                *(f"LEAST(d, {self._date()})", f"GREATEST({self._date()}, d)"),
                *(f"IF(d > {self._date()}, d, {self._date()})", "CAST(d AS DATE)"),
            ]
        )

    def _condition(self, depth: int) -> str:
        chance = self._chance
        if depth and chance.random() < 0.5:
            first, second = self._condition(depth - 1), self._condition(depth - 1)
            return chance.choice(
                [f"({first} AND {second})", f"({first} OR {second})", f"NOT ({first})"]
            )
        sign = chance.choice(["=", "<>", "<", "<=", ">", ">="])
        number = chance.randint(0, 60)
        return chance.choice(
            [
                f"{self._day()} {sign} {self._date()}",
                f"d {sign} {self._written()}",
                f"d BETWEEN {self._written()} AND {self._written()}",
                f"d IN ({self._written()}, {self._written()}, '2012-02-29')",
                f"{self._part()} {sign} {number % 13}",
                f"{self._part()} IN (1, 2, {number})",
                f"d - {self._date()} {sign} {number}",
                f"{self._part()} % 3 = {number % 3}",
                f"ABS(d - {self._date()}) {sign} {number}",
                f"{self._cut()} {sign} DATE '2012-10-01'",
                chance.choice(["d IS NULL", "d IS NOT NULL", "sex = 'Male'", f"n > {number % 20}"]),
            ]
        )


@pytest.fixture(scope="module", params=RULES, ids="-".join)
def diary(request: pytest.FixtureRequest) -> Iterator[Diary]:
    diary = Diary(*request.param)
    yield diary
    diary.engine.close()


def shown(label: Any) -> Any:
    """A key of DuckDB's, which makes times of dates, as eke shows it."""
    if isinstance(label, datetime):
        label = label.date()
    return label.isoformat() if isinstance(label, date) else label


def differs(diary: Adult, text: str, shown: Callable[[Any], Any] = shown) -> str | None:
    """What eke and DuckDB say differently; None when they agree."""
    statement = parse(as_asked(text), diary.domain, "diary")
    rows = diary.rows(statement)
    expected = {tuple(map(shown, row[:-1])): row[-1] for row in diary.answer(for_duckdb(text))}
    for place in statement.result(rows):
        *key, ours = statement.shown(rows[place])
        theirs = expected.pop(tuple(key), 0 if key else None)
        if ours is None and theirs == 0 and key:
            continue  # the average of a declared group without rows
        if not agree(ours, theirs, scale_of(statement, rows[place])):
            return f"{key}: {ours} against {theirs}"
    return f"DuckDB has more keys: {list(expected)[:3]}" if expected else None


KNOWN = (
    "no combination of declared values",
    "no data is needed",
    "only one group",
    "boxes;",
    "too long",
)


def check_statements(
    written: Callable[[], str], problem_of: Callable[[str], str | None], statements: int
) -> list[str]:
    """Ask until so many statements were answered, all alike; the reasons why others were not."""
    accepted, refused = 0, []
    while accepted < statements:
        text = written()
        try:
            problem = problem_of(text)
        except SqlError as error:
            refused.append(str(error))
            continue
        assert problem is None, f"{text}\n{problem}"
        accepted += 1
    assert len(refused) < accepted
    return refused


def test_dates_have_the_values_of_duckdb(diary: Diary) -> None:
    """220 generated questions, a part for each pair of rules."""
    refused = check_statements(
        DateWriter(diary.seed).statement,
        lambda text: differs(diary, text),
        STATEMENTS // len(RULES) + 1,
    )
    assert [r for r in refused if not any(reason in r for reason in KNOWN)] == []
    assert len(refused) < STATEMENTS / len(RULES) / 3


@pytest.mark.long
def test_more_dates_have_the_values_of_duckdb(diary: Diary) -> None:
    """600 generated questions, a hundred for each pair of rules."""
    writer = DateWriter(100 + diary.seed)
    check_statements(writer.statement, lambda text: differs(diary, text), 100)


def test_a_wrong_month_is_noticed(diary: Diary) -> None:
    """Positive control: the month before is another question."""
    text = "SELECT COUNT(*) AS v FROM diary WHERE EXTRACT(month FROM d) = 7"
    statement = parse(text.replace("7", "6"), diary.domain, "diary")
    ((theirs,),) = diary.answer(text)
    assert not agree(diary.rows(statement)[0].values[0], theirs, 1.0)
