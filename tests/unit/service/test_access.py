"""The file of accounts: what it keeps, what it forgets, and what it notices."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from eke.errors import ServiceError
from eke.service import Access, Account, Settings
from eke.service.rate import Rate
from eke.service.token import new_token, read_token
from tests.service import Clock


def test_only_a_hash_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "access.db"
    access = Access(path)
    access.add(Account("ann", "analyst", ("adult",)))
    token = access.new_token("ann")
    cookie, _ = access.sign_in(access.by_token(token.text), 1)  # type: ignore[arg-type]
    assert token.text.rsplit("_", 1)[1] not in repr(token)
    access.close()
    stored = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert token.identity.encode() in stored
    for secret in (token.text[17:], cookie):
        assert secret.encode() not in stored
    assert path.stat().st_mode & 0o077 == 0


def test_changes_are_seen_by_another_process_at_once(tmp_path: Path) -> None:
    """Two objects on one file stand for the server and the command line."""
    server, command = Access(tmp_path / "a.db"), Access(tmp_path / "a.db")
    command.add(Account("ann", "analyst"))
    token = command.new_token("ann")
    known = server.by_token(token.text)
    assert known is not None
    assert known.account == Account("ann", "analyst")
    command.revoke(token.identity)
    assert server.by_token(token.text) is None
    assert server.tokens()[0].revoked_at is not None
    server.close()
    command.close()


def test_tokens_expire_to_the_second() -> None:
    clock = Clock()
    access = Access(None, clock)
    access.add(Account("ann", "analyst"))
    token = access.new_token("ann", days=1)
    clock.now += 86_399
    assert access.by_token(token.text) is not None
    clock.now += 1
    assert access.by_token(token.text) is None
    access.close()


def test_what_makes_no_sense_is_refused() -> None:
    access = Access(None)
    access.add(Account("ann", "analyst"))
    with pytest.raises(ServiceError, match="already"):
        access.add(Account("ann", "curator"))
    with pytest.raises(ServiceError, match="no account"):
        access.new_token("ben")
    with pytest.raises(ServiceError, match="no such token"):
        access.revoke("000000000000")
    for days in (0.0, -1.0, float("nan"), 1e9):
        with pytest.raises(ServiceError):
            access.new_token("ann", days)
    for name in ("", "a b", "a/b", "x" * 101, "a\n"):
        with pytest.raises(ServiceError):
            Account(name, "analyst")
    with pytest.raises(ServiceError):
        Account("ann", "root")  # type: ignore[arg-type]
    with pytest.raises(ServiceError):
        Settings(sharing="some")  # type: ignore[arg-type]
    with pytest.raises(ServiceError):
        Settings(requests_per_minute=0)
    with pytest.raises(ServiceError):
        Settings(session_hours=float("nan"))
    access.close()


def test_other_files_are_not_taken_for_accounts(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("nothing like a database, but long enough to look at\n" * 40)
    with pytest.raises(ServiceError, match="holds no accounts"):
        Access(text)
    newer = tmp_path / "newer.db"
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(ServiceError, match="another version"):
        Access(newer)


def test_tokens_are_read_strictly() -> None:
    token = new_token()
    assert read_token(token.text) == token
    for text in ("", token.text + "x", " " + token.text, token.text.upper(), token.text[4:]):
        assert read_token(text) is None


def test_a_rate_fills_with_time_and_forgets_the_oldest() -> None:
    now = [0.0]
    rate = Rate(60, lambda: now[0])
    assert [rate.take("a") for _ in range(60)] == [0.0] * 60
    assert rate.take("a") == pytest.approx(1.0)
    now[0] += 1.0
    assert rate.take("a") == 0.0
    assert rate.take("a") > 0.0
    for number in range(10_000):
        rate.take(f"other-{number}")
    assert rate.take("a") == 0.0, "its bucket was dropped, which errs on the generous side"
