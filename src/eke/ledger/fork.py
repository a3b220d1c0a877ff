"""Fork safety: a child process never closes, rolls back or uses a connection of its parent.

Between transactions the ledger holds no connection (SQLite), so a fork finds nothing to share.
When a process forks in the middle of a transaction, closing the inherited copy in the child would
roll back, that is delete the rollback journal that still protects the parent. So the child keeps
such connections alive for ever; the operating system drops them when the child ends.
"""

from __future__ import annotations

import ctypes
import os

from sqlalchemy import Connection

from eke.errors import LedgerError

_in_use: dict[int, Connection] = {}


def enlist(connection: Connection) -> None:
    """Mark a connection as being in the middle of a transaction."""
    _in_use[id(connection)] = connection


def dismiss(connection: Connection) -> None:
    """Mark a connection as finished with."""
    _in_use.pop(id(connection), None)


def require_owner(owner: int) -> None:
    """Nothing, or an error in a process that inherited the transaction instead of beginning it."""
    if os.getpid() != owner:
        raise LedgerError(
            "this process was forked in the middle of a ledger transaction, which stays with its "
            "parent; begin a new one here"
        )


def _abandon() -> None:
    for connection in _in_use.values():
        # One reference that nobody will ever give back: not even the end of the interpreter
        # finalises the connection.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
    _in_use.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon)
