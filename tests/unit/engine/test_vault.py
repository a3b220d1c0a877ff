"""The junction: charge first, touch the data, store, and only then let anything out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eke.data import Counts, Holdings, Rows, open_source
from eke.domain import Domain, Integer
from eke.engine import Beginning, Stale, Vault, draws, measuring
from eke.errors import BudgetExceeded, DataError, KeyConflict, ReleaseFailed
from eke.history import Measurement
from eke.ledger import Ledger
from eke.planning import Facts, Plan, part_for
from eke.privacy.accountant import Accountant
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import count
from tests.unit.engine.test_draws import Metronome

DOMAIN = Domain(a=Integer(0, 3))
ROWS = pd.DataFrame({"a": np.arange(40) % 4})


class Watched:
    """A source that writes down what the ledger held whenever it was asked to count."""

    def __init__(self, ledger: Ledger) -> None:
        self._source = open_source(ROWS, DOMAIN)
        self._ledger = ledger
        self.seen: list[list[str]] = []
        self.fails = False

    def load(self, attribute_sets: Sequence[tuple[str, ...]] = ()) -> object:
        return self._source.load(attribute_sets)

    def covering(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
        return self._source.covering(attribute_sets)

    def counts(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[Counts]:
        self.seen.append([entry.kind for entry in self._ledger.entries()])
        if self.fails:
            raise DataError("the disk is gone")
        return self._source.counts(attribute_sets)

    def load_people(self) -> None:
        self._source.load_people()

    def holdings(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[Holdings]:
        return self._source.holdings(attribute_sets)

    def rows(self) -> Rows:
        self.seen.append([entry.kind for entry in self._ledger.entries()])
        return self._source.rows()

    def reference(self) -> dict[str, object]:
        return self._source.reference()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as folder:
        yield Ledger.create(Path(folder) / "a.eke", {}, limit=NANO)


@pytest.fixture
def source(ledger: Ledger) -> Watched:
    return Watched(ledger)


def open_vault(ledger: Ledger, source: Watched) -> Vault:
    return Vault(ledger, source, Beginning(DOMAIN, PURE, "add_remove"))


@pytest.fixture
def protected(ledger: Ledger, source: Watched) -> Vault:
    return open_vault(ledger, source)


def plan_of(epsilon: float = 0.25) -> Plan:
    return Plan((part_for(count(a=(0, 2)).on(DOMAIN), 1 / epsilon, PURE),))


def text_of(_facts: Facts, released: Sequence[Measurement], cost: int) -> str:
    return f"{released[0].values[0]} for {cost}"


def release(protected: Vault, plan: Plan | None = None, key: str = "one", **options) -> str:
    settings = {"analyst": "ann", "key": key, "digest": "same", "answer": text_of, **options}
    return protected.release(plan or plan_of(), **settings)


def test_the_charge_is_durable_before_the_data_is_touched(protected, source, ledger):
    text = release(protected)
    assert source.seen == [["genesis", "reserve"]]
    assert [entry.kind for entry in ledger.entries()] == ["genesis", "reserve", "draw", "commit"]
    assert ledger.balance().spent == NANO // 4
    request = ledger.find("ann", "one")
    assert request is not None
    assert request.answer == text
    (measurement,) = protected.measurements
    assert text == f"{measurement.values[0]} for {NANO // 4}"
    assert measurement.analyst == "ann"
    assert measurement.sequence == 4


def test_the_price_is_computed_here_whatever_the_planner_says(protected, ledger, monkeypatch):
    """A plan has no price of its own, and a planner's accountant is not used."""
    monkeypatch.setattr(Accountant, "price", lambda *_: 0)
    release(protected)
    assert ledger.balance().spent >= NANO // 4


def test_over_the_limit_nothing_happens(protected, source, ledger):
    before = ledger.entries()
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        release(protected, plan_of(1.25))
    assert ledger.entries() == before
    assert source.seen == []
    for number in range(4):
        release(protected, key=str(number))
    assert ledger.balance().spent == NANO
    with pytest.raises(BudgetExceeded):
        release(protected, plan_of(1e-6), key="more")


def test_a_key_of_another_request_releases_nothing(protected, ledger):
    """The stored answer is told to who asks the same again, and to nobody else."""
    release(protected, digest="this")
    before = ledger.entries()
    with pytest.raises(KeyConflict):
        release(protected, digest="that")
    assert ledger.entries() == before


def test_nothing_is_refunded_when_the_data_fails(protected, source, ledger):
    source.fails = True
    with pytest.raises(DataError):
        release(protected)
    assert ledger.balance().spent == NANO // 4
    assert ledger.verify().open_reservations == (2,)
    assert protected.facts().accountant.spent == NANO // 4
    source.fails = False
    text = release(protected)  # the same key completes it
    assert ledger.balance().spent == NANO // 4
    assert release(protected) == text
    assert len(source.seen) == 2
    assert ledger.verify().open_reservations == ()


def test_a_reservation_is_completed_as_it_was_planned(protected, source, ledger):
    """A retry with another plan under the same key and digest gets what was paid for."""
    source.fails = True
    with pytest.raises(DataError):
        release(protected, plan_of(0.25))
    source.fails = False
    release(open_vault(ledger, source), plan_of(0.9))
    assert ledger.balance().spent == NANO // 4
    (entry,) = [entry for entry in ledger.entries() if entry.kind == "commit"]
    assert entry.payload["measurements"][0]["law"] == plan_of(0.25).parts[0].law.to_json()


def test_complete_finishes_what_a_crash_left(protected, source, ledger):
    same: dict[str, Any] = {"analyst": "ann", "key": "one", "digest": "same", "answer": text_of}
    assert protected.complete(**same) is None
    source.fails = True
    with pytest.raises(DataError):
        release(protected)
    source.fails = False
    other = open_vault(ledger, source)
    text = other.complete(**same)
    assert text is not None
    assert protected.complete(**same) == text
    with pytest.raises(KeyConflict):
        protected.complete(**{**same, "digest": "other"})


def test_an_interruption_while_writing_the_answer_leaves_no_trace_in_memory(protected, ledger):
    def fail(*_: object) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(protected, answer=fail)
    assert protected.measurements == ()
    assert protected.facts().inference.linear(plan_of().parts[0].query) is None
    assert protected.facts().accountant.spent == NANO // 4
    (drawn,) = [entry for entry in ledger.entries() if entry.kind == "draw"]
    release(protected)
    (measurement,) = protected.measurements
    (steps,) = [one["steps"] for one in drawn.payload["draws"]]
    assert measurement.values == (steps[0] * measurement.law.step,)


def test_an_error_while_writing_the_answer_is_an_answer(protected, source, ledger):
    """What it fails on may be the noise; the same key hears the same, and nothing is drawn."""

    def fail(*_: object) -> str:
        raise ValueError("the noisy total is 1234")

    with pytest.raises(ReleaseFailed) as told:
        release(protected, answer=fail)
    assert "1234" not in str(told.value)
    before = ledger.entries()
    for again in (protected, open_vault(ledger, source)):
        with pytest.raises(ReleaseFailed, match="new key"):
            release(again)
    assert ledger.entries() == before
    assert len(protected.measurements) == 1  # it is history all the same
    assert ledger.verify().intact


def test_a_decision_on_old_facts_is_not_carried_out(protected, source, ledger):
    protected.facts()
    as_of = protected.sequence
    release(open_vault(ledger, source), key="other")
    before = ledger.entries()
    with pytest.raises(Stale):
        release(protected, as_of=as_of)
    assert ledger.entries() == before
    release(protected, as_of=protected.sequence)


def test_the_first_to_commit_wins(protected, source, ledger, monkeypatch):
    """Two processes complete one reservation: both return what was stored first."""
    other = open_vault(ledger, source)
    reveal = measuring.reveal_with_noise  # type: ignore[attr-defined]
    first: list[str] = []

    def overtaken(secret, law):
        monkeypatch.setattr(measuring, "reveal_with_noise", reveal)
        first.append(release(other))
        return reveal(secret, law)

    monkeypatch.setattr(measuring, "reveal_with_noise", overtaken)
    assert release(protected) == first[0]
    assert [entry.kind for entry in ledger.entries()].count("commit") == 1
    assert [m.values for m in protected.measurements] == [m.values for m in other.measurements]


def test_facts_follow_the_ledger(protected, source, ledger):
    other = open_vault(ledger, source)
    release(protected)
    release(other, key="two")
    facts = [v.facts() for v in (protected, other, open_vault(ledger, source))]
    query = count(a=(0, 2)).on(DOMAIN)
    found = [(f.accountant.spent, f.limit, f.inference.linear(query)) for f in facts]
    assert [(spent, limit) for spent, limit, _ in found] == [(NANO // 2, NANO)] * 3
    values = {linear[0] for _, _, linear in found if linear is not None}
    assert len(values) == 1
    with ledger.exclusive() as book:
        book.change_limit(3 * NANO, {})
    assert protected.facts().limit == 3 * NANO


def test_what_was_known_then(protected):
    release(protected)
    then = protected.sequence
    before = protected.inference_through(then).linear(plan_of().parts[0].query)
    release(protected, key="two")
    again = protected.inference_through(then).linear(plan_of().parts[0].query)
    assert before is not None
    assert again is not None
    assert again[0] == before[0]
    assert protected.inference_through(1).linear(plan_of().parts[0].query) is None


def test_free_answers_are_remembered_once(protected, ledger):
    remember: Callable[[str], str] = lambda text: protected.remember("ann", "free", "d", text)  # noqa: E731
    assert remember("first") == "first"
    assert remember("second") == "first"
    assert ledger.balance().spent == 0
    with pytest.raises(KeyConflict):
        protected.remember("ann", "free", "other", "x")


def test_what_was_offered_is_enough_and_less_is_not(protected: Vault, ledger: Ledger) -> None:
    """To the nano-unit; what is refused is charged nothing and counts nothing."""
    plan = plan_of()
    (part,) = plan.parts
    price = Accountant(DOMAIN, PURE, "add_remove").price(part.query, part.law)
    with pytest.raises(BudgetExceeded, match="more than was offered"):
        release(protected, plan, key="less", at_most=price - 1)
    assert ledger.balance().spent == 0
    release(protected, plan, key="enough", at_most=price)
    assert ledger.balance().spent == price


def test_a_request_that_goes_on_draws_nothing_that_is_stored(protected, ledger, monkeypatch):
    """Not even for itself: the noise of a charge is drawn once in all."""

    def broken_off(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Vault, "_commit", broken_off)
        with pytest.raises(KeyboardInterrupt):
            release(protected)
    draws._unstored.clear()  # as in another process
    drawn: list[object] = []
    monkeypatch.setattr(measuring, "reveal_with_noise", lambda *given: drawn.append(given))
    (stored,) = [entry.payload for entry in ledger.entries() if entry.kind == "draw"]
    release(protected)
    assert drawn == []
    (measured,) = protected.measurements
    assert measured.values[0] == stored["draws"][0]["steps"][0] * measured.law.step


def test_looks_at_the_data_keep_the_vaults_tempo(protected):
    tempo = Metronome(lambda: None)
    protected.tempo = tempo
    release(protected)
    assert len(tempo.rests) == 1


def test_nobody_sees_what_is_not_stored_yet(protected):
    """While an answer is made, its measurement is learned, and the ledger does not hold it."""
    seen: list[int] = []

    def look(facts: Facts, released: Sequence[Measurement], cost: int) -> str:
        seen.append(len(protected.snapshot().facts.inference.rows))
        return text_of(facts, released, cost)

    release(protected)
    protected.snapshot()
    release(protected, plan_of(0.125), key="two", answer=look)
    assert seen == [1]
    assert len(protected.snapshot().facts.inference.rows) == 2
