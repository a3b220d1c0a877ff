"""Facts among requests on every surface: a table and its neighbour must look the same still.

Some of the facts are true of one of the two tables, some of the other and most of neither: whether
one is taken, what it is said to contradict, and what is answered, decided and refused afterwards
must not tell which.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import eke
from eke.engine import outside
from eke.errors import FactError
from tests.parts import parts
from tests.privacy.replay.asking import Act, pick
from tests.privacy.replay.leaks import leaking, odd
from tests.privacy.replay.neighbours import TOWNS, Neighbours, plain_neighbours
from tests.privacy.replay.play import random_history, replay
from tests.privacy.replay.world import World

PAIRS = 4
EACH = 24


def fact(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    """Something that a curator does with what is known from outside."""
    number = int(pick(rng, [len(pair.tables[0]), len(pair.tables[1]), 0, rng.integers(0, 90)]))
    town = str(pick(rng, TOWNS))
    question = pick(rng, [eke.count(), eke.count(town=town), eke.count(age=(0, 3), rich=True)])
    entry = int(rng.integers(2, 40))
    what = pick(rng, ["fact", "fact", "learn", "forget", "http"])

    def do(world: World) -> object:
        session = world.session
        if what == "fact":
            done: Any = session.add_fact(eke.Fact(question, number, "A yearbook"))
        elif what == "learn":
            noisy = eke.NoisyTable(question, number, laplace_scale=3.0)
            done = session.learn(noisy, source="An office")
        elif what == "forget":
            session.forget(entry)
            done = entry
        else:
            statement = {"sql": f"SELECT COUNT(*) FROM p WHERE age = {number % 6}", "values": [7]}
            body = {"source": "A yearbook", "statements": [statement]}
            done = world.http("POST", "/outside", "cleo", body)
        return [done, [known.to_dict() | {"at": ""} for known in session.outside]]

    return do


def with_facts(seed: int) -> tuple[Neighbours, list[Act]]:
    """Requests on all surfaces, and every third is about facts."""
    pair, acts = random_history(seed)
    rng = np.random.default_rng(seed)
    mixed: list[Act] = []
    for place, act in enumerate(acts[:EACH]):
        if place % 3 == 0:
            mixed.append(Act("fact", fact(rng, pair)))
        mixed.append(act)
    return pair, mixed


@pytest.mark.parametrize("seed", parts(PAIRS))
def test_neighbours_differ_in_nothing_whatever_is_registered(seed: int) -> None:
    """N = 1 pair of neighbours, in the long part 4, with 32 requests each, 8 of them on facts."""
    pair, acts = with_facts(91_000 + seed)
    found = replay(pair, acts, seed)
    assert found.examples == ()
    assert found.differences == 0
    assert found.by_surface["fact"] == EACH // 3


def test_a_fact_that_was_compared_with_the_table_is_caught() -> None:
    """Positive control: a refusal that looks at the number of rows."""
    pair = plain_neighbours("typed")

    def register(world: World) -> object:
        return world.session.add_fact(eke.Fact(eke.count(), len(pair.tables[0]), "A yearbook"))

    acts = [Act("fact", register)]
    assert replay(pair, acts, 3).examples == ()
    plain = outside.check_outside

    def compared(*words: Any) -> None:
        plain(*words)
        if odd():
            raise FactError("this is not so")

    with leaking(lambda patch: patch.setattr(outside, "check_outside", compared)):
        assert replay(pair, acts, 3).differences > 0


def test_answers_that_rest_on_facts_are_equal_on_both_tables() -> None:
    pair = replace(plain_neighbours("arrow"), settings={"epsilon": 20.0})

    def registered(world: World) -> object:
        return world.session.add_fact(eke.Fact(eke.count(), 60, "A yearbook"))

    acts = [
        Act("fact", registered),
        Act("query", lambda w: repr(w.session.ask(eke.count(), within=1))),
        Act("query", lambda w: w.session.ask(eke.marginal("town"), within=9).explain()),
        Act("query", lambda w: w.session.estimate(eke.count(rich=True)).explain()),
    ]
    assert replay(pair, acts, 5).examples == ()
