"""Adaptive releases: charged first, priced step by step, and the same after a crash."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eke.data import open_source
from eke.domain import Domain, Integer
from eke.engine import (
    PARTS_ALONE,
    Beginning,
    ChoiceOption,
    Desk,
    Measuring,
    RowScoring,
    Selecting,
    Selection,
    Vault,
)
from eke.errors import BudgetExceeded, PrivacyError, ReleaseFailed
from eke.history import Measurement
from eke.ledger import Ledger
from eke.mechanism import draw, secret
from eke.planning import Facts, Plan, part_for
from eke.privacy.law import DiscreteLaplace, DiscreteLaw
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.publish.coarse import CoarseMarginal
from eke.query import count, marginal

DOMAIN = Domain(a=Integer(0, 3), b=Integer(0, 1))
ROWS = pd.DataFrame({"a": [3, 0, 2, 1, 1, 3, 0], "b": [1, 0, 0, 1, 0, 1, 0]})


@dataclass
class Two:
    """Chooses between two marginals for ε = 0.25 and measures it for as much."""

    scale: float = 4.0
    fails: type[BaseException] | None = None
    sets: tuple[tuple[str, ...], ...] = (("a",), ("b",))
    found: Measurement | None = None
    chosen: list[str] = field(default_factory=list)

    @property
    def measuring(self) -> Selecting:
        return Selecting(self.proceed, self.sets)

    def proceed(self, desk: Desk, measured: Sequence[Measurement]) -> None:
        assert len(measured) == 1
        assert desk.left == NANO // 2
        options = tuple(
            ChoiceOption(
                CoarseMarginal(DOMAIN, (n,), (np.arange(DOMAIN[n].size),)).block(),
                np.zeros(DOMAIN[n].size, np.int64),
                0,
            )
            for n in ("a", "b")
        )
        (place,) = desk.choose(Selection(options, 0, DiscreteLaplace(8, 0)))
        name = "ab"[place]
        assert desk.left == NANO // 4
        self.chosen.append(name)
        if self.fails is not None:
            raise self.fails
        self.found = desk.measure(part_for(marginal(name).on(DOMAIN), self.scale, PURE))
        assert desk.measured == (self.found,)

    def text(self, facts: Facts, measured: Sequence[Measurement], cost: int) -> str:
        assert len(measured) == 2
        return f"{measured[1].values} for {cost}"


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Vault]:
    def vault() -> Vault:
        path = tmp_path / "a.eke"
        ledger = Ledger.open(path) if path.exists() else Ledger.create(path, {}, limit=NANO)
        source = open_source(ROWS, DOMAIN)
        return Vault(ledger, source, Beginning(DOMAIN, PURE, "add_remove"))

    return vault


def plan_of(later_loss: int = NANO // 2) -> Plan:
    part = part_for(count(a=0).on(DOMAIN), 4.0, PURE)
    return Plan((part,), later_loss=later_loss)


def release(
    vault: Vault, steps: Two, plan: Plan | None = None, measuring: Measuring | None = None
) -> str:
    return vault.release(
        plan or plan_of(),
        analyst="ann",
        key="one",
        digest="same",
        answer=steps.text,
        measuring=measuring or steps.measuring,
    )


def test_steps_are_charged_to_everyone_and_kept_in_history(make):
    vault = make()
    text = release(vault, Two())
    assert text.endswith(f" for {3 * NANO // 4}")
    assert release(vault, Two()) == text  # the same key, the same answer
    other = part_for(count(a=3).on(DOMAIN), 4.0, PURE)
    vault.release(Plan((other,)), analyst="ann", key="two", digest="d", answer=lambda *_: "x")
    # a=0 and a=3 are different cells; what was chosen and measured later counts for both.
    assert vault.ledger.balance().spent == 3 * NANO // 4
    again = make()
    assert again.facts().accountant.spent == 3 * NANO // 4
    assert [len(one.values) for one in again.measurements] in ([1, 4, 1], [1, 2, 1])
    assert again.ledger.verify().intact


@pytest.mark.parametrize("again", ["the same process", "another one"])
def test_what_was_paid_for_is_completed_after_an_interruption(make, monkeypatch, again):
    draws: list[int] = []

    def counting(law: DiscreteLaw, number: int) -> np.ndarray:
        draws.append(number)
        return draw(law, number)

    monkeypatch.setattr(secret, "draw", counting)
    vault, steps = make(), Two(fails=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        release(vault, steps)
    assert vault.ledger.balance().spent == 3 * NANO // 4
    assert vault.ledger.verify().open_reservations == (2,)
    assert len(draws) == 2  # the part and the choice
    steps.fails = None
    other = vault if again == "the same process" else make()
    text = other.complete(
        analyst="ann", key="one", digest="same", answer=steps.text, measuring=steps.measuring
    )
    assert len(draws) == 3  # and what was chosen: nothing is drawn again
    assert steps.chosen[0] == steps.chosen[1]
    assert steps.found is not None
    assert text == f"{steps.found.values} for {3 * NANO // 4}"
    assert make().ledger.balance().spent == 3 * NANO // 4
    assert make().ledger.verify().intact


def test_a_failure_after_the_draw_is_final(make):
    """It may depend on what was drawn: told again, it would hand out fresh noise for nothing."""
    vault, steps = make(), Two(fails=RuntimeError)
    with pytest.raises(ReleaseFailed):
        release(vault, steps)
    steps.fails = None
    with pytest.raises(ReleaseFailed):
        release(make(), steps)
    assert steps.found is None
    assert vault.ledger.verify().open_reservations == ()
    assert vault.ledger.balance().spent == 3 * NANO // 4


def test_steps_that_come_out_otherwise_than_before_are_refused(make):
    """What is drawn belongs to its question: it cannot be passed off as the answer to another."""
    vault, steps = make(), Two(fails=KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        release(vault, steps)
    entry = vault.ledger.entries()[-1]
    assert entry.kind == "draw"

    class Other(Two):
        def proceed(self, desk: Desk, measured: Sequence[Measurement]) -> None:
            desk.measure(part_for(marginal("a").on(DOMAIN), 8.0, PURE))

    with pytest.raises(ReleaseFailed):
        release(make(), Other())


def test_a_step_dearer_than_what_is_left_is_never_drawn(make):
    steps = Two(scale=3.9)
    with pytest.raises(ReleaseFailed):
        release(make(), steps)
    assert steps.found is None


def test_over_the_limit_nothing_is_spent(make):
    vault = make()
    with pytest.raises(BudgetExceeded):
        release(vault, Two(), plan_of(NANO))
    assert vault.ledger.balance().spent == 0


def test_attribute_sets_are_named_before(make):
    steps = Two(sets=(("a",),))
    with pytest.raises(ReleaseFailed):
        release(make(), steps)
    assert steps.chosen == []


def test_a_later_loss_needs_someone_who_decides(make):
    vault = make()
    never = RowScoring(lambda *_: pytest.fail("nothing was charged for it"))
    for measuring in (PARTS_ALONE, never):
        with pytest.raises(PrivacyError, match="this plan charges later_loss"):
            release(vault, Two(), measuring=measuring)
    with pytest.raises(PrivacyError, match="Selecting spends later_loss"):
        release(vault, Two(), plan_of(0))
    assert vault.ledger.balance().spent == 0
    assert vault.ledger.verify().open_reservations == ()


def test_a_desk_that_was_kept_is_closed(make):
    """What was charged for is left over on purpose: the release is over all the same."""

    @dataclass
    class Keeper(Two):
        desk: Desk | None = None

        def proceed(self, desk: Desk, measured: Sequence[Measurement]) -> None:
            self.desk = desk

        def text(self, facts: Facts, measured: Sequence[Measurement], cost: int) -> str:
            return "done"

    keeper = Keeper()
    release(make(), keeper)
    assert keeper.desk is not None
    assert keeper.desk.left == NANO // 2
    with pytest.raises(PrivacyError, match="over"):
        keeper.desk.measure(part_for(marginal("a").on(DOMAIN), 8.0, PURE))


def test_plans_keep_their_later_loss():
    plan = plan_of()
    assert Plan.from_document(DOMAIN, plan.to_document()).later_loss == NANO // 2
    assert "later_loss" not in Plan(plan.parts).to_document()
    with pytest.raises(PrivacyError):
        plan_of(-1)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda block: ChoiceOption(block, np.zeros(3, np.int64), 0),
        lambda block: ChoiceOption(block, np.zeros(2), 0),  # type: ignore[arg-type]
        lambda block: ChoiceOption(block, np.zeros(2, np.int64), 0.5),  # type: ignore[arg-type]
        lambda block: ChoiceOption(block, np.full(2, 2**60), 0),
        lambda block: ChoiceOption(block, np.zeros(2, np.int64), 0, 0),
        lambda block: ChoiceOption(block, np.zeros(2, np.int64), 0, 2**10 + 1),
        lambda block: ChoiceOption(block, np.zeros(2, np.int64), 0, 1.5),  # type: ignore[arg-type]
        lambda _block: Selection((), 0, DiscreteLaplace(8, 0)),
        lambda block: Selection(
            (ChoiceOption(block, np.zeros(2, np.int64), 0),), 1, DiscreteLaplace(8, 0)
        ),
        lambda block: Selection(
            (ChoiceOption(block, np.zeros(2, np.int64), 0),), -2, DiscreteLaplace(8, 0)
        ),
    ],
)
def test_malformed_selections_are_refused(wrong):
    block = CoarseMarginal(DOMAIN, ("b",), (np.arange(2),)).block()
    with pytest.raises(PrivacyError):
        wrong(block)
