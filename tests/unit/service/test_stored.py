"""Accounts and jobs that were stored before: files and schemas that older programs have made.

What is in tests/fixtures/accounts is never written again.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import NullPool, create_engine, inspect

from eke.errors import ServiceError
from eke.service import Access, Account
from eke.service.account import TokenRecord
from eke.service.job_store import LEASE_SECONDS, Job, JobStore
from eke.service.storage import open_storage
from tests.postgresql_server import Server
from tests.service import Clock

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures/accounts"
NOW = 1_800_000_000.123457
TOKENS = [f"eke_{number:012x}_{'A' * 43}" for number in (1, 2, 3)]
ACCOUNTS = [
    Account("ann", "analyst", ("adult", "census")),
    Account("cleo", "curator"),
    Account("olaf", "auditor", ()),
]


def revived(name: str, path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((FIXTURES / f"{name}.sql").read_text("utf-8"))
    return str(path)


@pytest.fixture(params=["sqlite", "postgresql"])
def stored(request: pytest.FixtureRequest, folder: Path) -> str:
    """A place as version 2 has left it, without SQLAlchemy."""
    if request.param == "sqlite":
        return revived("sqlite-2", folder / "access.db")
    server: Server = request.getfixturevalue("postgresql")
    schema = f"stored_{secrets.token_hex(8)}"
    text = (FIXTURES / "postgresql-2.sql").read_text("utf-8")
    with psycopg.connect(server.address(), autocommit=True) as connection:
        connection.execute(text.replace('"eke_access"', f'"{schema}"').encode())
    return server.address(schema)


@pytest.fixture
def clock() -> Clock:
    made = Clock()
    made.now = NOW + 10
    return made


@pytest.fixture
def access(stored: str, clock: Clock) -> Iterator[Access]:
    with closing(Access(stored, clock)) as opened:
        yield opened


def test_it_is_read_as_it_was_written(access: Access) -> None:
    assert access.accounts() == ACCOUNTS
    assert sorted(access.tokens(), key=lambda one: one.identity) == [
        TokenRecord("000000000001", "ann", NOW, None, None),
        TokenRecord("000000000002", "ann", NOW, NOW + 9 * 86_400, None),
        TokenRecord("000000000003", "cleo", NOW, None, NOW + 1),
    ]
    first, second, revoked = (access.by_token(text) for text in TOKENS)
    assert first is not None
    assert second is not None
    assert (first.account, second.account, revoked) == (ACCOUNTS[0], ACCOUNTS[0], None)
    browser = access.by_cookie("B" * 43)
    assert browser is not None
    assert (browser.account, browser.csrf) == (ACCOUNTS[0], "C" * 43)


def test_it_is_changed(access: Access, stored: str, clock: Clock) -> None:
    access.add(Account("zoe", "analyst"))
    with pytest.raises(ServiceError, match="already"):
        access.add(Account("ann", "curator"))
    token = access.new_token("zoe")
    access.revoke("000000000001")
    with closing(Access(stored, clock)) as again:
        assert [account.name for account in again.accounts()] == ["ann", "cleo", "olaf", "zoe"]
        assert again.by_token(token.text) is not None
        assert again.by_token(TOKENS[0]) is None
        assert again.by_cookie("B" * 43) is None, "the session ends with its token"


def test_its_jobs_are_read_and_go_on(access: Access, clock: Clock) -> None:
    jobs = JobStore(access.storage, clock)
    assert jobs.get("job-done") == Job(
        *("job-done", "adult", "ann", "key-done", {"mechanism": "lda", "name": "Zoë's"}),
        state="done",
        step="done",
        progress=1.0,
        made_at=NOW + 4,
        ended_at=NOW + 6,
        result=2**53 + 1,
        owner="0123456789abcdef",
        alive_at=NOW + 6,
    )
    failed = jobs.find("adult", "ann", "key-failed")
    assert failed is not None
    assert failed.error == {"error": "DataError", "status": 503}
    states = {job.id: (job.state, job.unwanted) for job in jobs.of("adult")}
    assert states["job-given"] == ("given_up", True)
    assert [job.id for job in jobs.unfinished()] == ["job-queued", "job-running"]
    clock.now += LEASE_SECONDS
    assert jobs.unfinished() == []
    assert not jobs.add("other", "adult", "ann", "key-done", "{}"), "a key has one job"
    assert jobs.again("job-running")
    assert jobs.begin("job-running", "checking")
    jobs.end("job-running", "done", result=4)
    ended = jobs.get("job-running")
    assert ended is not None
    assert (ended.state, ended.result, ended.owner) == ("done", 4, jobs.owner)


@pytest.mark.parametrize(
    ("name", "states"),
    [("sqlite-1", []), ("sqlite-1-served", ["done", "failed", "interrupted"])],
)
def test_a_file_of_the_first_version_is_brought_up_to_date(
    name: str, states: list[str], folder: Path, clock: Clock
) -> None:
    """Its accounts and its jobs stay; a file that no server used had no table of jobs."""
    path = revived(name, folder / "access.db")
    for _ in range(2):
        with closing(Access(path, clock)) as access:
            assert access.accounts() == ACCOUNTS
            assert access.by_token(TOKENS[0]) is not None
            jobs = JobStore(access.storage, clock).of("adult")
            assert sorted(job.state for job in jobs) == states
            assert {job.owner for job in jobs} <= {""}
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (3,)


def test_new_tables_are_like_stored_ones(stored: str, folder: Path, postgresql: Server) -> None:
    """The same names, types, defaults and constraints."""
    shared = "://" in stored
    fresh = postgresql.address(f"new_{secrets.token_hex(8)}") if shared else str(folder / "new.db")
    for place in (fresh, stored):
        open_storage(place).close()
    assert described(fresh) == described(stored)


def described(place: str) -> dict[str, object]:
    """The tables of a place, without the names of those constraints that nobody calls by name."""
    if "://" not in place:
        engine, schema = create_engine(f"sqlite:///{place}", poolclass=NullPool), None
    else:
        address, _, schema = place.replace("://", "+psycopg://").partition("&dataset=")
        engine = create_engine(address, poolclass=NullPool)
    seen = inspect(engine)
    found: dict[str, object] = {}
    for table in seen.get_table_names(schema):
        key = seen.get_pk_constraint(table, schema)["constrained_columns"]
        found[table] = {
            "options": seen.get_table_options(table, schema),
            "key": key,
            # A key of SQLite could be NULL, and is not by now.
            "columns": [
                (one["name"], repr(one["type"]), one["nullable"] and one["name"] not in key)
                for one in seen.get_columns(table, schema)
            ],
            "defaults": [one["default"] for one in seen.get_columns(table, schema)],
            "checks": [one["sqltext"] for one in seen.get_check_constraints(table, schema)],
            "once": [one["column_names"] for one in seen.get_unique_constraints(table, schema)],
            "points": [
                (one["constrained_columns"], one["referred_table"], one["referred_columns"])
                for one in seen.get_foreign_keys(table, schema)
            ],
        }
    return found
