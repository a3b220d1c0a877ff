"""Rows keep to public facts: every kind of fact, on small tables, against obvious twins."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import eke
from eke.errors import FactError
from eke.history import Assertion
from eke.publish.row_rules import RowRules
from eke.query import Query, breaking
from eke.session.ask.question_store import QuestionStore
from eke.session.outside.statement import statement_of
from eke.session.outside.told import Told

DOMAIN = eke.Domain(
    month=eke.Integer(1, 6),
    quarter=eke.Integer(1, 2),
    age=eke.Binned([0, 10, 20, 40, 80], null="bucket"),  # has a bucket for what is missing
    town=eke.Categorical("A", "B", "C", null=eke.Replace("A"), outside=eke.Replace("A")),
)
Rows = NDArray[np.int64]


def told(question: Any, value: Any, domain: eke.Domain = DOMAIN) -> Assertion:
    return statement_of(Told(question, value), QuestionStore(domain, None), domain)


def answer(query: Query, rows: Rows, names: tuple[str, ...]) -> Fraction:
    """The obvious twin: row by row, term by term."""
    result = Fraction(0)
    for row in rows.tolist():
        for term in query.terms:
            amount = term.weight
            for name, vector in term.factors:
                amount *= int(vector[row[names.index(name)]])
            result += amount
    return result


def random_rows(seed: int, rows: int, domain: eke.Domain = DOMAIN) -> Rows:
    draw = np.random.default_rng(seed)
    return np.stack([draw.integers(0, size, rows) for size in domain.shape], axis=1)


def lawful(seed: int, rows: int) -> Rows:
    """A table in which months determine quarters, and nobody in A has no age."""
    table = random_rows(seed, rows)
    table[:, 1] = table[:, 0] // 3
    table[(table[:, 3] == 0) & (table[:, 2] == DOMAIN["age"].size - 1), 2] = 0
    return table


def counts(table: Rows, *names: str) -> list[int]:
    columns = [DOMAIN.names.index(name) for name in names]
    result = np.zeros(DOMAIN.sizes(names), np.int64)
    np.add.at(result, tuple(table[:, columns].T), 1)
    return result.reshape(-1).tolist()


KINDS: dict[str, Callable[[Rows], Assertion]] = {
    "dependency": lambda _: told(
        breaking("month", "quarter", {m: (m + 2) // 3 for m in range(1, 7)}), 0
    ),
    "part of a dependency": lambda _: told(breaking("month", "quarter", {(1, 2): 1}), 0),
    "nobody": lambda _: told(eke.count(town="A", age=None), 0),
    "bound": lambda _: told(eke.count(month=(1, 6), quarter=1, age=None, town="A"), 0),
    "everybody": lambda t: told(eke.count(quarter=[1, 2]), len(t)),
    "total": lambda t: told(eke.count(town="B"), int((t[:, 3] == 1).sum())),
    "of two": lambda t: told(
        eke.count(town="B", quarter=2), int(((t[:, 3] == 1) & (t[:, 1] == 1)).sum())
    ),
    "sum": lambda t: told(eke.total("month"), int((t[:, 0] + 1).sum())),
    "sum of some": lambda t: told(
        eke.total("month", town="C"), int((t[t[:, 3] == 2, 0] + 1).sum())
    ),
    "table": lambda t: told(eke.marginal("town"), counts(t, "town")),
    "table of two": lambda t: told(eke.marginal("quarter", "age"), counts(t, "quarter", "age")),
    "number": lambda t: told(eke.count(), len(t)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [1, 7, 60])
def test_each_kind_holds_in_all_rows(kind: str, size: int) -> None:
    """N = 12 kinds on tables of 1, 7 and 60 rows; rows begin as noise, and all of it holds."""
    table = lawful(size, size)
    fact = KINDS[kind](table)
    rules = RowRules(DOMAIN, DOMAIN.names, [fact], total=size, rows=size, most_rows=1000)
    rows = rules.kept_by(random_rows(5, size))
    assert len(rows) == size
    for query, value in zip(fact.query.queries(), fact.values, strict=True):
        assert answer(query, rows, DOMAIN.names) == value


@pytest.mark.parametrize("size", [1, 7, 60])
def test_all_kinds_hold_together(size: int) -> None:
    table = lawful(size, size)
    facts = [make(table) for make in KINDS.values()]
    rules = RowRules(DOMAIN, DOMAIN.names, facts, total=size, rows=size, most_rows=1000)
    noise = random_rows(5, size)
    rows = rules.kept_by(noise)
    for fact in facts:
        for query, value in zip(fact.query.queries(), fact.values, strict=True):
            assert answer(query, rows, DOMAIN.names) == value
    assert (rules.kept_by(noise) == rows).all()
    if size > 7:  # positive control: noise breaks them
        broken = sum(
            answer(query, noise, DOMAIN.names) != value
            for fact in facts
            for query, value in zip(fact.query.queries(), fact.values, strict=True)
        )
        assert broken > 5


def test_rows_that_keep_to_everything_stay_as_they_are() -> None:
    table = lawful(3, 40)
    facts = [make(table) for make in KINDS.values()]
    rules = RowRules(DOMAIN, DOMAIN.names, facts, total=40, rows=40, most_rows=1000)
    assert (rules.kept_by(table) == table).all()


def test_no_more_rows_change_than_have_to() -> None:
    """30 rows of noise; the twin counts how many each town has too many."""
    table = random_rows(8, 30)
    wanted = [10, 4, 16]
    rules = RowRules(
        DOMAIN,
        DOMAIN.names,
        [told(eke.marginal("town"), wanted)],
        total=30,
        rows=30,
        most_rows=30,
    )
    rows = rules.kept_by(table)
    too_many = np.maximum(np.array(counts(table, "town")) - wanted, 0).sum()
    assert (rows != table).any(axis=1).sum() == too_many
    assert (rows[:, :3] == table[:, :3]).all()  # only the town of these


SMALL = eke.Domain(a=eke.Integer(0, 1), b=eke.Integer(0, 2))
CELLS = list(product(range(2), range(3)))


@pytest.mark.parametrize("seed", range(40))
def test_what_no_rows_can_hold_is_refused_and_nothing_else(seed: int) -> None:
    """N = 40 pairs or triples of facts, true or not, of 3 rows; the twin tries every table."""
    draw = np.random.default_rng(seed)
    made = [
        told(eke.count(a=1), int(draw.integers(0, 4)), SMALL),
        told(eke.total("b"), int(draw.integers(0, 7)), SMALL),
        told(eke.count(a=0, b=(1, 2)), int(draw.integers(0, 3)), SMALL),
        told(eke.total("b", a=1), int(draw.integers(0, 5)), SMALL),
    ]
    facts = [made[place] for place in draw.permutation(4)[: draw.integers(2, 4)]]
    holding = [
        rows
        for rows in combinations_with_replacement(CELLS, 3)
        if all(
            answer(fact.query.cell(0), np.array(rows), SMALL.names) == fact.values[0]
            for fact in facts
        )
    ]
    settings: dict[str, Any] = {"total": 3, "rows": 3, "most_rows": 9}
    if not holding:
        with pytest.raises(FactError, match="Nothing was charged"):
            RowRules(SMALL, SMALL.names, facts, **settings)
        return
    start = random_rows(seed, 3, SMALL)
    rows = RowRules(SMALL, SMALL.names, facts, **settings).kept_by(start)
    assert tuple(sorted(map(tuple, rows.tolist()))) in holding


def test_columns_that_are_not_published_bind_the_others() -> None:
    """Age by sex is public, and only age is published: then so is age. Nobody has both, too."""
    domain = eke.Domain(age=eke.Integer(0, 3), sex=eke.Categorical("F", "M"))
    facts = [told(eke.marginal("age", "sex"), [1, 2, 0, 3, 4, 0, 0, 0], domain)]
    rules = RowRules(domain, ("age",), facts, total=10, rows=10, most_rows=10)
    rows = rules.kept_by(np.full((10, 1), 3))
    assert np.bincount(rows[:, 0], minlength=4).tolist() == [3, 3, 4, 0]
    nobody = [told(eke.count(age=0, sex=sex), 0, domain) for sex in ("F", "M")]
    rules = RowRules(domain, ("age",), nobody, total=None, rows=None, most_rows=10)
    assert (rules.kept_by(np.zeros((10, 1), np.int64)) > 0).all()


def test_the_number_of_rows_follows_what_is_public() -> None:
    facts = [told(eke.marginal("quarter"), [5, 7]), told(eke.count(town="A"), 3)]
    rules = RowRules(DOMAIN, DOMAIN.names, facts, total=None, rows=None, most_rows=100)
    assert [rules.rows_near(wanted) for wanted in (0, 12, 80)] == [12, 12, 12]
    assert len(rules.kept_by(random_rows(1, 0))) == 12
    assert len(rules.kept_by(random_rows(1, 30))) == 12
    more = RowRules(DOMAIN, DOMAIN.names, facts[1:], total=None, rows=None, most_rows=100)
    assert [more.rows_near(wanted) for wanted in (0, 12, 80)] == [3, 12, 80]


def test_another_number_of_rows_keeps_to_it_in_proportion() -> None:
    facts = [told(eke.count(town="A"), 300)]
    rules = RowRules(DOMAIN, DOMAIN.names, facts, total=1000, rows=10, most_rows=100)
    assert (rules.kept_by(random_rows(1, 10))[:, 3] == 0).sum() == 3
    with pytest.raises(FactError, match=r"would have to be 2\.1 in the rows"):
        RowRules(DOMAIN, DOMAIN.names, facts, total=1000, rows=7, most_rows=100)
    with pytest.raises(FactError, match="the number of records is not"):
        RowRules(DOMAIN, DOMAIN.names, facts, total=None, rows=10, most_rows=100)
    with pytest.raises(FactError, match="whole numbers of rows"):
        RowRules(DOMAIN, DOMAIN.names, facts, total=None, rows=None, most_rows=299)


def test_what_leaves_no_row_is_refused() -> None:
    facts = [told(eke.count(town=town), 0) for town in "ABC"]
    with pytest.raises(FactError, match="rule out every value of town"):
        RowRules(DOMAIN, DOMAIN.names, facts, total=None, rows=None, most_rows=9)
    assert (
        len(
            RowRules(DOMAIN, DOMAIN.names, facts, total=0, rows=0, most_rows=9).kept_by(
                random_rows(1, 0)
            )
        )
        == 0
    )


def test_too_many_sorts_are_refused() -> None:
    domain = eke.Domain(a=eke.Integer(0, 599), b=eke.Integer(0, 599))
    facts = [told(eke.moment(a=1, b=1), 12, domain)]
    with pytest.raises(FactError, match="more sorts of rows"):
        RowRules(domain, domain.names, facts, total=None, rows=None, most_rows=9)
    with pytest.raises(FactError, match="more sorts of rows"):
        RowRules(
            domain,
            domain.names,
            [told(eke.marginal("a"), [1] * 600, domain), told(eke.count(b=1), 9, domain)]
            + [told(eke.total("b", a=a), 9, domain) for a in range(9)],
            total=None,
            rows=None,
            most_rows=9,
        )
