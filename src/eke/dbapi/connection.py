"""Connection: a dataset opened for code that speaks DB-API 2.0."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Self

from eke.dbapi import failure
from eke.dbapi.cursor import Cursor
from eke.dbapi.failure import InterfaceError, translated
from eke.session import Aim, Dataset, Within, open_dataset


def connect(
    dataset: str | os.PathLike[str] | Dataset,
    within: Within = None,
    confidence: float = 0.95,
    *,
    analyst: str | None = None,
    data: Any = None,
    mark: str | None = None,
    policy: str | None = None,
    spend: float | None = None,
    groups_of: int | None = None,
) -> Connection:
    """A connection to a dataset, given by its path or open already, here or on a server.

    `within` and `confidence` are the accuracy of every question that does not say its own with
    ERROR WITHIN … AT CONFIDENCE …; `spend`, instead of `within`, is what each of them may cost, and
    `groups_of` holds for averages and ratios. The other arguments are those of `eke.open` and
    `ask`.
    """
    with translated():
        if isinstance(dataset, Dataset):
            session = dataset
        else:
            session = open_dataset(dataset, data=data, analyst=analyst, mark=mark)
    return Connection(
        session,
        Aim(within, confidence, spend, groups_of),
        confidence=confidence,
        analyst=analyst,
        policy=policy,
    )


class Connection:
    """Made by `connect`. Nothing can be written, so there is nothing to commit or roll back."""

    Warning = failure.Warning
    Error = failure.Error
    InterfaceError = failure.InterfaceError
    DatabaseError = failure.DatabaseError
    DataError = failure.DataError
    OperationalError = failure.OperationalError
    IntegrityError = failure.IntegrityError
    InternalError = failure.InternalError
    ProgrammingError = failure.ProgrammingError
    NotSupportedError = failure.NotSupportedError

    def __init__(
        self,
        session: Dataset,
        aim: Aim,
        *,
        confidence: float,
        analyst: str | None,
        policy: str | None,
    ) -> None:
        self.session = session
        self.aim = aim
        self.confidence = confidence
        self.analyst = analyst
        self.policy = policy
        self.closed = False

    def cursor(self) -> Cursor:
        """A new cursor; each has its own rows."""
        self._require_open()
        return Cursor(self)

    def commit(self) -> None:
        """Part of the interface: an answer is durable before it is returned."""
        self._require_open()

    def rollback(self) -> None:
        """Part of the interface. Privacy: what was spent stays spent; nothing is taken back."""
        self._require_open()

    def close(self) -> None:
        """The connection and its cursors cannot be used afterwards."""
        self.closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _require_open(self) -> None:
        if self.closed:
            raise InterfaceError("the connection was closed; open a new one with connect(...)")
