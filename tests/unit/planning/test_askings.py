"""Where a question was measured: looked up, against a look at every measurement."""

from __future__ import annotations

import random

import eke
from eke.history import Measurement
from eke.planning import Askings, refinable_among
from eke.privacy.law import DiscreteLaplace
from eke.query import Block

DOMAIN = eke.Domain(a=eke.Integer(0, 5), b=eke.Integer(0, 3))
QUESTIONS: list[Block] = [
    eke.count().on(DOMAIN),
    eke.count(a=(1, 4)).on(DOMAIN),
    (2 * eke.count(a=(1, 4))).on(DOMAIN),
    eke.count(a=(1, 4), b=2).on(DOMAIN),
    eke.marginal("a").on(DOMAIN),
    eke.marginal("b").on(DOMAIN),
    eke.marginal("a", where={"b": 1}).on(DOMAIN),
]


def measured(question: Block, steps: int) -> Measurement:
    return Measurement(question, DiscreteLaplace(steps, -12), (1.0,) * question.cells)


def test_what_is_looked_up_is_what_a_look_at_all_of_them_finds() -> None:
    """N = 60 histories; views of different lengths share what is looked up."""
    draw = random.Random(1)
    found = 0
    for _ in range(60):
        history = [measured(draw.choice(QUESTIONS), draw.randint(2000, 9000)) for _ in range(12)]
        askings = Askings()
        for _ in range(20):
            seen = history[: draw.randint(0, len(history))]
            refined = {place for place in range(len(seen)) if draw.random() < 0.3}
            question = draw.choice(QUESTIONS)
            slow = refinable_among(question, seen, refined)
            assert refinable_among(question, seen, refined, askings.places(question, seen)) == slow
            found += slow is not None
    assert found > 300


def test_questions_with_one_mark_are_still_told_apart() -> None:
    """Blocks of as many numbers about the same columns are looked at one by one."""
    part = eke.marginal("a", where={"b": 1}).on(DOMAIN)
    other = eke.marginal("a", where={"b": 2}).on(DOMAIN)
    history = [measured(part, 4000), measured(other, 4000)]
    places = Askings().places(other, history)
    assert list(places) == [0, 1]
    found = refinable_among(other, history, set(), places)
    assert found is not None
    assert found.place == 1
