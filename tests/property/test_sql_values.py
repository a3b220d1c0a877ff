"""Every accepted question in SQL has the value that DuckDB computes on the same rows.

DuckDB gets the text itself, on a view in which bins hold midpoints and buckets are NULL; eke's
value comes from the statement's queries and the exact counts of `eke.data`, without noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Protocol

import numpy as np
import pytest
from sqlglot import exp

from eke.errors import SqlError
from eke.query import Query
from eke.question import Constant, Question
from eke.sql import functions, grouping, numeric, parse
from tests.parts import in_long, parts
from tests.sql_adult import Adult
from tests.sql_grammar import Writer, as_asked, for_duckdb
from tests.sql_words import WordWriter

QUESTIONS = 2_000
PARTS = 32
REASONS = (
    "no combination of declared values meets",
    "no data is needed for this",
    "boxes; use fewer columns",
    "terms; use fewer columns",
    "takes too long to work out",
    "no declared value is",
    "is not a declared value",
    "combinations and at most",
    "no combination of declared values meets this FILTER",
    "a constant makes only one group",
    "CAST rounds halves",
    "would cut through its bins",
)


class Writes(Protocol):
    """Whatever writes statements."""

    def statement(self) -> str: ...


@pytest.fixture(scope="module")
def adult() -> Adult:
    return Adult()


def shown_label(label):
    """A key as DuckDB shows it: bins by their midpoints."""
    if isinstance(label, tuple):
        return (label[0] + label[1]) / 2
    return float(label) if isinstance(label, (int, float)) and type(label) is not bool else label


def scale_of(statement: Question, row) -> float:
    """How large the numbers behind a row are: rounding is relative to them."""
    return max([1.0, *(abs(float(v)) for v in row.values if v is not None)])


def agree(ours, theirs, scale: float) -> bool:
    """Equal up to the coefficient grid."""
    if isinstance(theirs, float) and not math.isfinite(theirs):
        theirs = None  # DuckDB divides by zero to infinity or NaN
    if ours is None or theirs is None:
        return ours is None and theirs is None
    if isinstance(ours, (str, bool)) or isinstance(theirs, (str, bool)):
        return bool(ours == theirs)
    return math.isclose(float(ours), float(theirs), rel_tol=1e-6, abs_tol=1e-7 * scale)


def compare(adult: Adult, text: str) -> str | None:
    """None when both agree, else what differs."""
    statement = parse(as_asked(text), adult.domain, "adult")
    all_rows = adult.rows(statement)
    rows = statement.ranked([all_rows[place] for place in statement.places])
    places = statement.result(rows)
    expected = adult.answer(for_duckdb(text))
    keyed = len([c for c in statement.columns if c.is_key])
    ours = []
    for place in places:
        values = statement.shown(rows[place])
        labels = [shown_label(v) if c.is_key else v
                  for c, v in zip(statement.columns, values, strict=True)]  # fmt: skip
        ours.append((labels, scale_of(statement, rows[place])))
    if statement.order_by:
        pairs = list(zip(ours, expected, strict=False))
        if len(ours) != len(expected):
            return f"{len(ours)} rows, DuckDB has {len(expected)}"
    else:
        found: dict = {tuple(map(shown_label, row[:keyed])): row for row in expected}
        pairs = [(one, found.pop(tuple(one[0][:keyed]), None)) for one in ours]
        if found:
            return f"DuckDB has more keys: {list(found)[:3]}"
    return next(filter(None, (_differ(statement, one, theirs) for one, theirs in pairs)), None)


def check_all(adult: Adult, write: Callable[[], str], count: int) -> None:
    """So many generated statements, none of which may be refused, agree with DuckDB."""
    for _ in range(count):
        text = write()
        try:
            problem = compare(adult, text)
        except SqlError as error:
            pytest.fail(f"{text}\n{error}")
        assert problem is None, f"{text}\n{problem}"


def _differ(statement: Question, ours, theirs) -> str | None:
    values, scale = ours
    keyed = len([c for c in statement.columns if c.is_key])
    if theirs is None:  # a declared group without rows
        if statement.having is not None:
            return f"the group {values[:keyed]} is not in DuckDB's result"
        if any(v not in (None, 0) for v in _without_constants(statement, values)):
            return f"{values}: DuckDB has no such group"
        return None
    shown = [shown_label(v) if i < keyed else v for i, v in enumerate(theirs)]
    if all(agree(a, b, scale) for a, b in zip(values, shown, strict=True)):
        return None
    return f"{values} against {shown}"


def _without_constants(statement: Question, values):
    """The values of a group without rows, those that constants shift left out."""
    return [
        value
        for column, value in zip(statement.columns, values, strict=True)
        if not column.is_key
        and not any(isinstance(leaf, Constant) for leaf in column.formula.leaves())
    ]


@pytest.mark.parametrize("part", parts(PARTS))
def test_values_equal_those_of_duckdb(adult, part):
    """62 generated questions, 2,000 with the long ones; four in five of them are accepted."""
    refused = agreeing(adult, Writer(np.random.default_rng([1107, part])), QUESTIONS // PARTS)
    assert refused < QUESTIONS // PARTS / 4


def agreeing(adult: Adult, writer: Writes, number: int) -> int:
    """So many accepted questions agree; how many were refused meanwhile, for a known reason."""
    accepted, refused = 0, []
    while accepted < number:
        text = writer.statement()
        try:
            problem = compare(adult, text)
        except SqlError as error:
            refused.append(str(error))
            continue
        assert problem is None, f"{text}\n{problem}"
        accepted += 1
    assert [r for r in refused if not any(reason in r for reason in REASONS)] == []
    return len(refused)


@pytest.mark.parametrize("part", parts(16))
def test_functions_are_those_of_duckdb(adult, part):
    """25 generated questions, 400 with the long ones."""
    assert agreeing(adult, WordWriter(np.random.default_rng([2411, part])), 25) < 25


@pytest.mark.long
@pytest.mark.parametrize("part", range(10))
def test_functions_are_those_of_duckdb_in_thousands_of_questions(adult, part):
    """6,000 generated questions in all."""
    assert agreeing(adult, WordWriter(np.random.default_rng([2412, part])), 600) < 600


@pytest.mark.parametrize("each", [8, in_long(75)])
def test_columns_looked_at_in_stretches_have_the_same_values(adult, monkeypatch, each):
    """N = 16 or 150 generated questions, as if all columns had very many values, and a control."""
    for module in (numeric, grouping):
        monkeypatch.setattr(module, "WIDE", 0)
    agreeing(adult, Writer(np.random.default_rng(3)), each)
    agreeing(adult, WordWriter(np.random.default_rng(4)), each)
    for text in (
        "SELECT FLOOR(age / 10) * 10 AS k, COUNT(*) AS n, SUM(age) AS s FROM adult GROUP BY 1",
        "SELECT CEIL(-age / 7) AS k, SUM(ROUND(age / 3)) AS n FROM adult GROUP BY 1",
        "SELECT TRUNC((age - 40) / 6) AS k, COUNT(*) AS n FROM adult GROUP BY 1",
        "SELECT SIGN(education_num - 9) AS k, COUNT(*) AS n FROM adult GROUP BY 1",
        "SELECT SUM(FLOOR(education_num / 4)) AS n FROM adult WHERE ROUND(age / 5) = 8",
    ):
        assert compare(adult, text) is None, text
    monkeypatch.setattr(numeric, "MOST_STRETCHES", 4)
    assert compare(adult, "SELECT SUM(FLOOR(age / 5)) AS n FROM adult") is None


def test_a_function_that_falls_is_no_stretch(adult, monkeypatch):
    """Positive control: one that is wrongly said to rise is noticed."""
    text = "SELECT SUM(ABS(age - 40)) AS n FROM adult"
    monkeypatch.setattr(numeric, "WIDE", 0)
    assert compare(adult, text) is None
    wrong = functions._plain(replace(numeric.ABSOLUTE, rises=True))
    monkeypatch.setitem(functions.FUNCTIONS, exp.Abs, wrong)
    assert compare(adult, text) is not None


def test_another_rounding_is_noticed(adult, monkeypatch):
    """Positive control: with halves rounded down, the same comparison fails."""
    monkeypatch.setitem(functions.FUNCTIONS, exp.Round, functions.FUNCTIONS[exp.Floor])
    assert compare(adult, "SELECT SUM(ROUND(age / 2)) AS c FROM adult") is not None


def test_the_share_of_explained_variance_is_duckdbs(adult):
    for text in (
        "SELECT REGR_R2(hours, age) AS c FROM adult",
        "SELECT REGR_COUNT(hours, education_num) AS c, REGR_R2(age, education_num) AS d FROM adult",
        "SELECT sex, REGR_R2(age, education_num) AS c FROM adult GROUP BY sex",
    ):
        assert compare(adult, text) is None, text


def test_a_wrong_value_is_noticed(adult):
    """Positive control: the question with another constant differs."""
    text = "SELECT COUNT(*) AS c0 FROM adult WHERE age > 40"
    statement = parse(text.replace("40", "41"), adult.domain)
    (row,) = adult.rows(statement)
    ((theirs,),) = adult.answer(text)
    assert not agree(row.values[0], theirs, scale_of(statement, row))


def test_null_in_three_valued_logic_is_duckdbs(adult):
    """Every connective over every pair of conditions that can be true, false and unknown."""
    atoms = ["workclass = 'Private'", "education_num > 9", "gain >= 1", "married", "sex = 'Male'"]
    for first in atoms:
        for second in atoms:
            for form in ("{0} AND {1}", "{0} OR {1}", "NOT ({0} AND NOT {1})",
                         "({0}) <> ({1})", "NOT ({0}) OR ({1}) IS NULL"):  # fmt: skip
                text = f"SELECT COUNT(*) AS c FROM adult WHERE {form.format(first, second)}"
                if first == second and form.startswith("({0}) <>"):
                    continue
                assert compare(adult, text) is None, text


def test_exact_values_are_whole_for_counts(adult):
    statement = parse("SELECT COUNT(*) FROM adult WHERE married OR gain < 5000", adult.domain)
    assert isinstance(statement.blocks[0], Query)
    value = adult.exact(statement.blocks[0])
    assert isinstance(value, Fraction)
    assert value.denominator == 1
