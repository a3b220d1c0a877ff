"""Tables that are kept whole and refined: as if only the finer ones had ever been there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.history import Measurement, lasting
from eke.inference import ComposedNoise, Inference, halfwidth, state
from eke.inference.joint import Joint
from eke.inference.tables import ReleasedTables
from eke.planning import Part, Requirement
from eke.planning.online.facts import known_errors
from eke.planning.online.refine import Refinable, refining_part
from eke.planning.online.rent import offered_after
from eke.privacy.law import DiscreteLaplace
from eke.privacy.refinement import Earlier
from eke.query import Block, Kronecker, Query, count, marginal
from tests.parts import in_long

DOMAIN = Domain(a=Integer(0, 4), b=Integer(0, 2), c=Integer(0, 3))
CONTRASTS = 5 * np.eye(5, dtype=np.int64) - 1
BLOCKS: list[Block] = [
    marginal("a", "b").on(DOMAIN),
    marginal("b", "c").on(DOMAIN),
    marginal("c").on(DOMAIN),
    Kronecker(DOMAIN, ("a",), (CONTRASTS,)),
    Kronecker(DOMAIN, ("a", "c"), (CONTRASTS, np.eye(4, dtype=np.int64))),
]
SINGLES = [count().on(DOMAIN), count(a=(1, 3)).on(DOMAIN), count(a=2, b=(0, 1)).on(DOMAIN)]


@pytest.fixture(autouse=True)
def kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state, "LEAST_CELLS", 0)


def random_history(seed: int) -> list[Measurement]:
    """Twelve measurements; about half of them refine one that was not refined before."""
    rng = np.random.default_rng(seed)
    history: list[Measurement] = []
    for _ in range(12):
        gone = {later.refines.place for later in history if later.refines}
        open_ones = [(place, one) for place, one in enumerate(history) if place not in gone]
        if open_ones and rng.random() < 0.5:
            place, one = open_ones[int(rng.integers(len(open_ones)))]
            assert isinstance(one.law, DiscreteLaplace)
            law = DiscreteLaplace(int(one.law.steps * rng.uniform(0.3, 0.95)), -10)
            refines, before, query = Earlier(place, one.law.steps), one.values, one.query
        else:
            law = DiscreteLaplace(int(rng.integers(2**14, 2**16)), -10)
            asked: list[Block] = BLOCKS if rng.random() < 0.7 else [*SINGLES]
            refines, before, query = None, (), asked[int(rng.integers(len(asked)))]
        values = tuple(float(v) for v in rng.integers(0, 1000, query.cells))
        history.append(
            Measurement(query, law, values, len(history), refines=refines, before=before)
        )
    return history


def cells() -> list[Query]:
    """Of each table the first cell, one in the middle and the last; and single questions."""
    places = [(block, {0, block.cells // 2, block.cells - 1}) for block in BLOCKS[:3]]
    return [block.cell(place) for block, some in places for place in sorted(some)] + SINGLES


def moments(noise: ComposedNoise) -> list[float]:
    """What tells laws apart, and is quick: Σ w, Σ w² and Σ w⁴ over all Laplace scales w."""
    counts = 1.0 if noise.counts is None else noise.counts
    return [float((counts * noise.laplace_scales**power).sum()) for power in (1, 2, 4)]


def differences(history: list[Measurement]) -> tuple[int, int]:
    """How many questions are known, and of how many the law or value is not the twin's."""
    one, twin = Inference(DOMAIN, history), Inference(DOMAIN, lasting(history))
    known = wrong = 0
    for query in cells():
        mine, theirs = one.linear(query), twin.linear(query)
        assert (mine is None) == (theirs is None)
        if mine is None or theirs is None:
            continue
        known += 1
        same = mine[0] == pytest.approx(theirs[0], rel=1e-7, abs=1e-6)
        wrong += not (same and moments(mine[1]) == pytest.approx(moments(theirs[1]), rel=1e-7))
    return known, wrong


@pytest.mark.parametrize("number", [8, in_long(60)])
def test_what_was_refined_says_nothing_more(number: int) -> None:
    """The slow twin never saw the coarser tables; values and errors of cells and questions."""
    refined = known = 0
    for seed in range(number):
        history = random_history(seed)
        refined += sum(
            one.refines is not None and not one.query.is_single and one.query.cells > 1
            for one in history
        )
        found = differences(history)
        known += found[0]
        assert found[1] == 0
    assert refined > 2 * number
    assert known > 4 * number


def test_forgetting_that_noises_are_one_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The positive control: a finer table beside the coarser one, as if it were independent."""
    monkeypatch.setattr(ReleasedTables, "refine", lambda self, _, one: self.append(one))
    assert sum(differences(random_history(seed))[1] for seed in range(4)) > 4


def test_whole_tables_weights_and_joint_noise() -> None:
    seen = 0
    for seed in range(8):
        history = random_history(seed)
        one, twin = Inference(DOMAIN, history), Inference(DOMAIN, lasting(history))
        gone = {it.refines.place for it in history if it.refines}
        for block in BLOCKS[:3]:
            mine, theirs = one.table(block), twin.table(block)
            assert (mine is None) == (theirs is None)
            if mine is None or theirs is None:
                continue
            np.testing.assert_allclose(mine.values, theirs.values, rtol=1e-7, atol=1e-6)
            weights = one.weights(block.cell(0))
            assert weights is not None
            assert len(weights) == len(history)
            assert all(abs(weights[place]) < 1e-9 for place in gone)
            pair = [block.cell(0), block.cell(1)]
            joint = [Joint.of(inference, pair) for inference in (one, twin)]
            covariances = [
                (it.weights * (2.0 * it.laplace_scales**2 * it.counts)) @ it.weights.T
                for it in joint
                if it is not None
            ]
            np.testing.assert_allclose(covariances[0], covariances[1], rtol=1e-6, atol=1e-6)
            seen += 1
    assert seen > 8


def test_a_view_does_not_see_a_later_refinement() -> None:
    block = BLOCKS[0]
    law, zeros = DiscreteLaplace(2**16, -10), (5.0,) * block.cells
    inference = Inference(DOMAIN, [Measurement(block, law, zeros)])
    before = inference.view()
    finer = DiscreteLaplace(2**15, -10)
    inference.extend(Measurement(block, finer, zeros, 1, refines=Earlier(0, 2**16), before=zeros))
    widths = []
    for known in (before, inference):
        estimate = known.linear(block.cell(3))
        assert estimate is not None
        widths.append(halfwidth(estimate[1], 0.9))
    assert widths[1] == pytest.approx(widths[0] / 2, rel=1e-4)
    assert (before.kept[0].table, inference.kept[0].table) == (0, None)


def test_only_a_refinement_takes_the_place_of_a_table() -> None:
    block = BLOCKS[0]
    one = Measurement(block, DiscreteLaplace(2**16, -10), (5.0,) * block.cells)
    tables = ReleasedTables(DOMAIN)
    tables.append(one)
    with pytest.raises(TypeError, match="refines"):
        tables.refine(0, one)


# --- how much less noise suffices ----------------------------------------------------------------


def planned(history: list[Measurement], place: int, share: float) -> tuple[Any, Inference, Block]:
    """The part that narrows the widest cell to a share of what it is, with what it rests on."""
    inference = Inference(DOMAIN, history)
    query, law = history[place].query, history[place].law
    assert isinstance(law, DiscreteLaplace)
    known = [noise for noise in known_errors(query, inference) if noise is not None]
    widest = max(halfwidth(noise, 0.95) for noise in known)
    wanted = Requirement(share * widest, 0.95)
    return refining_part(query, wanted, Refinable(place, law), inference), inference, query


def test_the_part_that_refines_a_table_suffices() -> None:
    """Tried out on what is known; half as much refinement would not have done."""
    tried = 0
    for seed in range(12):
        history = random_history(seed)
        gone = {it.refines.place for it in history if it.refines}
        for place, one in enumerate(history):
            if place in gone or one.query.cells != 4:  # the smallest, over one column
                continue
            part, inference, query = planned(history, place, 0.8)
            known = known_errors(query, inference)
            if part is None:
                continue
            assert isinstance(part, Part)
            widest = max(halfwidth(noise, 0.95) for noise in known if noise is not None)
            assert offered_after(part, 0.95, inference) <= 0.8 * widest * (1 + 1e-9)
            tried += 1
    assert tried > 10


def test_a_table_by_itself_is_refined_to_just_what_is_asked() -> None:
    block = BLOCKS[1]
    law = DiscreteLaplace(2**20, -17)
    history = [Measurement(block, law, (3.0,) * block.cells)]
    for share in (0.9, 0.5, 0.1):
        part, inference, _ = planned(history, 0, share)
        noise = known_errors(block, inference)[0]
        assert noise is not None
        wanted = share * halfwidth(noise, 0.95)
        assert offered_after(part, 0.95, inference) == pytest.approx(wanted, rel=1e-4)
        assert offered_after(part, 0.95, inference) <= wanted
