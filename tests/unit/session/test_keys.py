"""Idempotency keys: one request, one charge, one answer."""

from __future__ import annotations

import pytest

import eke
from eke.errors import KeyConflict, LedgerError


def stored(session: eke.Session, key: str, analyst: str = "ann") -> str | None:
    request = session._vault.ledger.find(analyst, key)
    return None if request is None else request.answer


def test_the_same_request_gets_the_same_bytes(session):
    first = session.ask(eke.count(sex="Female"), within=60, key="one")
    text = stored(session, "one")
    session.ask(eke.count(sex="Female"), within=30)  # history knows better now
    again = session.ask(eke.count(sex="Female"), within=60, key="one")
    assert stored(session, "one") == text
    assert again == first
    assert again.receipt == first.receipt
    assert not again.free, "it is the answer that was paid for"
    assert again.posterior.interval(0.9) == pytest.approx(first.posterior.interval(0.9))
    assert len(session.history) == 2


def test_another_spelling_is_the_same_request(session):
    first = session.ask(eke.count(age=(17, 18)), within=60, key="one")
    again = session.ask(eke.count(age=[18, 17]), within=60.0, confidence=0.95, key="one")
    assert again == first


def test_free_answers_are_kept_as_well(session):
    session.ask(eke.count(), within=60)
    free = session.ask(eke.count(), within=80, key="free")
    assert free.free
    entries = session.ledger_entries()
    session.ask(eke.count(), within=20)
    again = session.ask(eke.count(), within=80, key="free")
    assert again == free
    assert entries == session.ledger_entries()[: len(entries)]
    assert len(session.ledger_entries()) == len(entries) + 3, "only the paid one was added"


@pytest.mark.parametrize(
    "changed",
    [
        {"query": eke.count(sex="Male")},
        {"query": eke.count(sex="Female") + 1},
        {"query": eke.marginal("sex")},
        {"within": 61},
        {"confidence": 0.9},
        {"policy": "direct"},
    ],
)
def test_a_key_belongs_to_one_request(session, changed):
    request = {"query": eke.count(sex="Female"), "within": 60, "confidence": 0.95}
    session.ask(**request, key="one")
    before = session.ledger_entries()
    with pytest.raises(KeyConflict, match="new key"):
        session.ask(**{**request, **changed}, key="one")
    assert session.ledger_entries() == before


def test_a_key_belongs_to_one_analyst(session):
    first = session.ask(eke.count(sex="Female"), within=60, key="one", analyst="ann")
    other = session.ask(eke.count(sex="Female"), within=60, key="one", analyst="bob")
    assert other.free
    assert other.value == first.value
    session.ask(eke.count(age=17), within=60, key="one", analyst="eve")
    assert stored(session, "one", "ann") != stored(session, "one", "eve")


def test_a_refusal_does_not_use_up_the_key(session):
    with pytest.raises(eke.Refused):
        session.ask(eke.count(), within=0.1, key="one")
    assert stored(session, "one") is None
    assert session.ask(eke.count(), within=60, key="one").cost > 0


def test_keys_survive_reopening(session, folder, people):
    first = session.ask(eke.count(sex="Female"), within=60, key="one")
    reopened = eke.open(folder / "people-1.eke", data=people, analyst="ann")
    assert reopened.ask(eke.count(sex="Female"), within=60, key="one") == first
    with pytest.raises(KeyConflict):
        reopened.ask(eke.count(sex="Male"), within=60, key="one")


@pytest.mark.parametrize("key", ["", 5, "a\nb", "x" * 256, b"bytes", ["list"], 1.5])
def test_bad_keys(session, key):
    before = session.ledger_entries()
    with pytest.raises(LedgerError):
        session.ask(eke.count(), within=60, key=key)
    assert session.ledger_entries() == before


@pytest.mark.parametrize("analyst", [5, "a\nb", "x" * 256, b"bytes", ["list"]])
def test_bad_names_of_analysts(session, analyst):
    before = session.ledger_entries()
    with pytest.raises(LedgerError):
        session.ask(eke.count(), within=60, analyst=analyst)
    assert session.ledger_entries() == before
