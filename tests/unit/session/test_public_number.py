"""A public number of rows enters every estimate and every table exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.planning import Workload
from eke.session.ask.estimate import Estimate, TableEstimate
from eke.session.release.released import release_of

ROWS = 5000
DOMAIN = eke.Domain(
    sex=eke.Categorical("Female", "Male", null=eke.Replace("Male"), outside=eke.Replace("Male")),
    age=eke.Integer(0, 29, null=eke.Replace(0)),
    city=eke.Categorical(*"abcde", null=eke.Replace("a"), outside=eke.Replace("a")),
)
WIDE = eke.Domain(
    a=eke.Integer(0, 99, null=eke.Replace(0)), b=eke.Integer(0, 99, null=eke.Replace(0))
)
New = Callable[..., eke.Session]
METHODS: tuple[Any, ...] = ("blue", "shrinkage", "max_entropy")
POSTERIORS: tuple[Any, ...] = ("exact", "chebyshev", "convolution", "monte_carlo", "product")
WORKLOADS: dict[str, Callable[[], Workload]] = {
    "one large table": lambda: eke.all_marginals(DOMAIN, 3),
    "pairs": lambda: eke.all_marginals(DOMAIN, 2),
    "up to pairs": lambda: eke.marginals_up_to(DOMAIN, 2),
    "ranges": lambda: eke.ranges(DOMAIN, "age"),
    "boxes": lambda: Workload.of(DOMAIN, [*eke.prefixes(DOMAIN, "age", "city").targets]),
    "questions": lambda: Workload.of(
        DOMAIN, [eke.count(sex="Male"), eke.count(sex="Female"), 2 * eke.count() + 1]
    ),
    "questions over many cells": lambda: Workload.of(
        WIDE, [eke.count(a=(0, 50), b=(0, 50)), eke.count(b=3), 2 * eke.count() + 1]
    ),
}
LIMITS = ({"epsilon": 4.0}, {"rho": 1.0})
# Each workload with both limits; one of the two in the short part, by turns.
CASES = [
    pytest.param(kind, limit, marks=[] if place % 2 == turn else [pytest.mark.long])
    for place, kind in enumerate(WORKLOADS)
    for turn, limit in enumerate(LIMITS)
]


def people(rows: int = ROWS) -> pd.DataFrame:
    number = np.arange(rows)
    return pd.DataFrame(
        {
            "sex": np.where(number % 3 == 0, "Female", "Male"),
            "age": number * 7 % 30,
            "city": np.array(list("abcde"))[number // 11 % 5],
        }
    )


@pytest.fixture
def public(new: New) -> New:
    """A maker of sessions with a public number of rows."""

    def make(domain: eke.Domain = DOMAIN, rows: int = ROWS, **limit: float) -> eke.Session:
        number = np.arange(rows)
        wide = pd.DataFrame({"a": number % 100, "b": number * 3 % 100})
        data = people(rows) if domain is DOMAIN else wide
        options: dict[str, Any] = limit or {"epsilon": 4.0}
        return new(data=data, domain=domain, neighbours="replace_one", **options)

    return make


def check_number(session: eke.Session, rows: int = ROWS) -> None:
    """Every method says the number of rows, exactly, and knows that it is public."""
    for method in METHODS:
        for question, answer in ((eke.count(), rows), (3 * eke.count() - 2, 3 * rows - 2)):
            found = session.estimate(question, method)
            assert isinstance(found, Estimate)
            assert (found.value, found.interval, found.within) == (answer, (answer, answer), 0.0)
            assert found.determined
            assert "public" in found.explain()
            assert found.probability(above=answer - 0.5) == 1.0
    for kind in POSTERIORS:
        assert session.history.estimate(eke.count(), kind).value == rows
    assert session.history.sources(eke.count()) == []
    asked = session.ask(eke.count(), within=1)
    assert (asked.value, asked.interval, asked.cost) == (rows, (rows, rows), 0.0)
    for told in (asked.explain(), asked._repr_html_()):
        assert f"{rows:,}" in told
    assert asked.probability(above=rows - 0.5) == 1.0


@pytest.mark.parametrize("limit", LIMITS, ids=str)
@pytest.mark.parametrize("kind", ["empty", "single answers", "table of cells", "tables"])
def test_every_method_says_the_number_of_rows(public: New, kind: str, limit: Any) -> None:
    session = public(**limit)
    if kind == "single answers":
        session.ask(eke.count(sex="Male", age=(3, 9)), within=150)
        session.ask(eke.total("age"), within=5000)
    elif kind == "table of cells":
        session.ask(eke.marginal("city"), within=150)
    elif kind == "tables":
        session.release(session.plan(eke.all_marginals(DOMAIN, 2), budget=0.02))
        session.ask(eke.count(sex="Male", age=(3, 9)), within=150)
    check_number(session)
    if kind == "empty":
        return
    for method in ("shrinkage", "max_entropy"):
        for asked in (eke.marginal("city"), eke.marginal("age", "city")):
            cells = session.estimate(asked, method)
            assert isinstance(cells, TableEstimate)
            assert sum(cell.value for cell in cells.cells) == pytest.approx(ROWS, rel=1e-9)


def test_a_table_with_one_row_or_none_has_no_other_number(public: New) -> None:
    for rows in (0, 1):
        session = public(rows=rows, epsilon=1.0)
        release = session.release(session.plan(eke.all_marginals(DOMAIN, 1), budget=0.1))
        check_number(session, rows)
        for table in release.whole().values():
            assert table.sum() == rows


@pytest.mark.parametrize(("kind", "limit"), CASES, ids=str)
def test_every_table_totals_the_number_of_rows(public: New, kind: str, limit: Any) -> None:
    workload = WORKLOADS[kind]()
    session = public(workload.domain, **limit)
    release = session.release(session.plan(workload, budget=0.02))
    again = session.archive.release(release.sequence)
    for one in (release, again):
        assert one.total == ROWS
        for table in one.tables:
            if table.question is not None:
                continue
            last = tuple(-1 if along == "prefixes" else slice(None) for along in table.along)
            cells = table.values[last]
            if "ranges" in table.along:  # from the first value to the last
                (size,) = workload.domain.sizes(table.attributes)
                cells = table.values[size - 1]
            assert np.sum(cells) == pytest.approx(ROWS, rel=1e-9)
        for table in one.tables:
            if table.attributes == ():
                asked = ROWS if table.question is None else 2 * ROWS + 1
                assert table.values == pytest.approx(asked, rel=1e-9)
                assert table.standard_error == 0.0
        if not workload.is_marginal:
            continue
        for norm in ("l2", "l1", "linf"):
            for nonnegative in (False, True):
                found = one.consistent(norm, nonnegative=nonnegative)
                for values in found.values():
                    assert values.sum() == pytest.approx(ROWS, rel=1e-9)
                    assert not nonnegative or values.min() >= 0.0
        for whole in one.whole().values():
            assert whole.sum() == ROWS
            assert whole.min() >= 0


def test_without_a_public_number_nothing_changes(new: New) -> None:
    session = new(data=people(), domain=DOMAIN, epsilon=4.0)
    release = session.release(session.plan(eke.all_marginals(DOMAIN, 2), budget=0.02))
    assert release.total is None
    found = session.estimate(eke.count())
    assert isinstance(found, Estimate)
    assert found.within is not None
    assert found.within > 1.0
    assert not found.public


def test_a_text_stored_before_has_no_number(public: New) -> None:
    session = public()
    workload = eke.all_marginals(DOMAIN, 1)
    release = session.release(session.plan(workload, budget=0.1), key="k")
    request = session._vault.ledger.find("ann", "k")
    assert request is not None
    assert request.answer is not None
    text = request.answer.replace(f'"total": {ROWS}', '"other": 0')
    assert release_of(workload, text).total is None
    assert release.total == ROWS
