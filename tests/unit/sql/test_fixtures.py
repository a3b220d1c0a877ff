"""Table-driven cases: a question in SQL, and below it what it means or why it is refused.

-- is count(sex="Male")       one column, equal to that question written in Python
-- = n: {count by sex}        the columns as text, aggregates in braces, keys in angles
-- ! 1:34: hours < 37 cuts    refused with a message that contains this
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from eke.errors import SqlError
from eke.query import Query, constant, count, moment, table, total
from eke.question import Aggregate
from eke.sql import parse
from tests.sql_adult import WORKCLASSES
from tests.sql_public import dated_domain
from tests.sql_text import statement_text

FOLDER = Path(__file__).resolve().parents[2] / "fixtures" / "sql"
DOMAIN = dated_domain()
NAMES = {
    "count": count,
    "total": total,
    "moment": moment,
    "table": table,
    "constant": constant,
    "WORKCLASSES": WORKCLASSES,
}


class Case(NamedTuple):
    place: str
    text: str
    kind: str
    expected: str


def cases() -> list[Case]:
    found = []
    for path in sorted(FOLDER.glob("*.sql")):
        line = 1
        for block in path.read_text("utf-8").split("\n\n"):
            *text, expected = block.strip("\n").split("\n")
            mark, kind, rest = expected.split(" ", 2)
            assert mark == "--", f"{path.name}:{line}"
            assert kind in ("is", "=", "!"), f"{path.name}:{line}"
            found.append(Case(f"{path.name}:{line}", "\n".join(text), kind, rest))
            line += block.count("\n") + 2
    return found


CASES = cases()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.place)
def test_case(case):
    if case.kind == "!":
        with pytest.raises(SqlError) as refusal:
            parse(case.text, DOMAIN, "adult")
        assert case.expected in str(refusal.value)
        assert str(refusal.value).startswith(f"{refusal.value.line}:{refusal.value.column}: ")
        return
    statement = parse(case.text, DOMAIN, "adult")
    if case.kind == "=":
        assert statement_text(statement) == case.expected
        return
    question = eval(case.expected, dict(NAMES))  # the repository's own fixtures
    (asked,) = statement.blocks
    assert isinstance(asked, Query)
    assert asked == question.on(DOMAIN)
    assert [column.formula for column in statement.columns] == [Aggregate(0)]


def test_there_are_enough_cases():
    assert len(CASES) >= 1_000
    assert len({case.text for case in CASES}) == len(CASES)
    assert sum(case.kind == "!" for case in CASES) >= 100
