"""What was found out about the latest query, against finding it out each time anew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.history import Row
from eke.inference import regression as regression_module
from eke.inference.latest import Latest
from eke.inference.regression import LinearEstimate, Regression
from eke.inference.span import ExactSpan
from eke.privacy.law import Laplace
from eke.query import Query, count, total

DOMAIN = Domain(a=Integer(0, 11), b=Integer(0, 30))


def some_query(draw: np.random.Generator) -> Query:
    """Ranges that overlap, of few kinds, so that many are in the span of others, or the same."""
    low, high = sorted(draw.integers(0, 12, 2).tolist())
    if draw.random() < 0.1:
        return (count(a=(low, high)) - count(a=(low, high))).on(DOMAIN)  # nothing
    return (total("b", a=(low, high)) if draw.random() < 0.3 else count(a=(low, high))).on(DOMAIN)


def forgetful(regression: Regression) -> Regression:
    """The slow twin: it finds everything out each time."""
    regression._latest = Latest()
    return regression


def same(one: LinearEstimate | None, other: LinearEstimate | None) -> bool:
    if one is None or other is None:
        return one is other
    same_parts = np.array_equal(one.weights, other.weights) and np.array_equal(one.rows, other.rows)
    return one.value == other.value and same_parts


def test_estimates_are_the_same_to_the_last_digit() -> None:
    """N = 10 histories, looked up, appended and looked up again; views go ways of their own."""
    draw = np.random.default_rng(1)
    known = 0
    for _ in range(10):
        fast, slow = Regression(DOMAIN), Regression(DOMAIN)
        views: list[tuple[Regression, Regression]] = []
        for step in range(30):
            query = some_query(draw)
            row = Row(query, float(draw.normal()), Laplace(float(draw.integers(1, 9))))
            if draw.random() < 0.5:
                assert same(fast.estimate(query), forgetful(slow).estimate(query))
            for seen, anew in views:
                assert same(seen.estimate(query), forgetful(anew).estimate(query))
                if draw.random() < 0.3:
                    seen.append(row)
                    forgetful(anew).append(row)
            if step % 9 == 3:
                views.append((fast.view(), slow.view()))
            if draw.random() < 0.7:
                fast.append(row)
                forgetful(slow).append(row)
            found = fast.estimate(query)
            known += found is not None
            assert same(found, forgetful(slow).estimate(query))
        asked = [some_query(draw) for _ in range(6)]
        anew = Regression.from_parts(DOMAIN, fast.laws, fast.parts(), fast.aside)
        assert all(same(fast.estimate(one), anew.estimate(one)) for one in asked)
    assert known > 120


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often a query is located, and its norm worked out."""
    seen = {"located": 0, "norms": 0}

    def watched(name: str, work: Callable[..., object]) -> Callable[..., object]:
        def doing(*given: object) -> object:
            seen[name] += 1
            return work(*given)

        return doing

    monkeypatch.setattr(ExactSpan, "locate", watched("located", ExactSpan.locate))
    norm_of = watched("norms", regression_module.norm_of)
    monkeypatch.setattr(regression_module, "norm_of", norm_of)
    return seen


def test_a_question_is_located_once_until_it_is_answered(counted: dict[str, int]) -> None:
    """It is looked up on a view, appended where history is written, and answered on another."""
    writer = Regression(DOMAIN)
    for low in range(5):
        writer.append(Row(count(a=(low, low + 2)).on(DOMAIN), 1.0, Laplace(1.0)))
    reader = writer.view()
    counted.update(located=0, norms=0)
    query, again = count(b=(3, 9)).on(DOMAIN), count(b=(3, 9)).on(DOMAIN)
    assert reader.estimate(query) is None
    writer.append(Row(again, 7.0, Laplace(1.0)))
    found = writer.view().estimate(query)
    assert found is not None
    assert found.rows.tolist() == [5]
    assert counted == {"located": 1, "norms": 1}
    assert reader.estimate(query) is None, "the view does not see it"
