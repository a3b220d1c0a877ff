"""Ledgers on the fastest disk there is: syncing to a real one is not what these tests look at."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from eke.ledger import Ledger

DOCUMENT = {"domain": ["a", "b"], "unit": "row", "policy": {"confidence": 0.95}}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    memory = Path("/dev/shm")
    if not memory.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as name:
        yield Path(name)


@pytest.fixture
def path(folder: Path) -> Path:
    return folder / "people.eke"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    return Ledger.create(path, DOCUMENT, limit=1000)


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
    """An edit by someone with a SQLite shell: no triggers, no checks, no foreign keys."""

    def edit_file(path: Path, *statements: tuple[object, ...]) -> int:
        changed = 0
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("PRAGMA ignore_check_constraints = ON")
            connection.execute("DROP TRIGGER IF EXISTS entry_no_update")
            connection.execute("DROP TRIGGER IF EXISTS entry_no_delete")
            for statement, *values in statements:
                changed += connection.execute(str(statement), values).rowcount
        return changed

    return edit_file
