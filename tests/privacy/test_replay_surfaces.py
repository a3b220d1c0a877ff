"""Replay over every surface: the same requests to a table and its neighbour, everything compared.

The comparison is in `tests/privacy/replay/play.py`, and `make audit` carries out 10,000 triples of
it. Here are fewer, and the proof that it sees: for every surface a leak that it must catch, and on
the same requests without the leak nothing.
"""

from __future__ import annotations

import pytest

import eke
from tests.parts import among
from tests.privacy.replay.asking import Act
from tests.privacy.replay.leaks import LEAKS, leaking
from tests.privacy.replay.neighbours import plain_neighbours
from tests.privacy.replay.play import SURFACES, replay, replay_triples


@pytest.mark.parametrize(
    ("triples", "seed"), [(80, 39), pytest.param(160, 3, marks=pytest.mark.long)]
)
def test_neighbouring_tables_differ_in_nothing_on_any_surface(triples, seed):
    """N = 80 or 160 triples of table, neighbour and request, all surfaces: 0 differences."""
    found = replay_triples(triples, seed=seed)
    assert found.examples == ()
    assert (found.triples, found.differences) == (triples, 0)
    assert set(found.by_surface) == set(SURFACES)
    # Everything that can happen did happen.
    for kind in ("Refused", "KeyConflict", "SqlError", "BudgetExceeded"):
        assert found.kinds[kind] >= 1, kind
    for kind in ("reserve", "draw", "commit", "remember"):
        assert found.kinds[f"entry: {kind}"] >= 4, kind


FIRST = {control.surface: name for name, control in reversed(LEAKS.items())}


@pytest.mark.parametrize("name", among(LEAKS, FIRST.values()))
def test_a_leak_is_caught(name):
    """Positive control: one request, equal on both tables, and different once the leak is open.

    One leak of each surface; the second and third of some are in the long part.
    """
    control = LEAKS[name]
    pair = plain_neighbours("parquet" if control.surface in ("command", "export") else "typed")
    acts = [Act("query", lambda w: repr(w.session.ask(eke.count(), 50.0)))]
    acts += [Act(control.surface, control.do)]
    assert replay(pair, acts, 3).examples == ()
    with leaking(control.leak):
        found = replay(pair, acts, 3)
    assert found.differences > 0


def test_every_surface_has_a_leak_that_is_caught():
    assert {control.surface for control in LEAKS.values()} == set(SURFACES)


def test_random_histories_catch_a_leak():
    """Positive control, N = 40 triples: a refusal that depends on the number of rows."""
    with leaking(LEAKS["a refusal quotes the data"].leak):
        assert replay_triples(40, seed=7).differences > 0
