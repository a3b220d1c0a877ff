"""Averages, ratios and variances in Python are the questions that SQL asks with other words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import QueryError
from eke.question import Question, formula_from_document, formula_question
from eke.sql import parse

DOMAIN = eke.Domain(
    sex=eke.Categorical("F", "M"),
    age=eke.Integer(0, 40, outside="drop"),
    hours=eke.Binned([0, 20, 40, 80], outside="bucket"),
)
PAIRS: list[tuple[Any, str]] = [
    (eke.mean("age"), "SELECT AVG(age) FROM t"),
    (eke.mean("age", sex="F"), "SELECT AVG(age) FROM t WHERE sex = 'F'"),
    (eke.mean("hours"), "SELECT AVG(hours) FROM t"),
    (eke.mean("age").by("sex"), "SELECT sex, AVG(age) FROM t GROUP BY sex"),
    (eke.marginal("sex", of=eke.mean("age")), "SELECT sex, AVG(age) FROM t GROUP BY sex"),
    (eke.variance("age"), "SELECT VARIANCE(age) FROM t"),
    (eke.deviation("hours"), "SELECT STDDEV(hours) FROM t"),
    (
        eke.ratio(eke.count(sex="F"), eke.count()),
        "SELECT COUNT(*) FILTER (WHERE sex = 'F') / COUNT(*) FROM t",
    ),
    (
        eke.root(eke.count() * eke.mean("age")),
        "SELECT SQRT(COUNT(*) * AVG(age)) FROM t",
    ),
]


@pytest.mark.parametrize(("expression", "text"), PAIRS)
def test_python_and_sql_ask_the_same(expression: Any, text: str) -> None:
    ours, theirs = expression.on(DOMAIN), parse(text, DOMAIN)
    assert set(ours.blocks) == set(theirs.blocks)
    places = [theirs.blocks.index(block) for block in ours.blocks]
    values = np.random.default_rng(3).uniform(1, 9, len(ours.blocks)).tolist()
    moved = [values[places.index(place)] for place in range(len(places))]
    assert ours.columns[-1].formula.value(values) == pytest.approx(
        theirs.columns[-1].formula.value(moved)
    )
    assert ours.keys() == theirs.keys()


@pytest.fixture
def session(tmp_path: Path) -> eke.Session:
    rng = np.random.default_rng(5)
    rows = pd.DataFrame(
        {
            "sex": rng.choice(["F", "M"], 5000),
            "age": rng.integers(0, 41, 5000),
            "hours": rng.uniform(0, 90, 5000),
        }
    )
    return eke.create(tmp_path / "x.eke", rows, DOMAIN, epsilon=20.0)


def test_what_one_language_paid_for_is_free_in_the_other(session: eke.Session) -> None:
    paid = session.ask(eke.mean("age").by("sex"), within=0.5)
    again = session.ask("SELECT sex, AVG(age) FROM t GROUP BY sex", within=0.5)
    assert not paid.free
    assert again.free
    assert again.values == pytest.approx(paid.values)
    assert paid.flat_columns == ["sex", "value", "low", "high"]
    assert session.preview(eke.variance("age"), within=200).affordable


def test_a_key_holds_for_the_same_formula_only(session: eke.Session) -> None:
    first = session.ask(eke.mean("age"), within=1, key="k")
    assert session.ask(eke.mean("age"), within=1, key="k").value == first.value
    with pytest.raises(eke.EkeError, match="key"):
        session.ask(eke.mean("age", sex="F"), within=1, key="k")


def test_the_wire_form_of_a_formula_is_the_formula() -> None:
    for expression, _ in PAIRS:
        asked = expression.on(DOMAIN)
        form = asked.identity["query"]
        queries = [eke.query.Query.from_document(DOMAIN, one) for one in form["of"]]
        formula = formula_from_document(form["formula"], len(queries))
        again = formula_question(DOMAIN, formula, queries, form["by"])
        assert isinstance(again, Question)
        assert again == asked


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"answer": 1},
        {"answer": -1},
        {"answer": True, "more": 1},
        {"constant": "1e999999999"},
        {"constant": "1/0"},
        {"constant": 5},
        {"root": 3},
        {"sign": "^", "of": [{"answer": 0}, {"answer": 0}]},
        {"sign": "+", "of": [{"answer": 0}]},
        "count",
    ],
)
def test_bad_formulas_are_refused(document: object) -> None:
    with pytest.raises(QueryError):
        formula_from_document(document, 1)


def test_deep_formulas_are_refused() -> None:
    deep: dict[str, object] = {"answer": 0}
    for _ in range(5000):
        deep = {"root": deep}
    with pytest.raises(QueryError, match="40 levels"):
        formula_from_document(deep, 1)


def test_mistakes_are_told_in_words() -> None:
    with pytest.raises(QueryError, match=r"eke\.ratio"):
        eke.count() / eke.count()  # type: ignore[operator]
    with pytest.raises(QueryError, match="no attribute 'agee'"):
        eke.mean("agee").on(DOMAIN)
    with pytest.raises(QueryError, match="same attributes"):
        eke.mean("age").by("sex") - eke.mean("age").by("hours")
    with pytest.raises(QueryError, match="no numbers"):
        eke.mean("sex").on(DOMAIN)
    with pytest.raises(QueryError, match="whatever the data"):
        eke.ratio(eke.count(), eke.constant(3)).on(DOMAIN)


def test_formulas_of_too_many_parts_are_refused() -> None:
    many = eke.mean("age")
    for _ in range(8):
        many = many + many
    with pytest.raises(QueryError, match="1 to 64 questions"):
        many.on(DOMAIN)
    wide: dict[str, object] = {"answer": 0}
    for _ in range(9):
        wide = {"sign": "+", "of": [wide, wide]}
    formula, query = formula_from_document(wide, 1), eke.count().on(DOMAIN)
    with pytest.raises(QueryError, match="at most 256"):
        formula_question(DOMAIN, formula, [query])
