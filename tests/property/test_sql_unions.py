"""UNION, INTERSECT and EXCEPT leave the rows that DuckDB leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eke.question import Combination
from eke.sql import parse
from tests.parts import parts
from tests.property.test_sql_values import agree, shown_label
from tests.sql_adult import Adult
from tests.sql_unions import UnionWriter

STATEMENTS = 1500
PARTS = 50


@pytest.fixture(scope="module")
def adult() -> Adult:
    return Adult(4000)


def rows_of(adult: Adult, text: str) -> list[tuple[Any, ...]]:
    """The exact rows that eke would show, the labels of keys as DuckDB shows them."""
    question = parse(text, adult.domain, "adult")
    all_rows = adult.rows(question)
    rows = [all_rows[place] for place in question.places]
    keys = [column.is_key for column in question.columns]
    return [
        tuple(
            shown_label(value) if is_key or value is None else float(value)
            for is_key, value in zip(keys, question.shown(rows[place]), strict=True)
        )
        for place in question.result(rows)
    ]


def in_some_order(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    def rounded(value: Any) -> str:
        return f"{value:.9g}" if isinstance(value, float) else str(value)

    return sorted(rows, key=lambda row: tuple(map(rounded, row)))


def differ(adult: Adult, text: str) -> str | None:
    """None when both have the same rows, in the same order where ORDER BY says one."""
    ours = rows_of(adult, text)
    theirs = [tuple(map(shown_label, row)) for row in adult.answer(text)]
    if "ORDER BY" not in text:
        ours, theirs = in_some_order(ours), in_some_order(theirs)
    same = len(ours) == len(theirs) and all(
        agree(a, b, 1.0)
        for mine, yours in zip(ours, theirs, strict=True)
        for a, b in zip(mine, yours, strict=True)
    )
    return None if same else f"{text}\n{ours}\n{theirs}"


@pytest.mark.parametrize("part", parts(PARTS))
def test_rows_are_those_of_duckdb(adult: Adult, part: int) -> None:
    """30 generated statements, 1,500 with the long ones."""
    writer = UnionWriter(np.random.default_rng([2026, part]))
    for _ in range(STATEMENTS // PARTS):
        text = writer.statement()
        assert differ(adult, text) is None


def test_another_combination_is_noticed(adult: Adult, monkeypatch: pytest.MonkeyPatch) -> None:
    """Positive control: where EXCEPT leaves what INTERSECT leaves, the same comparison fails."""
    text = (
        "SELECT sex, COUNT(*) FROM adult GROUP BY sex EXCEPT "
        "SELECT sex, COUNT(*) FROM adult WHERE sex = 'Male' GROUP BY sex"
    )
    assert differ(adult, text) is None
    whole = Combination.rows

    def wrong(self: Combination, *given: Any) -> list[int]:
        return whole(Combination("intersect", self.all, self.left, self.right), *given)

    monkeypatch.setattr(Combination, "rows", wrong)
    assert differ(adult, text) is not None
