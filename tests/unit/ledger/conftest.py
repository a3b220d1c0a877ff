"""Ledgers on the fastest disk there is: syncing to a real one is not what these tests look at.

A test that asks for `ledger` or `where` runs on every back end, a SQLite file and a PostgreSQL
server. One that asks for `path` or `folder` is about files.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from eke.ledger import Ledger
from eke.ledger.dialect import locate
from eke.ledger.postgresql import Server as ServerPlace
from tests.postgresql_server import Server

_CHECKS = """SELECT conrelid::regclass::text, conname FROM pg_constraint
    WHERE connamespace = %s::regnamespace AND contype = 'c'"""
DOCUMENT = {"domain": ["a", "b"], "unit": "row", "policy": {"confidence": 0.95}}


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "people.eke"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    asked = set(metafunc.fixturenames)
    if "where" in asked:
        every = ["sqlite"] if asked & {"path", "folder"} else ["sqlite", "postgresql"]
        metafunc.parametrize("where", every, indirect=True)


@pytest.fixture
def where(request: pytest.FixtureRequest) -> str:
    """The place of a ledger that is still to be made."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("path"))
    address: str = request.getfixturevalue("new_address")()
    return address


@pytest.fixture
def new_address(postgresql: Server) -> Callable[[], str]:
    """Addresses of datasets that nobody else uses."""
    return lambda: postgresql.address(f"test_{secrets.token_hex(8)}")


@pytest.fixture
def ledger(where: str) -> Ledger:
    return Ledger.create(where, DOCUMENT, limit=1000)


@pytest.fixture
def spend() -> Callable[..., str]:
    """One whole release: reserve, pretend to measure, commit."""

    def spend_once(ledger: Ledger, key: str, cost: int = 10, analyst: str = "ann") -> str:
        with ledger.exclusive() as book:
            reservation = book.reserve(
                analyst=analyst,
                key=key,
                digest=f"digest of {key}",
                payload={"query": key},
                spent_after=book.spent + cost,
            )
        with ledger.exclusive() as book:
            return book.commit(reservation.sequence, {"value": 7}, f'{{"of":"{key}"}}').answer

    return spend_once


@pytest.fixture
def edit() -> Callable[..., int]:
    """An edit by someone with a shell of the database: no triggers, no checks, no foreign keys."""

    def edit_place(where: str | Path, *statements: tuple[object, ...]) -> int:
        return (edit_server if "://" in str(where) else edit_file)(str(where), *statements)

    def edit_server(address: str, *statements: tuple[object, ...]) -> int:
        place = locate(address)
        assert isinstance(place, ServerPlace)
        changed = 0
        with psycopg.connect(address.partition("&dataset=")[0]) as connection:
            connection.execute(SQL("SET search_path = {}").format(Identifier(place.dataset)))
            connection.execute("SET session_replication_role = replica")  # no triggers, no keys
            for table, name in connection.execute(_CHECKS, [place.dataset]).fetchall():
                drop = SQL("ALTER TABLE {} DROP CONSTRAINT {}")
                connection.execute(drop.format(Identifier(table), Identifier(name)))
            for statement, *values in statements:
                text = str(statement).replace("?", "%s").replace("ifnull", "coalesce")
                changed += connection.execute(text.encode(), values or None).rowcount
        return changed

    def edit_file(path: str, *statements: tuple[object, ...]) -> int:
        changed = 0
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("DROP TRIGGER IF EXISTS entry_no_update")
            connection.execute("DROP TRIGGER IF EXISTS entry_no_delete")
            for statement, *values in statements:
                changed += connection.execute(str(statement), values).rowcount
        return changed

    return edit_place
