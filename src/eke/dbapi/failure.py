"""The exceptions of DB-API 2.0, and which of them stands for which error of eke.

EkeError
└── Error
    ├── InterfaceError
    └── DatabaseError
        ├── DataError
        ├── OperationalError     refusals, missing files, a ledger in use
        ├── IntegrityError       a ledger that is not intact, a key used before
        ├── InternalError
        ├── ProgrammingError     SQL that cannot be answered, accuracy that makes no sense
        └── NotSupportedError
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from eke import errors


class Warning(Exception):  # noqa: A001 - named by PEP 249
    """Part of the interface; eke never raises it."""


class Error(errors.EkeError):
    """Root of everything that this module raises on purpose."""


class InterfaceError(Error):
    """The interface was used wrongly, for example after it was closed."""


class DatabaseError(Error):
    """The dataset could not do what was asked."""


class DataError(DatabaseError):
    """Part of the interface; values that cannot be processed."""


class OperationalError(DatabaseError):
    """It did not work now; `refusal` is set when a question was refused."""

    def __init__(self, message: str, refusal: object = None) -> None:
        super().__init__(message)
        self.refusal = refusal


class IntegrityError(DatabaseError):
    """The ledger was edited or replaced by an older copy; nothing is released."""


class InternalError(DatabaseError):
    """A fault within eke."""


class ProgrammingError(DatabaseError):
    """The question, its parameters or its accuracy make no sense."""


class NotSupportedError(DatabaseError):
    """Something that a protected dataset does not do, such as writing."""


_STANDS_FOR: tuple[tuple[type[errors.EkeError], type[DatabaseError]], ...] = (
    (errors.BudgetExceeded, OperationalError),
    (errors.LedgerTampered, IntegrityError),
    (errors.KeyConflict, IntegrityError),
    (errors.LedgerError, OperationalError),
    (errors.DataError, OperationalError),
    (errors.SecretLeak, InternalError),
    (errors.ReleaseFailed, OperationalError),
    (errors.EstimateError, OperationalError),
    (errors.ServiceError, OperationalError),
    (errors.EkeError, ProgrammingError),
)


@contextmanager
def translated() -> Iterator[None]:
    """Within it eke's own errors become those of DB-API; the original one is their cause."""
    try:
        yield
    except Error:
        raise
    except errors.EkeError as problem:
        kind = next(kind for of, kind in _STANDS_FOR if isinstance(problem, of))
        if kind is OperationalError:
            refusal = getattr(problem, "refusal", None)
            raise OperationalError(str(problem), refusal) from problem
        raise kind(str(problem)) from problem
