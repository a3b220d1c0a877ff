"""Views share what only grows, and nothing that happens to either side shows at the other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.history import Measurement
from eke.inference import Inference, packed
from eke.inference.packed import PackedFactor
from eke.privacy.law import Laplace
from eke.query import Query, count, marginal, total
from tests.parts import in_long

DOMAIN = Domain(a=Integer(0, 11), b=Integer(0, 30))


def measured(number: int) -> Measurement:
    """The n-th of many: ranges that overlap, some of them dependent, and a table now and then."""
    draw = np.random.default_rng(number)
    noise = Laplace(float(draw.integers(1, 9)))
    if number % 17 == 16:
        values = tuple(draw.normal(size=372) * 5.0)
        return Measurement(marginal("a", "b").on(DOMAIN), noise, values, sequence=number)
    low, high = sorted(draw.integers(0, 12, 2).tolist())
    query = (total("b", a=(low, high)) if number % 3 else count(a=(low, high))).on(DOMAIN)
    return Measurement(query, noise, (float(draw.normal()),), sequence=number)


def beliefs(inference: Inference, queries: Sequence[Query]) -> list[tuple[float, float] | None]:
    found = [inference.estimate(query) for query in queries]
    return [None if one is None else (one.value, float(np.abs(one.weights).sum())) for one in found]


ASKED = [count(a=(low, low + 3)).on(DOMAIN) for low in range(8)]
ASKED += [total("b", a=low).on(DOMAIN) for low in range(12)]


@pytest.mark.parametrize("tables", [False, True], ids=["single answers", "tables too"])
@pytest.mark.parametrize("length", [36, in_long(60)])
def test_neither_side_sees_what_becomes_of_the_other(tables: bool, length: int) -> None:
    numbers = [n for n in range(length) if tables or n % 17 != 16]
    history = [measured(n) for n in numbers]
    growing = Inference(DOMAIN)
    views: list[tuple[int, Inference, list[tuple[float, float] | None]]] = []
    for place, one in enumerate(history):
        growing.extend(one)
        if place % 7 == 3:
            view = growing.view()
            views.append((place + 1, view, beliefs(view, ASKED)))
            planner = view.view()  # somebody plans on top of it, and in another direction
            for other in (measured(1000 + place), measured(2000 + place)):
                planner.extend(other)
            apart = Inference(DOMAIN, [*history[: place + 1], *(measured(1000 + place),)])
            apart.extend(measured(2000 + place))
            assert_same(beliefs(planner, ASKED), beliefs(apart, ASKED))
    assert_same(beliefs(growing, ASKED), beliefs(Inference(DOMAIN, history), ASKED))
    for first, view, before in views:
        assert len(view.rows) == len(Inference(DOMAIN, history[:first]).rows)
        assert beliefs(view, ASKED) == before
        assert_same(before, beliefs(Inference(DOMAIN, history[:first]), ASKED))


def assert_same(
    found: list[tuple[float, float] | None], wanted: list[tuple[float, float] | None]
) -> None:
    assert [one is None for one in found] == [one is None for one in wanted]
    known = [(a, b) for a, b in zip(found, wanted, strict=True) if a is not None and b is not None]
    np.testing.assert_allclose([a for a, _ in known], [b for _, b in known], rtol=1e-6, atol=1e-9)


def test_a_factor_that_is_updated_leaves_its_view_alone() -> None:
    factor = PackedFactor()
    factor.append(np.empty(0), 2.0)
    factor.append(np.array([1.0]), 3.0)
    view, right = factor.view(), np.array([1.0, 1.0])
    before = view.solve(right)
    factor.update(np.array([5.0, 1.0]))
    factor.append(np.array([1.0, 1.0]), 1.0)
    np.testing.assert_array_equal(view.solve(right), before)
    changed = view.view()
    changed.update(np.array([7.0, 2.0]))
    np.testing.assert_array_equal(view.solve(right), before)


def test_the_check_catches_a_view_that_shares_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    """The control: without the copy before an update, the view would change."""
    monkeypatch.setattr(packed, "SMALL", 0)  # what is small is replaced as a whole
    monkeypatch.setattr(packed.Band, "copy", lambda band: band)
    factor = PackedFactor()
    factor.append(np.empty(0), 2.0)
    view, right = factor.view(), np.array([1.0])
    before = view.solve(right)
    factor.update(np.array([5.0]))
    view._bands[0]._inverted = 0  # worked out from what it holds now
    assert view.solve(right) != before
