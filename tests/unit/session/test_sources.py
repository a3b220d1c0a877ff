"""What an answer is made of: the weights of the measurements behind it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import eke


def test_the_weights_make_the_estimate(new: Callable[..., eke.Session]) -> None:
    session = new(epsilon=10.0)
    session.ask(eke.count(sex="Female"), within=20)
    session.ask(eke.count(sex="Male"), within=10)
    session.ask(eke.count(), within=15)
    session.ask(eke.count(age=(17, 20)), within=15)
    for question in (eke.count(), eke.count(sex="Female"), 2 * eke.count(sex="Male") - 7):
        made_of = session.history.sources(question)
        assert {m.sequence for m, _ in made_of} == {m.sequence for m in session.history[:3]}
        total = sum(weight * m.values[0] for m, weight in made_of)
        shift = float(question.on(session.domain).constant)
        assert total + shift == pytest.approx(session.history.estimate(question).value)


def test_a_block_counts_with_its_largest_weight(new: Callable[..., eke.Session]) -> None:
    session = new(epsilon=10.0)
    session.ask(eke.marginal("sex"), within=20)
    question = 3 * eke.count(sex="Female") + eke.count(sex="Male")
    ((block, weight),) = session.history.sources(question)
    assert block == session.history[0]
    assert weight == pytest.approx(3.0)


def test_nothing_is_behind_what_history_does_not_determine(
    new: Callable[..., eke.Session],
) -> None:
    session = new(epsilon=10.0)
    assert session.history.sources(eke.count()) == []
    session.ask(eke.count(sex="Female"), within=20)
    assert session.history.sources(eke.count()) == []
    assert session.history.sources(eke.constant(5)) == []
