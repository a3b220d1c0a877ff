"""Accounts, in a file and in PostgreSQL: what is kept, forgotten and noticed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from eke.errors import ServiceError
from eke.service import Access, Account, Settings
from eke.service.rate import Rate
from eke.service.token import new_token, read_token
from tests.service import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def access(place: str, clock: Clock) -> Iterator[Access]:
    with closing(Access(place, clock)) as opened:
        yield opened


@pytest.fixture
def other(place: str, access: Access, clock: Clock) -> Iterator[Access]:
    """The same accounts, as another process or another server has them."""
    with closing(Access(place, clock)) as opened:
        yield opened


def test_only_a_hash_is_kept(access: Access) -> None:
    access.add(Account("ann", "analyst", ("adult",)))
    token = access.new_token("ann")
    cookie, _ = access.sign_in(access.by_token(token.text), 1)  # type: ignore[arg-type]
    assert token.text.split("_", 2)[2] not in repr(token)
    tables = access.storage.tables
    stored = str(
        [
            access.storage.read(one.select())
            for one in (tables.token, tables.verifier, tables.browser)
        ]
    )
    assert token.identity in stored
    for secret in (token.text[17:], cookie):
        assert secret not in stored


def test_a_file_holds_no_secret_and_is_private(tmp_path: Path) -> None:
    path = tmp_path / "access.db"
    access = Access(path)
    access.add(Account("ann", "analyst", ("adult",)))
    token = access.new_token("ann")
    cookie, _ = access.sign_in(access.by_token(token.text), 1)  # type: ignore[arg-type]
    access.close()
    stored = b"".join(one.read_bytes() for one in tmp_path.iterdir())
    assert token.identity.encode() in stored
    for secret in (token.text[17:], cookie):
        assert secret.encode() not in stored
    assert path.stat().st_mode & 0o077 == 0


def test_changes_are_seen_by_another_process_at_once(access: Access, other: Access) -> None:
    other.add(Account("ann", "analyst", ("adult", "census")))
    token = other.new_token("ann")
    known = access.by_token(token.text)
    assert known is not None
    assert known.account == Account("ann", "analyst", ("adult", "census"))
    other.revoke(token.identity)
    assert access.by_token(token.text) is None
    assert access.tokens()[0].revoked_at is not None


def test_a_browser_is_known_until_its_session_or_its_token_ends(
    access: Access, other: Access, clock: Clock
) -> None:
    access.add(Account("ann", "analyst"))
    token = access.new_token("ann")
    caller = access.by_token(token.text)
    assert caller is not None
    (first, csrf), (second, _), (third, _) = (access.sign_in(caller, 2) for _ in range(3))
    known = other.by_cookie(first)
    assert known is not None
    assert (known.account.name, known.token, known.csrf) == ("ann", token.identity, csrf)
    assert other.by_cookie(first + "x") is None
    other.sign_out(first)
    assert access.by_cookie(first) is None
    clock.now += 7_199
    assert access.by_cookie(second) is not None
    access.revoke(token.identity)
    assert other.by_cookie(second) is None
    assert access.storage.read(access.storage.tables.browser.select()) == []
    assert other.by_cookie(third) is None


def test_sessions_end_to_the_second(access: Access, clock: Clock) -> None:
    access.add(Account("ann", "analyst"))
    caller = access.by_token(access.new_token("ann", days=1).text)
    assert caller is not None
    short, _ = access.sign_in(caller, 1)
    long, _ = access.sign_in(caller, 48)
    clock.now += 3_600
    assert access.by_cookie(short) is None
    assert access.by_cookie(long) is not None
    clock.now += 82_800
    assert access.by_cookie(long) is None, "a session ends with its token"


def test_tokens_expire_to_the_second(access: Access, clock: Clock) -> None:
    access.add(Account("ann", "analyst"))
    token = access.new_token("ann", days=1)
    clock.now += 86_399
    assert access.by_token(token.text) is not None
    clock.now += 1
    assert access.by_token(token.text) is None


def test_what_makes_no_sense_is_refused(access: Access) -> None:
    access.add(Account("ann", "analyst"))
    with pytest.raises(ServiceError, match="already"):
        access.add(Account("ann", "curator"))
    with pytest.raises(ServiceError, match="no account"):
        access.new_token("ben")
    for identity in ("000000000000", "a\0b"):
        with pytest.raises(ServiceError, match="no such token"):
            access.revoke(identity)
    assert access.find("a\0b") is None
    for days in (0.0, -1.0, float("nan"), 1e9):
        with pytest.raises(ServiceError):
            access.new_token("ann", days)
    assert access.accounts() == [Account("ann", "analyst")]
    assert access.tokens() == []


def test_values_that_make_no_sense_are_refused() -> None:
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


def test_accounts_move_with_their_tokens(access: Access, tmp_path: Path, clock: Clock) -> None:
    old = Access(tmp_path / "old.db", clock)
    for account in (Account("ann", "analyst", ("adult",)), Account("cleo", "curator")):
        old.add(account)
    kept, ended, late = old.new_token("ann"), old.new_token("ann"), old.new_token("cleo", days=9)
    old.revoke(ended.identity)
    access.add(Account("cleo", "curator"))
    assert access.copy_from(old) == (1, 3)
    assert access.accounts() == old.accounts()
    assert access.tokens() == old.tokens()
    assert access.by_token(kept.text) == old.by_token(kept.text) is not None
    assert access.by_token(ended.text) is None
    old.revoke(late.identity)
    assert access.copy_from(old) == (0, 0)
    assert access.by_token(late.text) is None, "a second copy brings revocations"
    access.revoke(kept.identity)
    access.copy_from(old)
    assert access.by_token(kept.text) is None, "and never takes one back"
    old.add(Account("ben", "analyst"))
    access.add(Account("ben", "auditor"))
    old.add(Account("zoe", "analyst"))
    with pytest.raises(ServiceError, match="nothing was copied"):
        access.copy_from(old)
    assert access.find("zoe") is None
    old.close()


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
