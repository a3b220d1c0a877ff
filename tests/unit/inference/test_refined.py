"""Refined measurements take the place of those before; the slow twin never saw these."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.history import Measurement, lasting
from eke.inference import Inference, halfwidth, regression
from eke.inference.joint import Joint
from eke.privacy.law import DiscreteLaplace
from eke.privacy.refinement import Earlier
from eke.query import Block, Query, count, marginal
from tests.parts import in_long

DOMAIN = Domain(a=Integer(0, 4), b=Integer(0, 2))
ASKED = [
    count().on(DOMAIN),
    count(a=(1, 3)).on(DOMAIN),
    count(a=2, b=(0, 1)).on(DOMAIN),
    count(b=1).on(DOMAIN),
    marginal("b").on(DOMAIN),
    marginal("a").on(DOMAIN),
]


def random_history(seed: int) -> list[Measurement]:
    """Ten measurements; about half of them refine one that was not refined before."""
    rng = np.random.default_rng(seed)
    history: list[Measurement] = []
    for _ in range(10):
        open_ones = [
            (place, one)
            for place, one in enumerate(history)
            if place not in {later.refines.place for later in history if later.refines}
        ]
        if open_ones and rng.random() < 0.5:
            place, one = open_ones[int(rng.integers(len(open_ones)))]
            assert isinstance(one.law, DiscreteLaplace)
            law = DiscreteLaplace(int(one.law.steps * rng.uniform(0.3, 0.95)), -10)
            refines, before, query = Earlier(place, one.law.steps), one.values, one.query
        else:
            law = DiscreteLaplace(int(rng.integers(2**14, 2**16)), -10)
            refines, before, query = None, (), ASKED[int(rng.integers(len(ASKED)))]
        values = tuple(float(v) for v in rng.integers(0, 1000, query.cells))
        history.append(
            Measurement(query, law, values, len(history), refines=refines, before=before)
        )
    return history


def cells() -> list[Query]:
    return [query for block in ASKED for query in block.queries()]


@pytest.mark.parametrize("number", [12, in_long(60)])
def test_what_was_refined_says_nothing_more(number: int) -> None:
    """Values, errors and weights as if the coarser answers had never been."""
    refined = known = 0
    for seed in range(number):
        history = random_history(seed)
        one, twin = Inference(DOMAIN, history), Inference(DOMAIN, lasting(history))
        refined += len(history) - len(lasting(history))
        for query in cells():
            mine, theirs = one.linear(query), twin.linear(query)
            assert (mine is None) == (theirs is None)
            if mine is None or theirs is None:
                continue
            known += 1
            assert mine[0] == pytest.approx(theirs[0], rel=1e-7, abs=1e-6)
            assert halfwidth(mine[1], 0.9) == pytest.approx(halfwidth(theirs[1], 0.9), rel=1e-7)
            weights = one.weights(query)
            assert weights is not None
            gone = {it.refines.place for it in history if it.refines}
            assert all(abs(weights[place]) < 1e-9 for place in gone)
    assert refined > 2.5 * number
    assert known > 8 * number


def test_forgetting_that_noises_are_one_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The positive control: y₁ and what refined it, taken for two independent noises."""
    history = random_history(3)
    query = history[0].query
    twin = Inference(DOMAIN, lasting(history))
    monkeypatch.setattr(Inference, "_as_drawn", lambda _, estimate: estimate)
    wrong = Inference(DOMAIN, history)
    differing = 0
    for cell in query.queries():
        mine, theirs = wrong.linear(cell), twin.linear(cell)
        if mine is None or theirs is None:
            continue
        differing += abs(halfwidth(mine[1], 0.9) / halfwidth(theirs[1], 0.9) - 1) > 1e-3
    assert differing


def covariance(inference: Inference, asked: list[Query]) -> np.ndarray:
    joint = Joint.of(inference, asked)
    assert joint is not None
    variances = 2.0 * joint.laplace_scales**2 + joint.gaussian_variances
    return np.asarray((joint.weights * variances * joint.counts) @ joint.weights.T)


@pytest.mark.parametrize("number", [4, in_long(10)])
def test_several_questions_at_once_have_the_same_joint_noise(number: int) -> None:
    for seed in range(number):
        history = random_history(seed)
        one, twin = Inference(DOMAIN, history), Inference(DOMAIN, lasting(history))
        asked = [query for query in cells() if one.linear(query) is not None][:5]
        mine, theirs = covariance(one, asked), covariance(twin, asked)
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("number", [4, in_long(10)])
def test_a_history_is_taken_up_where_it_was_left(number: int) -> None:
    for seed in range(number):
        history = random_history(seed)
        whole = Inference(DOMAIN, history)
        parts = whole.parts()
        assert parts is not None
        rows = [row for one in history for row in one.rows()]
        again = Inference.from_parts(DOMAIN, parts, partial(list, rows))
        for query in cells():
            mine, theirs = again.linear(query), whole.linear(query)
            assert (mine is None) == (theirs is None)
            if mine is not None and theirs is not None:
                assert mine[0] == theirs[0]
                assert halfwidth(mine[1], 0.9) == halfwidth(theirs[1], 0.9)


def test_documents_tell_what_was_refined() -> None:
    for one in random_history(1):
        again = Measurement.from_document(DOMAIN, one.to_document())
        assert (again.refines, again.before, again.law) == (one.refines, one.before, one.law)


@pytest.mark.parametrize("number", [6, in_long(20)])
def test_the_papers_methods_take_the_last_answers(number: int) -> None:
    for seed in range(number):
        history = random_history(seed)
        one, twin = Inference(DOMAIN, history), Inference(DOMAIN, lasting(history))
        mine, theirs = one.lasting_rows(), list(twin.rows)
        assert len(mine) == len(theirs)
        assert Counter((row.query, row.law) for row in mine) == Counter(
            (row.query, row.law) for row in theirs
        )
        assert sorted(row.value for row in mine) == pytest.approx(
            sorted(row.value for row in theirs)
        )


NESTED = [count(), count(a=(0, 3)), count(a=4), count(b=(0, 1)), count(b=2)]


def singles(seed: int, *, shift: int | None = None) -> list[Measurement]:
    """A history of sums and their parts; the value of one of them may be one more."""
    history: list[Measurement] = []
    rng = np.random.default_rng(seed)
    for place, one in enumerate(random_history(seed)):
        query: Block = NESTED[int(rng.integers(len(NESTED)))].on(DOMAIN)
        before: tuple[float, ...] = ()
        if one.refines is not None:
            query, before = history[one.refines.place].query, history[one.refines.place].values
        values = (one.values[0] + (place == shift),)
        history.append(replace(one, query=query, values=values, before=before))
    return history


def covariances(history: list[Measurement]) -> np.ndarray:
    """Of the noises: those of a chain have that of the finer one in common."""
    roots: list[int] = []
    for place, one in enumerate(history):
        roots.append(place if one.refines is None else roots[one.refines.place])
    variances = np.array([one.law.variance for one in history])
    same = np.equal.outer(roots, roots)
    return np.where(same, np.minimum.outer(variances, variances), 0.0)


@pytest.mark.parametrize("resolution", [in_long(regression.RESOLUTION), in_long(0.3), 0.6])
@pytest.mark.parametrize("seeds", [range(33, 39), in_long(range(40))])
def test_errors_are_never_told_too_small(
    monkeypatch: pytest.MonkeyPatch, resolution: float, seeds: range
) -> None:
    """Where a row is set aside, and what refines it is not, something of the coarser noise is left.

    The estimate is linear in the values, so that its true variance follows from each of them.
    """
    monkeypatch.setattr(regression, "RESOLUTION", resolution)
    larger = 0
    for seed in seeds:
        history = singles(seed)
        known = Inference(DOMAIN, history)
        places = range(len(history))
        shifted = [Inference(DOMAIN, singles(seed, shift=place)) for place in places]
        for query in {one.query.cell(0) for one in history}:
            mine = known.linear(query)
            if mine is None:
                continue
            moved = [other.linear(query) for other in shifted]
            weights = np.array([one[0] - mine[0] for one in moved if one is not None])
            true = float(weights @ covariances(history) @ weights)
            assert mine[1].variance >= true * (1 - 1e-6)
            larger += mine[1].variance > true * (1 + 1e-6)
    assert (larger > 0) == (resolution > 0.1)
