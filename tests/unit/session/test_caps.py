"""Caps: what one analyst may spend of the limit, for whoever races."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import eke
from eke.errors import BudgetExceeded, LedgerError, PrivacyError
from tests.unit.session.conftest import make_people

NANO = 10**9


def test_a_cap_stops_one_analyst_and_nobody_else(session: eke.Session) -> None:
    session.change_cap("ann", 0.1)
    seen = session.preview(eke.count(), within=10, analyst="ann")
    assert not seen.affordable
    assert seen.remaining == pytest.approx(0.1)
    before = session.budget
    with pytest.raises(
        eke.Refused, match=r"your cap leaves you 0\.1\. .* what your cap leaves can buy is ±30"
    ):
        session.ask(eke.count(), within=10, analyst="ann")
    assert session.budget == before
    assert session.ask(eke.count(), within=10, analyst="ben").cost > 0.1
    assert session.ask(eke.count(), within=10, analyst="ann").free, "what others bought is free"


def test_the_narrowest_interval_offered_is_within_the_cap(session: eke.Session) -> None:
    session.change_cap("ann", 0.1)
    with pytest.raises(eke.Refused) as refused:
        session.ask(eke.count(), within=1, analyst="ann")
    narrowest = refused.value.refusal.narrowest  # type: ignore[attr-defined]
    paid = session.ask(eke.count(), within=narrowest * 1.01, analyst="ann")
    assert 0.09 < paid.cost <= 0.1


def test_shares_add_up_to_what_was_spent(session: eke.Session) -> None:
    for number, who in enumerate(["ann", "ben", "ann", "cyd"]):
        session.ask(eke.count(age=(17, 18 + number)), within=60 - number, analyst=who)
    shares = session.shares
    assert set(shares.spent) == {"ann", "ben", "cyd"}
    assert sum(shares.spent.values()) == session.budget.spent_nano


def test_caps_live_in_the_ledger(session: eke.Session, folder: Path) -> None:
    session.change_cap("ann", 0.25)
    session.change_cap("ben", 0.0)
    session.change_cap("cyd", 0.5)
    session.change_cap("cyd", None)
    again = eke.open(folder / "people-1.eke", data=make_people(), analyst="ann")
    assert again.shares.caps == {"ann": NANO // 4, "ben": 0}
    assert [e.payload["by"] for e in session.ledger_entries() if e.kind == "cap"] == ["ann"] * 4
    with pytest.raises(eke.Refused):
        again.ask(eke.count(), within=400, analyst="ben")


def test_a_cap_below_what_was_spent_stops_spending(session: eke.Session) -> None:
    session.ask(eke.count(), within=20, analyst="ann")
    session.change_cap("ann", 0.01)
    with pytest.raises(eke.Refused):
        session.ask(eke.count(sex="Male"), within=20, analyst="ann")


@pytest.mark.parametrize("cap", [-1.0, float("nan"), float("inf"), 1e12, "1", True])
def test_bad_caps_are_refused(session: eke.Session, cap: float) -> None:
    with pytest.raises(PrivacyError):
        session.change_cap("ann", cap)
    assert session.shares.caps == {}


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 256])
def test_bad_names_are_refused(session: eke.Session, name: str) -> None:
    with pytest.raises(PrivacyError):
        session.change_cap(name, 0.5)


def test_a_cap_of_unknown_form_in_the_ledger_releases_nothing(session: eke.Session) -> None:
    with session._vault.ledger.exclusive() as book:
        book.note("cap", {"analyst": "ann", "cap": "much"})
    with pytest.raises(LedgerError, match="unknown form"):
        session.ask(eke.count(), within=50)


def test_a_cap_holds_in_a_race_of_one_analyst(new: Callable[..., eke.Session]) -> None:
    """Two sessions on one ledger, as two servers have it, eight threads of the same analyst.

    Without the check in the reservation each thread would find room and spend it (the control:
    the same questions without a cap spend three times as much).
    """
    spent = {}
    for number, cap in enumerate([0.2, None], start=1):
        first = new()
        first.change_cap("ann", cap)
        path = Path(first._vault.ledger._place.path)  # type: ignore[union-attr]
        second = eke.open(path, data=make_people())
        together = threading.Barrier(8)

        def work(place: int, sessions=(first, second), together=together) -> None:
            together.wait()
            for age in (17 + place, 18 + place):
                with contextlib.suppress(BudgetExceeded):
                    sessions[place % 2].ask(eke.count(age=(17, age)), within=36, analyst="ann")

        threads = [threading.Thread(target=work, args=(place,)) for place in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        costs = [int(str(e.payload["cost"])) for e in first.ledger_entries() if e.kind == "reserve"]
        assert sum(costs) == first.budget.spent_nano == first.shares.spent["ann"]
        spent[number] = first.budget.spent
    assert spent[1] <= 0.2
    assert spent[2] > 0.4, json.dumps(spent)
