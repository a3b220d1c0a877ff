"""A vault and its twins keep the settings of their table; limits, caps and answers are entries."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eke.data import open_source
from eke.domain import Domain, Integer, Replace
from eke.engine import Beginning, Stale, Vault
from eke.engine.draws import DRAW
from eke.engine.draws import text_of as question_of
from eke.engine.share import CAP
from eke.errors import BudgetExceeded, LedgerError, ReleaseFailed
from eke.history import PUBLIC, Measurement, Row
from eke.ledger import Ledger
from eke.planning import Facts, Plan, part_for
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import count

DOMAIN = Domain(a=Integer(0, 3, null=Replace(0)))
ROWS = pd.DataFrame({"a": np.arange(40) % 4})
QUERY = count(a=0).on(DOMAIN)


@pytest.fixture
def ledger(folder: Path) -> Ledger:
    return Ledger.create(folder / "a.eke", {}, limit=NANO)


def open_vault(ledger: Ledger, **settings: Any) -> Vault:
    options = {"domain": DOMAIN, "measure": PURE, "neighbours": "add_remove", **settings}
    return Vault(ledger, open_source(ROWS, options["domain"]), Beginning(**options))


def plan_of(epsilon: float = 0.25) -> Plan:
    return Plan((part_for(QUERY, 1 / epsilon, PURE),))


def text_of(facts: Facts, released: Sequence[Measurement], cost: int) -> str:
    return f"{released[0].values[0]} of {facts.accountant.spent} for {cost}"


def release(vault: Vault, key: str = "one", analyst: str = "ann", **options: Any) -> str:
    plan = options.pop("plan", plan_of())
    settings = {"analyst": analyst, "key": key, "digest": "d", "answer": text_of, **options}
    return vault.release(plan, **settings)


@pytest.mark.parametrize("twins", [0, 1, 2])
def test_units_of_several_rows_are_charged_in_every_twin(ledger, twins):
    vault = open_vault(ledger, measure=CONCENTRATED, neighbours="replace_one", rows_per_unit=3)
    for _ in range(twins):
        vault = vault.twin()
    assert vault.rows_per_unit == 3
    law = DiscreteGaussian(4, 0)
    # A replaced record moves a count by one; three rows cost nine times as much.
    assert vault.facts().accountant.price(QUERY, law) == 9 * NANO // 32
    assert vault.snapshot().facts.accountant.price(QUERY, law) == 9 * NANO // 32
    vault.release(
        Plan((part_for(QUERY, 4.0, CONCENTRATED),)),
        analyst="ann",
        key="one",
        digest="d",
        answer=text_of,
    )
    assert ledger.balance().spent == 9 * NANO // 32


def test_what_is_public_is_known_in_every_twin(ledger):
    vault = open_vault(ledger, public_rows=(Row(QUERY, 10.0, PUBLIC),))
    for one in (vault, vault.twin()):
        for facts in (one.facts(), one.snapshot().facts, one.glance().facts):
            found = facts.inference.linear(QUERY)
            assert found is not None
            assert found[0] == 10.0


def test_a_glance_does_not_wait_for_another_that_reads(ledger):
    vault = open_vault(ledger)
    release(vault.twin())  # what is new in the ledger is not read for the glance
    seen: list[int] = []
    with vault._catching_up:
        other = threading.Thread(
            target=lambda: seen.append(len(vault.glance().measurements)), daemon=True
        )
        other.start()
        other.join(10)
        assert seen == [0]
    assert len(vault.glance().measurements) == 1


def test_a_twin_has_a_lock_of_its_own_and_the_same_ledger(ledger):
    vault = open_vault(ledger)
    twin = vault.twin()
    assert twin.lock is not vault.lock
    assert twin.ledger is vault.ledger
    assert twin.domain is vault.domain
    text = release(vault)
    assert release(twin) == text
    assert twin.snapshot().measurements == vault.snapshot().measurements


@pytest.mark.parametrize(
    ("settings", "publishes"),
    [
        ({"neighbours": "replace_one"}, True),
        ({"neighbours": "add_remove"}, False),
        ({"neighbours": "replace_one", "rows_per_unit": 2}, False),
        ({"neighbours": "replace_one", "domain": Domain(a=Integer(0, 3))}, False),
    ],
)
def test_rows_are_published_only_where_their_number_is_public(ledger, settings, publishes):
    assert open_vault(ledger, **settings).publishes_rows == publishes


def test_limits_and_caps_are_entries_that_say_by_whom(ledger):
    vault = open_vault(ledger)
    vault.change_limit(2 * NANO, "cora")
    vault.change_cap("ann", NANO // 4, "cora")
    limit, cap = ledger.entries()[1:]
    assert (limit.kind, limit.about, limit.payload) == (
        "limit",
        {"limit": 2 * NANO},
        {"by": "cora"},
    )
    assert (cap.kind, cap.payload) == (
        CAP,
        {"analyst": "ann", "cap": NANO // 4, "by": "cora"},
    )
    assert vault.shares().caps == {"ann": NANO // 4}
    release(vault)
    before = ledger.entries()
    with pytest.raises(BudgetExceeded, match="nothing was spent"):
        release(vault, "two", plan=plan_of(1e-6))
    assert ledger.entries() == before
    release(vault, "two", "bob")
    assert vault.shares().spent == {"ann": NANO // 4, "bob": NANO // 4}
    vault.change_cap("ann", None, "cora")
    release(vault, "three")
    assert vault.shares().spent == {"ann": NANO // 2, "bob": NANO // 4}


def test_a_decision_is_stale_once_something_it_depends_on_has_changed(ledger):
    vault = open_vault(ledger)
    vault.facts()
    as_of = vault.sequence
    with ledger.exclusive() as book:
        book.note("remark", {})
    release(vault, as_of=as_of)  # remarks change nothing
    vault.change_cap("bob", 5, "cora")
    with pytest.raises(Stale):
        release(vault, "two", as_of=vault.sequence - 1)
    assert ledger.find("ann", "two") is None
    release(vault, "two", as_of=ledger.balance().head_sequence)


def test_the_answer_is_made_of_what_was_released_and_its_cost(ledger):
    vault = open_vault(ledger)
    seen: list[tuple[int, list[int], int]] = []

    def answer(facts: Facts, released: Sequence[Measurement], cost: int) -> str:
        seen.append((facts.accountant.spent, [one.sequence for one in released], cost))
        assert facts.inference.linear(QUERY) is not None
        return "text"

    assert release(vault, answer=answer) == "text"
    assert release(vault, "two", plan=plan_of(0.5), answer=answer) == "text"
    assert seen == [(NANO // 4, [4], NANO // 4), (3 * NANO // 4, [7], NANO // 2)]
    assert vault.sequence == 7
    costs = [entry.payload["cost"] for entry in ledger.entries() if entry.kind == "reserve"]
    assert costs == [NANO // 4, NANO // 2]


def test_readers_are_not_shown_what_is_not_stored_yet(ledger):
    """The answer is made of what was drawn before that is stored; it may still come to nothing."""
    vault = open_vault(ledger)
    seen: list[int] = []

    def answer(facts: Facts, released: Sequence[Measurement], cost: int) -> str:
        snapshot = vault.snapshot()
        seen.extend([len(snapshot.measurements), snapshot.facts.accountant.spent])
        return "text"

    release(vault, answer=answer)
    assert seen == [0, NANO // 4]  # charged, and nothing known
    assert len(vault.snapshot().measurements) == 1


def test_what_is_stored_of_a_draw_says_what_was_asked(ledger):
    vault, plan = open_vault(ledger), plan_of()
    release(vault, plan=plan)
    (entry,) = [entry for entry in ledger.entries() if entry.kind == DRAW]
    (document,) = entry.payload["draws"]
    asked = question_of(plan.parts[0].to_document())
    assert document["what"] == hashlib.sha256(asked.encode()).hexdigest()


def test_a_key_with_an_unfinished_request_is_for_nothing_else(ledger):
    vault = open_vault(ledger)

    def interrupted(*_: object) -> str:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        release(vault, answer=interrupted)
    with pytest.raises(LedgerError, match="unfinished"):
        vault.remember("ann", "one", "d", "free")
    release(vault)
    assert vault.remember("ann", "one", "d", "free") != "free"


def test_what_is_written_with_a_free_answer_is_in_its_entry(ledger):
    vault = open_vault(ledger)
    vault.remember("ann", "free", "d", "text", {"about": "this"})
    vault.remember("ann", "bare", "d", "text")
    one, two = ledger.entries()[1:]
    assert (one.payload, two.payload) == ({"about": "this"}, {})
    assert one.about["analyst"] == "ann"


def test_a_failure_is_told_by_every_way_to_its_key(ledger):
    vault = open_vault(ledger)

    def failing(*_: object) -> str:
        raise ValueError

    same: dict[str, Any] = {"analyst": "ann", "key": "one", "digest": "d"}
    for _ in range(2):
        with pytest.raises(ReleaseFailed):
            release(vault, answer=failing)
    with pytest.raises(ReleaseFailed):
        vault.complete(**same, answer=text_of)
    with pytest.raises(ReleaseFailed):
        vault.remember("ann", "one", "d", "free")


def test_nothing_is_spent_on_an_empty_limit(ledger):
    """A limit of exactly the loss leaves room for what costs nothing more, and no nano-unit."""
    vault = open_vault(ledger)
    release(vault)
    vault.change_limit(NANO // 4, "cora")
    other = Plan((part_for(count(a=1).on(DOMAIN), 4.0, PURE),))
    release(vault, "other cell", plan=other)
    assert ledger.balance().spent == NANO // 4
    with pytest.raises(BudgetExceeded):
        release(vault, "more", plan=plan_of(1e-9))
    assert vault.facts().accountant.after(QUERY, DiscreteLaplace(4, 0), NANO) == NANO // 2


def known(vault: Vault, sequence: int) -> list[float | None]:
    found = vault.inference_through(sequence).linear(QUERY)
    return [None if found is None else found[0]]


def test_the_past_is_told_at_once_and_the_present_when_it_is_known(ledger):
    """While somebody else brings the vault up to date, only what it does not know has to wait."""
    vault, other = open_vault(ledger), open_vault(ledger)
    release(other)
    vault.snapshot()
    then = ledger.balance().head_sequence
    past, present = known(other, then), []
    release(other, "two", plan=plan_of(0.5))
    now = ledger.balance().head_sequence
    told: list[list[float | None]] = []
    with vault._catching_up:
        asking = threading.Thread(target=lambda: told.append(known(vault, then)), daemon=True)
        asking.start()
        asking.join(20)
        assert told == [past]
        waiting = threading.Thread(target=lambda: present.append(known(vault, now)), daemon=True)
        waiting.start()
        waiting.join(0.1)
        assert present == []
    waiting.join(20)
    assert present == [known(other, now)]
    assert present != [past]
