"""Measuring: the three that there are, a fourth from outside, and some that want more than paid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eke.data import open_source
from eke.domain import Domain, Integer, Replace
from eke.engine import (
    PARTS_ALONE,
    Beginning,
    ChoiceOption,
    Desk,
    Measuring,
    RowScores,
    RowScoring,
    Selecting,
    Selection,
    Vault,
)
from eke.engine.measuring import FlatLoss, check_losses
from eke.errors import PrivacyError, ReleaseFailed
from eke.history import Measurement
from eke.inference.progress import Stopped, stoppable
from eke.ledger import Ledger
from eke.mechanism import secret
from eke.planning import Facts, Part, Plan, part_for
from eke.privacy.law import DiscreteLaplace
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Kronecker, Neighbours, count, marginal

DOMAIN = Domain(a=Integer(0, 3, null=Replace(0)), b=Integer(0, 1, null=Replace(0)))
ROWS = pd.DataFrame({"a": [3, 0, 2, 1, 1, 3, 0], "b": [1, 0, 0, 1, 0, 1, 0]})
BOTH: AbstractSet[FlatLoss] = frozenset({"row_loss", "later_loss"})
LATER: AbstractSet[FlatLoss] = frozenset({"later_loss"})


def part_of(name: str, scale: float = 8.0) -> Part:
    return part_for(marginal(name).on(DOMAIN), scale, PURE)


def scores() -> RowScores:
    table = np.arange(4, dtype=np.int64)[:, np.newaxis]
    return RowScores((("a", table),), np.array([[2]], np.int64), 0)


def choice(scale: int = 16) -> Selection:
    block = Kronecker(DOMAIN, ("b",), (np.eye(2, dtype=np.int64),))
    return Selection((ChoiceOption(block, np.zeros(2, np.int64), 0),), 0, DiscreteLaplace(scale, 0))


@dataclass
class Fourth:
    """Neither of the three: some marginals again under replace_one, and then scores of rows."""

    parts: tuple[Part, ...] = (part_of("a"), part_of("b"))
    attribute_sets: tuple[tuple[str, ...], ...] = (("a",), ("b",))
    spends: AbstractSet[FlatLoss] = BOTH
    received: list[int] = field(default_factory=list)
    left: int = -1

    def proceed(self, desk: Desk, measured: Sequence[Measurement]) -> None:
        assert [one.query for one in measured] == [count(a=0).on(DOMAIN)]
        for part in self.parts:
            self.received += map(round, desk.measure(part).values)
        self.left = desk.left
        if "row_loss" in self.spends:
            steps, law = desk.score_rows(scores())
            self.received += [round(step * law.step) for step in steps]


class Sampler:
    """Draws no noise, and counts how often it is asked for some."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, _law: object, number: int) -> np.ndarray:
        self.calls += 1
        return np.zeros(number, np.int64)


@pytest.fixture
def sampler(monkeypatch: pytest.MonkeyPatch) -> Sampler:
    found = Sampler()
    monkeypatch.setattr(secret, "draw", found)
    return found


@pytest.fixture
def make(folder: Path) -> Callable[..., Vault]:
    def vault(neighbours: Neighbours = "replace_one") -> Vault:
        path = folder / "a.eke"
        ledger = Ledger.open(path) if path.exists() else Ledger.create(path, {}, limit=4 * NANO)
        source = open_source(ROWS, DOMAIN)
        return Vault(ledger, source, Beginning(DOMAIN, PURE, neighbours))

    return vault


def plan_of(row_loss: int = NANO // 4, later_loss: int = NANO // 2) -> Plan:
    # Replaced records move the marginals by 2: at a scale of 8 each of them costs a quarter.
    return Plan((part_for(count(a=0).on(DOMAIN), 4.0, PURE),), row_loss, later_loss)


def text_of(_: Facts, measured: Sequence[Measurement], cost: int) -> str:
    return f"{len(measured)} for {cost}"


def release(vault: Vault, plan: Plan, measuring: Measuring, **options) -> str:
    return vault.release(
        plan,
        analyst="ann",
        key="one",
        digest="same",
        answer=text_of,
        measuring=measuring,
        **options,
    )


# -- a fourth, from outside -----------------------------------------------------------------------


def test_a_fourth_needs_nothing_of_the_vault(make, sampler):
    vault, fourth = make(), Fourth()
    told: list[tuple[str, float]] = []
    text = release(vault, plan_of(), fourth, progress=lambda *one: told.append(one))
    assert text == f"3 for {NANO}"  # a quarter each for the part, both marginals and the rows
    assert fourth.received == [2, 2, 1, 2, 4, 3, *(2 * code for code in ROWS["a"])]
    assert fourth.left == 0
    assert sampler.calls == 4
    assert told == [("measuring", 0.5), ("measuring", 1.0), ("measuring", 1.0)]
    assert vault.ledger.balance().spent == NANO
    assert [entry.kind for entry in vault.ledger.entries()] == [
        *("genesis", "reserve", "draw", "draw", "draw", "draw", "commit"),
    ]
    assert release(vault, plan_of(), Fourth()) == text
    assert sampler.calls == 4
    again = make()
    assert again.facts().accountant.spent == NANO
    assert len(again.measurements) == 3
    assert again.ledger.verify().intact


def test_a_fourth_that_was_interrupted_goes_on_by_its_key(make, sampler):
    vault = make()

    def stop(_: str, done: float) -> None:
        raise RuntimeError(done)

    with pytest.raises(Stopped):
        release(vault, plan_of(), Fourth(), progress=stoppable(stop))
    assert sampler.calls == 2
    again, fourth = make(), Fourth()
    text = again.complete(analyst="ann", key="one", digest="same", answer=text_of, measuring=fourth)
    assert text == f"3 for {NANO}"
    assert sampler.calls == 4
    assert fourth.left == 0


@pytest.mark.parametrize(
    ("plan", "spends", "charged"),
    [
        (plan_of(0, NANO), BOTH, "later_loss"),
        (plan_of(NANO, 0), BOTH, "row_loss"),
        (plan_of(0, 0), BOTH, "nothing"),
        (plan_of(0, 0), LATER, "nothing"),
        (plan_of(1, 1), LATER, "later_loss and row_loss"),
        (plan_of(0, 1), frozenset(), "later_loss"),
        (plan_of(1, 0), LATER, "row_loss"),
    ],
)
def test_what_is_spent_and_not_charged_is_refused_before_the_charge(
    make, sampler, plan, spends, charged
):
    """The other way round, too: nobody could spend what is charged."""
    vault, fourth = make(), Fourth(spends=spends)
    with pytest.raises(PrivacyError, match=f"this plan charges {charged}, and measuring=Fourth"):
        release(vault, plan, fourth)
    assert sampler.calls == 0
    assert fourth.received == []
    assert [entry.kind for entry in vault.ledger.entries()] == ["genesis"]


def test_rows_in_order_are_refused_before_the_charge(make, sampler):
    vault = make("add_remove")
    with pytest.raises(PrivacyError, match="replace_one"):
        release(vault, plan_of(), Fourth())
    assert sampler.calls == 0
    assert [entry.kind for entry in vault.ledger.entries()] == ["genesis"]


@dataclass
class Greedy(Fourth):
    """Takes one step more than it declared, and goes on as if it had not been told off."""

    step: Callable[[Desk], object] = lambda desk: desk.score_rows(scores())
    spends: AbstractSet[FlatLoss] = LATER
    caught: str = ""
    stubborn: bool = False

    def proceed(self, desk: Desk, measured: Sequence[Measurement]) -> None:
        try:
            self.received.append(self.step(desk))  # type: ignore[arg-type]
        except PrivacyError as problem:
            self.caught = str(problem)
            if not self.stubborn:
                raise


STEPS: dict[str, tuple[AbstractSet[FlatLoss], Callable[[Desk], object], str]] = {
    "a nano-unit too little": (LATER, lambda desk: desk.measure(part_of("a", 7.999)), "costs more"),
    "a dear choice": (LATER, lambda desk: desk.choose(choice(15)), "costs more"),
    "another kind": (LATER, lambda desk: desk.score_rows(scores()), "row_loss"),
    "another kind still": (frozenset({"row_loss"}), lambda desk: desk.choose(choice()), "costs mo"),
    "free of charge": (frozenset(), lambda desk: desk.measure(part_of("a", 2.0**40)), "costs more"),
    "rows for nothing": (frozenset(), lambda desk: desk.score_rows(scores()), "row_loss"),
    "not named": (LATER, lambda desk: desk.measure(part_of("a", 99.0)), "names all"),
}


@pytest.mark.parametrize("stubborn", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_more_than_was_declared_is_never_drawn(make, sampler, name, stubborn):
    """Whatever it makes of the refusal: the part is drawn, which was charged, and nothing else."""
    spends, step, refusal = STEPS[name]
    quarters = dict.fromkeys(spends, NANO // 4)
    sets = (("b",),) if name == "not named" else (("a",), ("b",))
    greedy = Greedy(step=step, spends=spends, stubborn=stubborn, attribute_sets=sets)
    vault = make()
    plan = plan_of(quarters.get("row_loss", 0), quarters.get("later_loss", 0))
    if stubborn:
        assert release(vault, plan, greedy).startswith("1 for ")
    else:
        with pytest.raises(ReleaseFailed):
            release(vault, plan, greedy)
    assert refusal in greedy.caught
    assert greedy.received == []
    assert sampler.calls == 1
    assert len(vault.measurements) == 1
    kinds = [entry.kind for entry in vault.ledger.entries()]
    assert kinds == ["genesis", "reserve", "draw", "commit"]
    assert vault.ledger.balance().spent == NANO // 4 * (1 + len(spends))


@pytest.mark.parametrize(
    "step",
    [
        lambda desk: desk.measure(part_of("a", 8.0)),
        lambda desk: desk.choose(choice(16)),
        lambda desk: desk.measure(part_of("b", 99.0)),
    ],
)
def test_what_was_declared_is_drawn(make, sampler, step):
    """Positive control: the same steps, a little cheaper, are given."""
    greedy = Greedy(step=step)
    assert release(make(), plan_of(0, NANO // 4), greedy).endswith(f" for {NANO // 2}")
    assert greedy.caught == ""
    assert len(greedy.received) == 1
    assert sampler.calls == 2


def test_a_change_of_mind_buys_nothing(make, sampler):
    """What is declared after the charge is of no interest: the desk goes by the plan."""

    class Fickle(Greedy):
        def proceed(self, desk: Desk, measured: Sequence[Measurement]) -> None:
            self.spends, self.attribute_sets = BOTH, (("a", "b"),)
            super().proceed(desk, measured)

    vault = make()
    steps = [
        lambda desk: desk.score_rows(scores()),
        lambda desk: desk.measure(part_for(marginal("a", "b").on(DOMAIN), 99.0, PURE)),
    ]
    for key, step in enumerate(steps):
        fickle = Fickle(step=step)
        with pytest.raises(ReleaseFailed):
            vault.release(
                plan_of(0, NANO // 4),
                analyst="ann",
                key=str(key),
                digest="same",
                answer=text_of,
                measuring=fickle,
            )
        assert fickle.received == []
    assert sampler.calls == len(steps)  # the plans' own parts


# -- the three that there are ---------------------------------------------------------------------


def _never(*_: object) -> None:
    raise AssertionError


THREE: dict[str, tuple[Measuring, AbstractSet[FlatLoss]]] = {
    "parts alone": (PARTS_ALONE, frozenset()),
    "row scores": (RowScoring(_never), frozenset({"row_loss"})),
    "selection": (Selecting(_never, (("a",),)), frozenset({"later_loss"})),
}


@pytest.mark.parametrize("row_loss", [0, 1])
@pytest.mark.parametrize("later_loss", [0, 1])
@pytest.mark.parametrize("name", THREE)
def test_each_spends_its_own_loss_and_no_other(name, row_loss, later_loss):
    measuring, spends = THREE[name]
    plan = plan_of(row_loss, later_loss)
    charged = {name for name, loss in (("row_loss", row_loss), ("later_loss", later_loss)) if loss}
    assert measuring.spends == spends
    if charged == spends:
        check_losses(plan, measuring)
    else:
        with pytest.raises(PrivacyError, match="that it was made for"):
            check_losses(plan, measuring)


def test_the_stored_plan_says_what_is_spent(make, sampler):
    """A key that holds another plan than the one at hand is not measured by what that one wants."""
    vault = make()

    def stop(_: str, done: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(vault, plan_of(), Fourth(), progress=stop)
    assert sampler.calls == 2
    with pytest.raises(PrivacyError, match="this plan charges later_loss and row_loss"):
        release(make(), plan_of(0, 0), PARTS_ALONE)
    assert vault.ledger.verify().open_reservations == (2,)
    assert release(make(), plan_of(), Fourth()) == f"3 for {NANO}"
    assert sampler.calls == 4


def test_parts_alone_have_no_desk_to_speak_of(make, sampler):
    vault = make()
    told: list[tuple[str, float]] = []
    found = vault.release(
        plan_of(0, 0),
        analyst="ann",
        key="one",
        digest="same",
        answer=text_of,
        progress=lambda *one: told.append(one),
    )
    assert found == f"1 for {NANO // 4}"
    assert PARTS_ALONE.attribute_sets == ()
    assert sampler.calls == 1
    assert told == []


def test_those_who_score_rows_get_nothing_else(make, sampler):
    """Not the desk, but the one step that their loss pays for."""
    got: list[object] = []

    def decide(score_rows: object, measured: Sequence[Measurement]) -> None:
        got.extend([score_rows, *measured])

    release(make(), plan_of(NANO // 4, 0), RowScoring(decide))
    assert getattr(got[0], "__func__", None) is Desk.score_rows
    assert [type(one) for one in got[1:]] == [Measurement]
    assert sampler.calls == 1
