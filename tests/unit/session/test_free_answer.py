"""Free answers without a session say what the session says, or nothing at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import eke
from eke.engine import checkpoint
from eke.errors import AccuracyError, LedgerError, SqlError
from eke.session import free_answer as module
from eke.session.ask.aim import Aim
from eke.session.free_answer import free_answer
from tests.parts import every

PAID = (
    ("SELECT COUNT(*) FROM people", 20),
    ("SELECT sex, COUNT(*) FROM people GROUP BY sex", 25),
    ("SELECT SUM(age) FROM people WHERE age < 21", 900),
    ("SELECT AVG(age) AS mean, COUNT(*) FROM people WHERE sex = 'Male'", 30),
    ("SELECT city, sex, COUNT(*) AS n FROM people GROUP BY city, sex ORDER BY n DESC LIMIT 3", 30),
)
FREE = (
    *PAID,
    ("SELECT COUNT(*) + 3 FROM people WHERE sex IN ('Female', 'Male')", 60),
    ("SELECT VARIANCE(age) FROM people WHERE sex = 'Male'", 1e6),
    ("SELECT COUNT(*) FROM people ERROR WITHIN 70 AT CONFIDENCE 0.9", None),
    ("SELECT COUNT(*) AS n FROM people HAVING n > 10", 90),
    ("SELECT COUNT(*) FROM people", "90 %"),
)
SETTINGS: tuple[dict[str, object], ...] = (
    {"epsilon": 1e4},
    {"rho": 1e4},
    {"epsilon": 1e4, "unit": eke.Unit("person", rows=2)},
    {"epsilon": 1e4, "neighbours": "replace_one"},
)


def place_of(session: eke.Session) -> Path:
    return Path(session._vault.ledger.place)


@pytest.fixture(params=SETTINGS, ids=["epsilon", "rho", "unit", "replace_one"])
def session(request: pytest.FixtureRequest, new: Callable[..., eke.Session]) -> eke.Session:
    made = new(**request.param)
    for sql, within in PAID:
        made.ask(sql, within)
    return made


def answers(session: eke.Session) -> int:
    """How many free answers there were, each the same with and without a session."""
    found = 0
    for sql, within in FREE:
        expected = session.preview(sql, within)
        free = free_answer(place_of(session), sql, Aim(within))
        assert (free is not None) == (expected.cost == 0), sql
        if free is not None:
            found += 1
            own = session.ask(sql, within)
            assert free == own
            assert free.to_json() == own.to_json()
            assert free.caveats == own.caveats
            assert free.receipt == own.receipt
            assert str(free) == str(own)
            if free.is_number:
                assert free.posterior.interval(0.5) == own.posterior.interval(0.5)
    return found


def test_what_is_said_is_what_the_session_says(session: eke.Session) -> None:
    assert answers(session) > len(PAID)


@pytest.mark.parametrize(
    "session", every(2, SETTINGS, 1), indirect=True, ids=["epsilon", "rho", "unit", "replace_one"]
)
def test_it_goes_on_from_a_checkpoint(
    session: eke.Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With as many new entries as the checkpoint has not seen, and without reading old ones."""
    monkeypatch.setattr(checkpoint, "LEAST_ROWS", 1)
    session.ask("SELECT COUNT(*) FROM people WHERE age > 19", 20)
    session.ask("SELECT COUNT(*) FROM people WHERE age > 19", 1e6)
    assert (
        place_of(session).with_name(place_of(session).name + checkpoint.CHECKPOINT_ENDING).exists()
    )
    monkeypatch.setattr(module, "MOST_NEW_ENTRIES", 0)
    assert answers(session) > len(PAID)
    monkeypatch.setattr(checkpoint, "LEAST_ROWS", 10**9)
    session.ask("SELECT COUNT(*) FROM people WHERE age > 22", 20)
    assert free_answer(place_of(session), PAID[0][0], Aim(60)) is None
    monkeypatch.undo()
    assert answers(session) > len(PAID)


def test_whatever_is_not_free_is_left_to_a_session(session: eke.Session) -> None:
    path = place_of(session)
    before = path.read_bytes()
    files = sorted(path.parent.iterdir())
    for sql, aim in (
        ("SELECT COUNT(*) FROM people WHERE age = 22", Aim(5)),
        ("SELECT AVG(age) FROM people WHERE city = 'd'", Aim(0.01)),
        ("SELECT COUNT(*) FROM people", Aim(spend=0.1)),
        ("SELECT COUNT(*) FROM people SPEND 0.1", Aim()),
    ):
        assert free_answer(path, sql, aim) is None
    with pytest.raises(SqlError):
        free_answer(path, "SELECT COUNT(* FROM people", Aim(60))
    with pytest.raises(AccuracyError):
        free_answer(path, "SELECT COUNT(*) FROM people", Aim())
    assert path.read_bytes() == before
    assert sorted(path.parent.iterdir()) == files


def test_a_ledger_that_is_not_intact_is_left_to_a_session(
    session: eke.Session, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.eke"
    shutil.copy(place_of(session), copy)
    assert free_answer(copy, PAID[0][0], Aim(60)) is not None
    content = copy.read_bytes()
    place = content.rindex(b'"values":[') + len(b'"values":[')
    copy.write_bytes(
        content[:place] + (b"8" if content[place] != b"8"[0] else b"7") + content[place + 1 :]
    )
    with pytest.raises(LedgerError):
        free_answer(copy, PAID[0][0], Aim(60))
    with pytest.raises(LedgerError):
        free_answer(tmp_path / "missing.eke", PAID[0][0], Aim(60))
