"""What every entry requires of its amounts, names and answers, whoever writes it."""

from __future__ import annotations

from eke.errors import LedgerError
from eke.ledger.chain import answer_digest

#: The largest amount that a signed 64-bit column holds.
LARGEST_AMOUNT = 2**63 - 1
LONGEST_NAME = 255


def require_amount(value: object, name: str) -> int:
    """The value, when it is a whole number of nano-units; an error for anything else, NaN too."""
    if type(value) is not int or not 0 <= value <= LARGEST_AMOUNT:
        raise LedgerError(f"{name} must be a whole number of nano-units from 0 to 2^63 - 1")
    return value


def require_name(value: object, name: str) -> None:
    """Nothing, or an error unless the value is a short printable text."""
    if not isinstance(value, str) or not value or not value.isprintable():
        raise LedgerError(f"{name} must be a non-empty printable text")
    if len(value) > LONGEST_NAME:
        raise LedgerError(f"{name} must have at most {LONGEST_NAME} characters; use a hash of it")


def require_answer(answer: object) -> str:
    """The digest of an answer, or an error unless it is text that every database can hold."""
    if not isinstance(answer, str) or "\0" in answer:
        raise LedgerError("an answer must be text without NUL characters, such as JSON")
    return answer_digest(answer)
