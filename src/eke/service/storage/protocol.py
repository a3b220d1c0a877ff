"""What accounts and jobs need from the place where they are kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, TypeAlias

from sqlalchemy import ColumnElement, Select, Table
from sqlalchemy import Row as Found
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import UpdateBase

from eke.errors import ServiceError
from eke.service.failure import Problem
from eke.service.storage.schema import StorageTables

Row: TypeAlias = Found[*tuple[Any, ...]]
Query: TypeAlias = Select[*tuple[Any, ...]]
Change: TypeAlias = UpdateBase
Condition: TypeAlias = ColumnElement[bool]
Run: TypeAlias = Callable[[Change], int]


class Storage(Protocol):
    """A few tables, read and written with statements made of them; threads may share it."""

    @property
    def place(self) -> str:
        """The path or address, without a password."""

    @property
    def shared(self) -> bool:
        """Whether several servers may keep their things here at the same time."""

    @property
    def tables(self) -> StorageTables:
        """The tables, by the names that they have here."""

    def insert(self, table: Table) -> sqlite.Insert | postgresql.Insert:
        """An INSERT that can say what to do when the row is there already."""

    def read(self, statement: Query, **values: object) -> Sequence[Row]:
        """The rows that a SELECT finds, as they are committed now."""

    def writing(self) -> AbstractContextManager[Run]:
        """A transaction: what runs a statement in it and says how many rows it changed.

        It is on disk when the block has ended, and undone when the block raises.
        """

    def time(self) -> float:
        """Seconds since 1970 on the one clock that all users of this place share."""

    def beside(self) -> Storage:
        """The same place by a way that does not wait for what is written here."""

    def close(self) -> None:
        """Give back what was opened."""


class StorageUnavailable(Problem, ServiceError):
    """Accounts and jobs cannot be reached; the operator reads why, a caller only that it is so.

    Privacy: nothing is answered to somebody who cannot be recognised.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(
            503,
            "ServiceError",
            "accounts and jobs cannot be reached at the moment; nothing was released. Send it "
            "again in a moment: with the same Idempotency-Key it is never charged twice",
            retry_after=5,
        )
        self._reason = reason

    def __str__(self) -> str:
        return self._reason
