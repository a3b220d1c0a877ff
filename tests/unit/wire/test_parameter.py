"""What stands for a parameter when a statement is described: a value that meets its condition."""

from __future__ import annotations

import pytest

import eke
from eke.wire.kind import BOOL, DATE, FLOAT8, INT8, TEXT
from eke.wire.parameter import Typical, parameters_of
from eke.wire.portal import one_statement
from eke.wire.table import ServedTable

DOMAIN = eke.Domain(
    age=eke.Integer(18, 27),
    hours=eke.Numeric(0.0, 2.0, step=0.5),
    sex=eke.Categorical("Female", "Male"),
    born=eke.Date("2001-12-30", "2002-01-02"),
    member=eke.Boolean(),
).with_lookups(eke.Lookup("schools", ["sex"], {"sex": ["Female", "Male"], "size": [None, 4]}))
CONDITIONS = (
    *("age < $1", "age <= $1", "age > $1", "age >= $1", "age = $1", "age <> $1", "age != $1"),
    *("$1 < age", "$1 <= age", "$1 > age", "$1 >= age", "$1 = age", "NOT age = $1"),
    *("age BETWEEN $1 AND $2", "age > $1 AND age < $2", "age >= $1 AND age < $2"),
    *("age = $1 AND age <> $2", "age = $1 AND age > $2", "age = $1 AND age <= $2"),
    *("age IN ($1, $2, $3)", "age NOT IN ($1, $2)", "hours < $1 AND sex = $2 AND born > $3"),
    *("born BETWEEN $1 AND $2", "sex <> $1", "sex = $1", "member = $1", "size >= $1"),
)


@pytest.fixture(scope="module")
def table() -> ServedTable:
    return ServedTable("people", DOMAIN)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_a_condition_with_parameters_is_met_by_some_value(
    table: ServedTable, condition: str
) -> None:
    """Else the statement could not be described: what no record meets is refused."""
    join = " JOIN schools USING (sex)" if "size" in condition else ""
    text = f"SELECT COUNT(*) FROM people{join} WHERE {condition}"
    statement = one_statement(text)
    for number, parameter in enumerate(parameters_of(statement, (), table.columns), start=1):
        text = text.replace(f"${number}", parameter.example)
    assert table.questions.read(text).columns[0].name == "COUNT(*)"


def test_the_first_and_the_last_value_of_a_column(table: ServedTable) -> None:
    assert table.columns["age"] == Typical(INT8, "23", "18", "27")
    assert table.columns["hours"] == Typical(FLOAT8, "1", "0", "2")
    assert table.columns["sex"] == Typical(TEXT, "'Male'", "'Female'", "'Male'")
    assert table.columns["member"] == Typical(BOOL, "TRUE", "FALSE", "TRUE")
    assert table.columns["size"] == Typical(INT8, "4", "4", "4")
    assert table.columns["born"].kind == DATE
    assert table.columns["born"].last == "DATE '2002-01-02'"


def test_a_column_without_a_first_value_has_its_example() -> None:
    typical = Typical(INT8, "5")
    assert [typical.meeting([word]) for word in ("<", ">", "=")] == ["5", "5", "5"]
