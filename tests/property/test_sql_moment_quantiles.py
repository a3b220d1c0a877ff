"""Quantiles of dates, timestamps and times of day are those that DuckDB finds in the rows.

The machinery is that of `test_sql_moments.py`; there is no noise. eke looks at the beginnings of
steps, so DuckDB is given a view of the rows in which moments are these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.query import Query
from eke.question.calendar import Calendar
from eke.question.ladder import Ladder
from eke.sql import parse
from tests.parts import in_long
from tests.property.test_sql_dates import KNOWN, RULES, check_statements
from tests.property.test_sql_moments import HIGH, LOW, Log, MomentWriter, shown
from tests.sql_grammar import as_asked

STATEMENTS = [60, in_long(160)]
SHARES = (0.01, 0.25, 0.5, 0.9, 0.999)


class QuantileWriter(MomentWriter):
    """Statements about quantiles of moments, drawn by chance."""

    def statement(self) -> str:
        of = self._chance.choice([self._moment, self._date, self._cut, self._clocks])()
        share = self._chance.choice(SHARES)
        value = self._chance.choice(
            [
                *(f"QUANTILE_DISC({of}, {share})", f"QUANTILE_DISC({of}, {share})"),
                f"PERCENTILE_DISC({share}) WITHIN GROUP (ORDER BY {of})",
                *(f"MEDIAN({of})", f"QUANTILE_CONT({of}, {share})"),
            ]
        )
        where = f" WHERE {self._condition(1)}" if self._chance.random() < 0.6 else ""
        if self._chance.random() < 0.5:
            return f"SELECT {value} AS v FROM stepped{where}"
        return f"SELECT sex AS k, {value} AS v FROM stepped{where} GROUP BY k"

    def _clocks(self) -> str:
        return self._chance.choice(["c", "CAST(t AS TIME)", "c + INTERVAL 30 MINUTE"])


@pytest.fixture(scope="module", params=RULES, ids="-".join)
def log(request: pytest.FixtureRequest) -> Iterator[Log]:
    log = Log(*request.param)
    quarter = "make_time(hour(c), minute(c) // 15 * 15, 0)"
    log.engine.execute(
        f"CREATE VIEW stepped AS SELECT date_trunc('hour', t) AS t, {quarter} AS c, sex, n "
        "FROM exact"
    )
    yield log
    log.engine.close()


def least_step(ladder: Ladder, holds: Callable[[int], bool]) -> int:
    """The first step at which something holds that stays so."""
    low, high = 0, ladder.last
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def exact_ends(log: Log, ladder: Ladder, counted: Query) -> tuple[str, str]:
    """The records between which the quantile lies, told as texts."""
    share, calendar = ladder.share, ladder.calendar
    assert calendar is not None
    below, beyond = (
        (-share.numerator, share.denominator - share.numerator) if ladder.is_between else (0, 0)
    )

    def ranks(step: int) -> Any:
        return log.exact(ladder.tilted(counted, step))

    if not ladder.is_between:
        step = least_step(ladder, lambda step: ranks(step) >= 0)
        return (calendar.text(ladder.value(step)),) * 2
    first = least_step(ladder, lambda step: ranks(step) > below)
    last = least_step(ladder, lambda step: ranks(step) >= beyond)
    return calendar.text(ladder.value(first)), calendar.text(ladder.value(last))


def between(value: Any, ends: tuple[str, str], calendar: Calendar) -> bool:
    """Whether DuckDB's value is what eke finds; of dates it interpolates to half days."""
    if isinstance(value, (date, time)) and ends[0] == ends[1]:
        return calendar.number(str(value)) == calendar.number(ends[0])
    low, high = map(calendar.number, ends)
    return low <= calendar.number(str(value)) <= high


def differs(log: Log, text: str, *, off: int = 0) -> str | None:
    """What is wrong with the answer to a statement, None if nothing is; `off` makes it wrong."""
    statement = parse(as_asked(text), log.domain, "stepped")
    formula = statement.columns[-1].formula
    ladder, (block,) = formula.ladder, formula.aggregates()
    assert ladder is not None
    assert ladder.calendar is not None
    expected = {row[:-1]: row[-1] for row in log.answer(as_asked(text)) if row[-1] is not None}
    found = {}
    for row in statement.places:
        counted = statement.query(block, row)
        if log.exact(counted) > 0:
            found[statement.keys()[row]] = exact_ends(log, ladder, counted)
    if found.keys() != expected.keys():
        return f"groups {sorted(found)} and not {sorted(expected)}"
    for key, ends in found.items():
        wanted = expected[key]
        if off and isinstance(wanted, date):
            wanted += timedelta(days=off)
        if not between(wanted, ends, ladder.calendar):
            return f"{key}: {ends} and not {shown(wanted)}"
    return None


@pytest.mark.parametrize("statements", STATEMENTS)
def test_quantiles_of_moments_are_those_of_duckdb(log: Log, statements: int) -> None:
    """60 or 160 generated questions, a part for each pair of rules."""
    refused = check_statements(
        QuantileWriter(log.seed).statement,
        lambda text: differs(log, text),
        statements // len(RULES) + 1,
    )
    known = (*KNOWN, "no record can be counted here")
    assert [reason for reason in refused if not any(one in reason for one in known)] == []


def test_a_wrong_day_is_noticed(log: Log) -> None:
    """Positive control: the day after is another answer."""
    text = "SELECT sex AS k, QUANTILE_DISC(CAST(t AS DATE), 0.5) AS v FROM stepped GROUP BY k"
    assert differs(log, text) is None
    assert differs(log, text, off=1) is not None


def held(tmp_path: Any, runs: int) -> tuple[float, float]:
    """How many intervals hold the median day, and how many a day three weeks later."""
    rng = np.random.default_rng(20)
    days = pd.Timestamp(LOW) + pd.to_timedelta(rng.binomial(28, 0.5, 801), "D")
    rows = pd.DataFrame({"day": days})
    domain = eke.Domain(day=eke.Date(LOW.date(), HIGH.date()))
    middle = np.sort(days)[400]
    shares = np.zeros(2)
    for run in range(runs):
        made = eke.create(tmp_path / f"{run}.eke", data=rows, domain=domain, epsilon=5.0)
        answer = made.ask("SELECT MEDIAN(day) FROM t", within=2, confidence=0.8)
        low, high = (datetime.fromisoformat(end) for end in answer.interval)
        for place, shift in enumerate((0, 21)):
            shares[place] += low <= pd.Timestamp(middle) + timedelta(days=shift) <= high
    return float(shares[0] / runs), float(shares[1] / runs)


@pytest.mark.parametrize("runs", [10, in_long(30)])
def test_intervals_of_dates_hold_as_often_as_they_promise(tmp_path: Any, runs: int) -> None:
    """N = 10 or 30 datasets, four standard deviations below 80 %; a wrong day is held less."""
    share, wrong = held(tmp_path, runs)
    least = 0.8 - 4 * (0.8 * 0.2 / runs) ** 0.5
    assert share >= least
    assert wrong < least
