"""Datasets that an older eke wrote open, verify and answer as they did; it is also written so now.

The files in tests/fixtures/datasets are never written again (`python -m tests.frozen` refuses).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import eke
from eke.engine import draws
from eke.errors import LedgerError
from tests.frozen.history import SETTINGS, asked, people, played
from tests.frozen.place import OLDER, VERSION, revived, revived_in, stored
from tests.parts import among
from tests.postgresql_server import Server


@pytest.fixture(scope="module", params=list(SETTINGS))
def today(
    request: Any, tmp_path_factory: pytest.TempPathFactory
) -> tuple[str, list[Any], list[str]]:
    """(name, entries, answers) of a history that is made now."""
    name = request.param
    with played(name, tmp_path_factory.mktemp("today") / "today.eke") as session:
        entries = session.ledger_entries()
        return name, entries, [repr(act(session)) for act in asked(name)]


def check(session: eke.Session, name: str, entries: list[Any], answers: list[str]) -> None:
    """Everything that an old dataset must still do."""
    before = session.ledger_entries()
    report = session.verify()
    assert report.intact, report.problems
    assert report.open_reservations == ()
    assert stored(before) == stored(entries)
    assert [repr(act(session)) for act in asked(name)] == answers
    assert session.ledger_entries() == before, "a repeated request left an entry"
    kinds = {entry.kind for entry in before}
    assert kinds == {"genesis", "reserve", "draw", "commit", "remember", "cap", "limit"}


def test_an_old_file_is_what_would_be_written_today(today, folder: Path):
    """The same entries to the ninth digit, and the same answers to every key."""
    name, entries, answers = today
    session = eke.open(revived(name, folder / "old.eke"), data=people(), analyst="ann")
    check(session, name, entries, answers)


@pytest.mark.parametrize("today", ["epsilon"], indirect=True)
def test_an_old_schema_of_postgresql_is_what_would_be_written_today(today, postgresql: Server):
    name, entries, answers = today
    session = eke.open(revived_in(postgresql), data=people(), analyst="ann")
    check(session, name, entries, answers)


@pytest.mark.parametrize("version", OLDER)
@pytest.mark.parametrize("name", SETTINGS)
def test_what_is_written_otherwise_today_still_opens(name: str, version: int, folder: Path):
    """Every key gives what is stored under it, from whatever planned or published it then."""
    session = eke.open(revived(name, folder / "old.eke", version), data=people(), analyst="ann")
    before = session.ledger_entries()
    report = session.verify()
    assert report.intact, report.problems
    assert report.open_reservations == ()
    answers = [repr(act(session)) for act in asked(name)]
    assert session.ledger_entries() == before, "a repeated request left an entry"
    again = eke.open(folder / "old.eke", data=people(), analyst="ann")
    assert [repr(act(again)) for act in asked(name)] == answers


@pytest.mark.parametrize("version", OLDER)
def test_an_older_schema_of_postgresql_still_opens(version: int, postgresql: Server):
    address = revived_in(postgresql, version)
    session = eke.open(address, data=people(), analyst="ann")
    before = session.ledger_entries()
    assert session.verify().intact
    assert all(repr(act(session)) for act in asked("epsilon"))
    assert session.ledger_entries() == before


@pytest.mark.parametrize("version", [*OLDER, VERSION])
def test_an_old_dataset_goes_on(version: int, folder: Path):
    """New questions are decided on the old history, and paid on top of the old loss."""
    for name in SETTINGS:
        path = revived(name, folder / f"{name}.eke", version)
        session = eke.open(path, data=people(), analyst="ann")
        spent = session.budget.spent_nano
        assert session.ask(eke.count(age=(30, 40)), 13).source == "from history"
        assert session.budget.spent_nano == spent
        assert session.ask(eke.count(age=(30, 33)), 3).source == "paid"
        assert session.budget.spent_nano > spent
        assert session.verify().intact


@pytest.mark.parametrize("today", among(SETTINGS, ["unit"]), indirect=True)
def test_other_noise_is_not_the_same(today, folder: Path):
    """Positive control: another tape, another history."""
    name, entries, _ = today
    with played(name, folder / "other.eke", seed=15) as session:
        assert stored(session.ledger_entries()) != stored(entries)


def test_another_form_of_what_is_stored_shows(folder: Path, monkeypatch: pytest.MonkeyPatch):
    """Positive control: draws that are stored in another form."""
    plain = draws._packed
    monkeypatch.setattr(draws, "_packed", lambda steps: {"number": len(steps), **plain(steps)})
    with played("unit", folder / "new.eke") as session:
        new = session.ledger_entries()
    old = eke.open(revived("unit", folder / "old.eke"), data=people()).ledger_entries()
    assert stored(new) != stored(old)


def test_a_changed_file_does_not_open(folder: Path):
    """Positive control: one digit of one entry is another."""
    path = revived("epsilon", folder / "old.eke")
    text = path.read_bytes()
    path.write_bytes(text.replace(b'"key":"count"', b'"key":"c0unt"'))
    with pytest.raises(LedgerError):
        eke.open(path, data=people())
