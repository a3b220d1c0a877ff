"""What an answer is made of: the weights of the measurements behind it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import eke
from tests.unit.session.conftest import make_people


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


WIDE = eke.Domain(
    sex=eke.Categorical("Female", "Male"),
    age=eke.Integer(17, 26),
    number=eke.Integer(0, 19),
)


def wide(new: Callable[..., eke.Session]) -> eke.Session:
    """A dataset whose table of all cells is kept whole."""
    rows = make_people().assign(number=lambda people: people["person"] % 20)
    return new(data=rows, domain=WIDE, epsilon=10.0)


def test_a_release_that_is_kept_as_tables_has_its_weight(new: Callable[..., eke.Session]) -> None:
    session = wide(new)
    assert session.history.sources(eke.count()) == []
    session.release(session.plan([eke.marginal("sex", "age", "number")], budget=1.0))
    ((block, weight),) = session.history.sources(2 * eke.count(sex="Male"))
    assert block == session.history[0]
    assert weight == pytest.approx(2.0)
    value = 2 * sum(v for v, (s, _, _) in zip(block.values, _cells(), strict=True) if s == 1)
    assert session.history.estimate(2 * eke.count(sex="Male")).value == pytest.approx(value)


def test_tables_and_single_answers_share_an_estimate(new: Callable[..., eke.Session]) -> None:
    """The weights that are told make the estimate, whatever is kept in which way."""
    session = wide(new)
    session.ask(eke.count(sex="Male"), within=60)
    session.release(session.plan([eke.marginal("sex", "age", "number")], budget=0.3))
    session.ask(eke.count(), within=30)
    question = eke.count(sex="Male")
    made_of = session.history.sources(question)
    assert [m.sequence for m, _ in made_of] == [m.sequence for m in session.history]
    # Of the cells of the table, those of Male count alike, and those of Female too.
    inference = session._vault.facts().inference
    estimate = inference.estimate(question.on(WIDE))
    assert estimate is not None
    pairs = zip(estimate.rows, estimate.weights, strict=True)
    single = sum(weight * inference.rows[row].value for row, weight in pairs)
    (cells,) = estimate.cells
    table = np.array(session.history[1].values).reshape(2, -1).sum(axis=1)
    assert single + float(cells.weights @ table) == pytest.approx(
        session.history.estimate(question).value
    )
    told = {m.sequence: w for m, w in made_of}
    largest = cells.weights[np.argmax(np.abs(cells.weights))]
    assert told[session.history[1].sequence] == pytest.approx(largest)


def _cells() -> list[tuple[int, ...]]:
    return list(np.ndindex(*WIDE.shape))
