"""Guarded claims among requests on every surface: a table and its neighbour must look the same.

Claims are guarded and lifted by turns, about numbers that differ between the two tables: whether
one is closed, what it is said to be, and what is declined for its sake must not tell which.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import eke
from eke.engine import guarding
from tests.parts import parts
from tests.privacy.replay.asking import Act, pick
from tests.privacy.replay.leaks import leaking, odd
from tests.privacy.replay.neighbours import TOWNS, Neighbours, plain_neighbours
from tests.privacy.replay.play import random_history, replay
from tests.privacy.replay.world import World

PAIRS = 6
EACH = 24


def guarded(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    """Something that a curator does about guarded claims, and what everybody sees of them."""
    number = int(pick(rng, [len(pair.tables[0]), len(pair.tables[1]), 0, rng.integers(0, 90)]))
    question = pick(rng, [eke.count(), eke.count(town=str(pick(rng, TOWNS))), eke.count(rich=True)])
    claim = str(pick(rng, [f"> {number}", f"<= {number}", f"{number - 5} to {number + 5}"]))
    threshold = float(pick(rng, [0.02, 0.3, 0.9]))
    entry = int(rng.integers(2, 40))
    what = pick(rng, ["guard", "guard", "ask", "lift", "http"])

    def do(world: World) -> object:
        session = world.session
        if what == "guard":
            done: Any = session.guard(question, claim, threshold=threshold)
        elif what == "ask":
            done = repr(session.ask(question, within=float(number % 7 + 1)))
        elif what == "lift":
            session.lift(entry)
            done = entry
        else:
            body = {"sql": "SELECT COUNT(*) FROM p", "claim": claim, "threshold": threshold}
            done = world.http("POST", "/guards", "cleo", body)
        listed = [state.to_dict() | {"at": ""} for state in session.guards]
        return [done, listed, session.preview(question, within=2).explain()]

    return do


def with_guards(seed: int) -> tuple[Neighbours, list[Act]]:
    """Requests on all surfaces, and every second is about guarded claims."""
    pair, acts = random_history(seed)
    rng = np.random.default_rng(seed)
    mixed: list[Act] = []
    for place, act in enumerate(acts[:EACH]):
        if place % 2 == 0:
            mixed.append(Act("guard", guarded(rng, pair)))
        mixed.append(act)
    return pair, mixed


@pytest.mark.parametrize("seed", parts(PAIRS))
def test_neighbours_differ_in_nothing_whatever_is_guarded(seed: int) -> None:
    """N = 1 pair of neighbours, in the long part 6, with 36 requests each, 12 on guards."""
    pair, acts = with_guards(57_000 + seed)
    seen = replay(pair, acts, seed)
    assert seen.examples == ()
    assert seen.differences == 0
    assert seen.by_surface["guard"] == EACH // 2


def declined(world: World) -> object:
    """A question that a closed claim declines, after one that closed it."""
    session = world.session
    session.guard(eke.count(), "> 5", threshold=0.5)
    session.ask(eke.count(), within=20)
    return [session.guards[0].closed, session.preview(eke.count(), within=1).explain()]


def test_a_decision_that_peeks_at_the_table_is_caught() -> None:
    """Positive control: a claim is closed by the number of rows."""
    pair = plain_neighbours("typed")
    acts = [Act("guard", declined)]
    assert replay(pair, acts, 3).examples == ()
    plain = guarding.is_closed

    def peeking(*words: Any) -> bool:
        return plain(*words) and odd()

    with leaking(lambda patch: patch.setattr(guarding, "is_closed", peeking)):
        assert replay(pair, acts, 3).differences > 0
