"""Questions over columns of 10⁹ values and more have the values that DuckDB computes.

Statements are generated: arithmetic, conditions, CASE, functions and groups over wide columns, with
numbers that are in the table, next to one of them, or anywhere. The same statements over narrow
columns, which are listed, and over the same columns taken for wide ones, are the same queries.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import duckdb
import numpy as np
import pytest

from eke.data import open_source
from eke.domain import Attribute, Decimal, Domain, Integer, Real, wide
from eke.errors import SqlError
from eke.query import canonical, linear, runs
from eke.sql import parse
from tests.parts import in_long, parts
from tests.property.test_sql_values import compare
from tests.sql_adult import Adult
from tests.sql_grammar import as_asked

QUESTIONS = 80
ROWS = 60
MOST_REFUSED = 0.25
REASONS = (
    "stretches, and no more are told apart",
    "the widest noise hides",
    "takes too long to work out",
    "different values; use wider groups",
    "no combination of declared values meets",
    "terms; use fewer columns",
    "no data is needed for this",
    "a constant makes only one group",
)
SQL_TYPES = {"x": "DECIMAL(18, 2)", "y": "DECIMAL(18, 3)", "i": "BIGINT"}


@dataclass(frozen=True)
class Column:
    """A wide column: where it lies, and how many digits its numbers have."""

    attribute: Attribute
    low: int  # in units of its last digit
    high: int
    digits: int

    def spelled(self, whole: int) -> str:
        sign, size = "-" if whole < 0 else "", abs(whole)
        if not self.digits:
            return f"{sign}{size}"
        return f"{sign}{size // 10**self.digits}.{size % 10**self.digits:0{self.digits}d}"


WIDE = {
    "x": Column(Decimal(0, 10_000_000, 2), 0, 10**9, 2),
    "y": Column(Real(-500_000, 2_000_000, 0.001, null="bucket"), -5 * 10**8, 2 * 10**9, 3),
    "i": Column(Integer(-(10**11), 9 * 10**11, null="bucket"), -(10**11), 9 * 10**11, 0),
}
NARROW = {
    "x": Column(Decimal(0, 9, 2), 0, 900, 2),
    "y": Column(Real(-0.5, 2, 0.001, null="bucket"), -500, 2000, 3),
    "i": Column(Integer(-100, 900, null="bucket"), -100, 900, 0),
}


class Table(Adult):
    """A few rows of wide columns, in eke's data source and in DuckDB."""

    def __init__(self, draw: random.Random) -> None:
        self.domain = Domain(
            {name: one.attribute for name, one in WIDE.items()} | {"n": Integer(0, 3)}
        )
        self.numbers = {
            name: [draw.randint(one.low, one.high) for _ in range(ROWS)] + [one.low, one.high]
            for name, one in WIDE.items()
        }
        spelled = {
            name: [WIDE[name].spelled(number) for number in numbers]
            for name, numbers in self.numbers.items()
        }
        rows = [
            [spelled["x"][k], *("NULL" if draw.random() < 0.1 else spelled[n][k] for n in "yi")]
            for k in range(ROWS + 2)
        ]
        values = ", ".join(f"({', '.join(row)}, {k % 4})" for k, row in enumerate(rows))
        self.engine = duckdb.connect(config={"threads": 1})
        columns = ", ".join(f"{name} {kind}" for name, kind in SQL_TYPES.items())
        self.engine.execute(f"CREATE TABLE adult ({columns}, n BIGINT)")
        self.engine.execute(f"INSERT INTO adult VALUES {values}")
        self.source = open_source(self.engine.sql("FROM adult").to_arrow_table(), self.domain)


class Writer:
    """Statements over columns, with numbers near those of a table."""

    def __init__(self, draw: random.Random, columns: dict[str, Column], numbers: dict) -> None:
        self.draw = draw
        self.columns = columns
        self.numbers = numbers

    def statement(self) -> str:
        name = self.draw.choice(list(self.columns))
        what = self.draw.choice(
            ["COUNT(*)", "COUNT({})", "\x01SUM({})\x02", "AVG({})", "\x01SUM({})\x02"]
        )
        asked = what.format(self.number(name, 2))
        where = f" WHERE {self.condition(2)}" if self.draw.random() < 0.7 else ""
        if self.draw.random() < 0.25:
            by = self.draw.choice([f"FLOOR({name} / {self.width(name)})", self.case(), "n"])
            return f"SELECT {by} AS k, {asked} AS v FROM adult{where} GROUP BY k"
        return f"SELECT {asked} AS v FROM adult{where}"

    def width(self, name: str) -> str:
        """A part of the column's range, or a few of its steps."""
        one = self.columns[name]
        span = one.high - one.low
        return one.spelled(self.draw.choice([span // 7, span // 40 + 1, span // 3, span]))

    def literal(self, name: str) -> str:
        one, numbers = self.columns[name], self.numbers[name]
        near = self.draw.choice(numbers) + self.draw.choice([0, 0, 1, -1])
        anywhere = self.draw.randint(one.low - 10, one.high + 10)
        return one.spelled(self.draw.choice([near, near, anywhere, 0]))

    def number(self, name: str, depth: int) -> str:
        if depth == 0 or self.draw.random() < 0.3:
            return name
        inner, literal = self.number(name, depth - 1), self.literal(name)
        return self.draw.choice(
            [
                f"({inner} + {literal})",
                f"({literal} - {inner})",
                f"({inner} * {self.draw.choice(['2', '-1', '3', '0.5'])})",
                f"ABS({inner})",
                f"LEAST({inner}, {literal})",
                f"GREATEST({inner}, {literal})",
                f"FLOOR({inner} / {self.width(name)})",
                f"SIGN({inner})",
                f"MOD({inner}, {self.width(name)})",
                f"CASE WHEN {self.plain(name)} THEN {inner} ELSE {literal} END",
                f"COALESCE({inner}, {literal})",
            ]
        )

    def plain(self, name: str) -> str:
        one = self.number(name, 1)
        sign = self.draw.choice(["=", "<>", "<", "<=", ">", ">="])
        listed = ", ".join(self.literal(name) for _ in range(3))
        low, high = sorted((self.literal(name) for _ in range(2)), key=float)
        return self.draw.choice(
            [
                f"{one} {sign} {self.literal(name)}",
                f"{one} BETWEEN {low} AND {high}",
                f"{one} IN ({listed})",
                f"{name} NOT IN ({listed})",
                f"{name} IS NULL",
                f"CAST({name} AS DECIMAL(37, 3)) * {name} {sign} {self.literal(name)}",
            ]
        )

    def condition(self, depth: int) -> str:
        if depth == 0 or self.draw.random() < 0.4:
            return self.draw.choice([self.plain(self.draw.choice(list(self.columns))), "n > 1"])
        join = self.draw.choice(["AND", "OR"])
        both = f"({self.condition(depth - 1)} {join} {self.condition(depth - 1)})"
        return f"NOT {both}" if self.draw.random() < 0.2 else both

    def case(self) -> str:
        name = self.draw.choice(list(self.columns))
        return f"CASE WHEN {self.plain(name)} THEN 'one' WHEN n > 2 THEN 'two' ELSE 'other' END"


@pytest.fixture(scope="module")
def table() -> Table:
    return Table(random.Random(1))


@pytest.mark.parametrize("part", parts(13))
def test_answers_over_wide_columns_are_those_of_duckdb(table: Table, part: int) -> None:
    """N = 80 generated questions, 1,040 with the long ones."""
    writer = Writer(random.Random(part), WIDE, table.numbers)
    refused = 0
    for _ in range(QUESTIONS):
        text = writer.statement()
        try:
            problem = compare(table, text)
        except SqlError as error:
            if not any(reason in str(error) for reason in REASONS):
                pytest.fail(f"{text}\n{error}")
            refused += 1
            continue
        assert problem is None, f"{text}\n{problem}"
    assert refused < MOST_REFUSED * QUESTIONS


def test_the_comparison_notices_one_wrong_step(table: Table) -> None:
    """Positive control: a bound one step away changes the number of rows."""
    number = table.numbers["x"][0]
    texts = [
        f"SELECT COUNT(*) AS v FROM adult WHERE x {sign} {WIDE['x'].spelled(number)}"
        for sign in (">=", ">")
    ]
    right, wrong = (parse(text, table.domain, "adult") for text in texts)
    exactly = [table.exact(one.query(0, 0)) for one in (right, wrong)]
    (here,) = table.answer(texts[0])
    assert exactly == [here[0], here[0] - 1]


@pytest.mark.parametrize("questions", [QUESTIONS, in_long(250)])
def test_columns_taken_for_wide_ones_are_asked_the_same(
    monkeypatch: pytest.MonkeyPatch, questions: int
) -> None:
    """The way of wide columns against its slow twin, which lists all values of narrow ones."""
    domain = Domain({name: one.attribute for name, one in NARROW.items()} | {"n": Integer(0, 3)})
    numbers = {name: [one.low, one.high, 5] for name, one in NARROW.items()}
    writer = Writer(random.Random(7), NARROW, numbers)
    texts = [writer.statement() for _ in range(questions)]
    listed = [_entries(text, domain) for text in texts]
    monkeypatch.setattr(wide, "MOST_LISTED", 800)
    monkeypatch.setattr(runs, "WIDE", 16)
    for module in (canonical, linear):  # no table of a few columns lists them, either
        monkeypatch.setattr(module, "DENSE_CELLS", 8)
    same = 0
    for text, before in zip(texts, listed, strict=True):
        now = _entries(text, domain)
        if not isinstance(before, str) and not isinstance(now, str):
            assert now == before, text
            same += 1
    assert same > (1 - MOST_REFUSED) * questions


def _entries(text: str, domain: Domain) -> object:
    """The coefficients of all queries at some cells, and their formulas; the refusal of others."""
    try:
        statement = parse(as_asked(text), domain, "adult")
    except SqlError as error:
        return str(error)
    draw = random.Random(3)
    sizes = domain.sizes(domain.names)
    cells = [[draw.randrange(size) for size in sizes] for _ in range(300)]
    rows = []
    for block in statement.blocks:
        for query in [*block.queries()][:8]:
            unit = 2.0**query.exponent
            numbers = query.numerators(domain.names, np.array(cells))
            rows.append((float(query.constant), [float(number) * unit for number in numbers]))
    return rows, [column.formula.text for column in statement.columns]
