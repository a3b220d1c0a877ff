"""A disk that is full, broken, read-only or locked at each write of a release, one after another.

`python disk_driver.py <scenario> <place> <passes>` prints one JSON object; the place is a folder,
or a PostgreSQL address that ends where the name of a dataset goes on. The failure is raised where
the database would report it: in place of a statement that writes, in place of a COMMIT, or right
after a COMMIT that did happen. After each, nothing may be out that is not on record, and a retry
with the same key must be charged and answered once.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import psycopg
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import OperationalError

from eke.errors import EkeError, LedgerError
from eke.ledger import Book, Ledger
from tests.system.ledger_driver import dataset
from tests.system.release_driver import ask, autopsy, create

KINDS = {
    "ENOSPC": ("SQLITE_FULL", psycopg.errors.DiskFull),
    "EIO": ("SQLITE_IOERR_WRITE", psycopg.errors.IoError),
    "read-only": ("SQLITE_READONLY", psycopg.errors.ReadOnlySqlTransaction),
    "locked": ("SQLITE_BUSY", psycopg.errors.LockNotAvailable),
}
WRITES = ("INSERT", "UPDATE", "DELETE", "BEGIN IMMEDIATE")


class Faults:
    """Fails one write: the n-th that is made after it was armed."""

    def __init__(self) -> None:
        self._cause: Exception | None = None
        self._left = 0
        self._late = False
        self._writing: set[int] = set()  # connections with something to commit
        event.listen(Engine, "before_cursor_execute", self._statement)
        event.listen(Engine, "commit", self._commit)

    @property
    def armed(self) -> bool:
        return self._cause is not None

    def arm(self, kind: str, at: int, *, server: bool, late: bool) -> None:
        """Fail the write number `at`, from 0; with `late` only COMMITs count, and they happen."""
        name, state = KINDS[kind]
        self._cause = state() if server else _sqlite_error(name)
        self._left, self._late = at, late
        self._writing.clear()

    def disarm(self) -> None:
        self._cause = None

    def _statement(self, connection: Connection, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.lstrip().upper().startswith(WRITES):
            self._writing.add(id(connection))
            if not self._late:
                self._pass(statement)

    def _commit(self, connection: Connection) -> None:
        if id(connection) in self._writing:
            self._writing.discard(id(connection))
            if self.armed and self._left == 0:
                if self._late:
                    connection.connection.commit()  # it happened, and nobody is told
                else:
                    connection.connection.rollback()  # as a COMMIT that fails does
            self._pass("COMMIT")

    def _pass(self, statement: str) -> None:
        if self._cause is None:
            return
        if self._left:
            self._left -= 1
            return
        cause, self._cause = self._cause, None
        raise OperationalError(statement, None, cause)


def _sqlite_error(name: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(name)
    error.sqlite_errorname = name
    return error


def failures(place: str, passes: int, kinds: Sequence[str] = tuple(KINDS)) -> dict[str, object]:
    """Each kind of failure at each write of a release, until there is no further write."""
    faults = Faults()
    problems: list[str] = []
    injected: dict[str, int] = {}
    for late in (False, True):
        for kind in kinds:
            for at in range(passes):
                name = f"{kind}{' after COMMIT' if late else ''}"
                where = dataset(place, f"disk_{late:d}_{list(KINDS).index(kind)}_{at}")
                session = create(where, epsilon=10.0)
                faults.arm(kind, at, server="://" in place, late=late)
                said, wrong = attempt(session)
                if faults.armed:  # the release has fewer writes
                    faults.disarm()
                    break
                injected[name] = injected.get(name, 0) + 1
                problems += [f"{name} at write {at}: {text}" for text in wrong]
                problems += [f"{name} at write {at}: {text}" for text in examined(where, said)]
            else:
                problems.append(f"{kind}: a release has more than {passes} writes")
    return {"injected": injected, "problems": problems}


def attempt(session: Any) -> tuple[list[list[str]], list[str]]:
    """What a caller saw of a release, and whether that was an error of another kind."""
    said = [["started", "0"]]
    try:
        text = ask(session, 0, "key-0").replace(" ", "")
    except LedgerError:
        return said, []
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
        return said, [f"ended in a {type(error).__name__} instead of an error of the ledger"]
    return [*said, ["released", "0", text]], []


def examined(where: str, said: list[list[str]]) -> list[str]:
    """What is wrong afterwards; a ledger that cannot be examined is wrong, too."""
    try:
        return autopsy(where, said)[0]
    except (EkeError, AssertionError) as error:
        return [f"cannot be examined: {type(error).__name__}"]


def swallowed(place: str, passes: int) -> dict[str, object]:
    """The positive control: whoever ignores that a write failed is found out."""
    original = Ledger.exclusive

    @contextmanager
    def careless(self: Ledger) -> Iterator[Book]:
        with suppress(LedgerError), original(self) as book:
            yield book

    Ledger.exclusive = careless  # type: ignore[method-assign]
    return failures(place, passes, ["ENOSPC"])


SCENARIOS: dict[str, Callable[[str, int], dict[str, object]]] = {
    "failures": failures,
    "swallowed": swallowed,
}

if __name__ == "__main__":
    scenario, where, count = sys.argv[1:]
    sys.stdout.write(json.dumps(SCENARIOS[scenario](where, int(count))))
