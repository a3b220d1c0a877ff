"""The one tree of errors. Each says what to do next; none carries a data value.

EkeError
├── DomainError          a domain, attribute or declared rule is malformed
├── QueryError           a question cannot be put as a linear query over the domain
│   └── SqlError         a SQL text cannot be answered; says where and what to write instead
├── AccuracyError        `within`, `confidence` or another accuracy argument makes no sense
├── PrivacyError         a privacy parameter (limit, unit, neighbours, noise law) makes no sense
├── FactError            something known from outside makes no sense or contradicts what is known
├── DataError            the protected table cannot be read as declared
├── BudgetExceeded       the limit does not allow it; nothing was spent
│   └── Refused          it was refused, maybe for a guarded claim; says what there is instead
├── LedgerError          the ledger file cannot be used; nothing was released
│   ├── LedgerTampered   the hash chain, the balance or a high-water mark does not hold
│   └── KeyConflict      an idempotency key was used before for another request
├── ReleaseFailed        what was charged and measured could not be made into an answer
├── EstimateError        history does not determine the question
├── ServiceError         a server, its settings or its accounts cannot do what was asked
│   ├── AccessDenied     who asks is not known there, or may not do this
│   └── Unanswered       a server gave no proper answer; it may have acted on the request
└── SecretLeak           something tried to look at an exact answer
"""

from __future__ import annotations


class EkeError(Exception):
    """Root of everything that eke raises on purpose; see docs/reference/errors.md.

    Example:
        >>> try:
        ...     eke.Integer(9, 0)
        ... except eke.EkeError as problem:
        ...     print(problem)
        Integer(9, 0): the lower bound is the larger; swap them
    """


class DomainError(EkeError, ValueError):
    """A domain, attribute or declared rule is malformed."""


class QueryError(EkeError, ValueError):
    """A question cannot be put as a linear query over the domain."""


class SqlError(QueryError):
    """A SQL text cannot be answered; the message starts with the place, as line:column."""

    def __init__(self, message: str, line: int = 1, column: int = 1) -> None:
        super().__init__(message, line, column)
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {self.args[0]}"


class AccuracyError(EkeError, ValueError):
    """An accuracy requirement makes no sense."""


class PrivacyError(EkeError, ValueError):
    """A privacy parameter makes no sense."""


class FactError(EkeError, ValueError):
    """Something known from outside makes no sense, or contradicts what is known already."""


class DataError(EkeError):
    """The protected table cannot be read as declared."""


class BudgetExceeded(EkeError):
    """The limit does not allow it; nothing was spent."""


class Refused(BudgetExceeded):
    """It was refused without spending; `refusal` says of a question what is available instead.

    Attributes:
        refusal: a `Preview`, with the half-width that is free now and the narrowest one to be had,
            or the claims that are guarded against it; None of a release or a publication.

    Example:
        >>> try:
        ...     session.ask(eke.count(sex="F"), within=1)
        ... except eke.Refused as refused:
        ...     print(round(refused.refusal.narrowest, 2))
        3.0
    """

    def __init__(self, message: str, refusal: object = None) -> None:
        super().__init__(message)
        self.refusal = refusal


class LedgerError(EkeError):
    """The ledger cannot be used; nothing was released."""


class LedgerTampered(LedgerError):
    """The ledger was edited, truncated or replaced by an older copy; nothing is released."""


class KeyConflict(LedgerError):
    """An idempotency key was used before for another request."""


class ReleaseFailed(EkeError):
    """What was charged and measured could not be made into an answer; it stays in the history."""


class EstimateError(EkeError):
    """The history does not determine the question."""


class ServiceError(EkeError):
    """A server, its settings or its accounts cannot do what was asked."""


class AccessDenied(ServiceError):
    """Who asks is not known there, or may not do this."""


class Unanswered(ServiceError):
    """A server gave no proper answer; whether it acted on the request is not known."""


class SecretLeak(EkeError):
    """Something tried to look at an exact answer."""
