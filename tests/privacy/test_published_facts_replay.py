"""Publications with facts: neighbouring tables differ in nothing but what noise hides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import eke
from eke.publish.row_rules import RowRules
from tests.privacy.replay.asking import Act
from tests.privacy.replay.leaks import leaking, odd
from tests.privacy.replay.neighbours import Neighbours, plain_neighbours
from tests.privacy.replay.play import replay
from tests.privacy.replay.world import World


def acts_of(pair: Neighbours, number: int) -> list[Act]:
    """Facts, true or not, and rows that keep to them or are refused."""

    def registered(question: Any, value: int) -> Act:
        fact = eke.Fact(question, value, "A yearbook")
        return Act("fact", lambda w: w.session.add_fact(fact))

    def publish(**options: Any) -> Act:
        def made(world: World) -> object:
            rows = world.session.publish("max_entropy", epsilon=0.3, key="k", **options)
            return [rows.codes.tolist(), dict(rows.receipt), world.session.budget.spent]

        return Act("query", made)

    return [
        registered(eke.count(age=(0, 2), rich=True), 0),
        registered(eke.count(), number),
        publish(),
        registered(eke.count(rich=True), number + 1),
        publish(),
        publish(rows=7),
    ]


@pytest.mark.parametrize("which", [0, 1])
def test_neighbours_publish_alike_under_facts(which: int) -> None:
    """N = 2 numbers, one true of either table; 6 requests each, of which 3 publish."""
    pair = replace(plain_neighbours("typed"), settings={"epsilon": 20.0})
    result = replay(pair, acts_of(pair, len(pair.tables[which])), 4)
    assert result.examples == ()
    assert result.differences == 0


def test_rows_that_keep_to_the_table_are_caught() -> None:
    """Positive control: as many rows as there are records, though another number is public."""
    pair = replace(plain_neighbours("typed"), settings={"epsilon": 20.0})
    acts = acts_of(pair, 60)[:3]
    plain = RowRules.kept_by

    def told(rules: RowRules, codes: Any) -> Any:
        return plain(rules, codes)[: -1 if odd() else None]

    with leaking(lambda patch: patch.setattr(RowRules, "kept_by", told)):
        assert replay(pair, acts, 3).differences > 0
