"""Accuracy: the suffixes ERROR WITHIN 60 and SPEND 0.05, which are eke's own and not SQL."""

from __future__ import annotations

from itertools import pairwise

from eke.question.accuracy import Accuracy
from eke.question.calendar import unit_seconds
from eke.sql.guard import SqlToken, scanned, single_statement
from eke.sql.place import SqlText

_FORM = "write ERROR WITHIN 60 AT CONFIDENCE 0.95 at the end of the statement"
_FORM_OF_GROUPS = "write ERROR WITHIN 1 FOR GROUPS OF 1000 at the end of the statement"
_FORM_OF_SHARES = "write ERROR WITHIN 2 PERCENT at the end of the statement"
_FORM_OF_LENGTHS = "write ERROR WITHIN 6 HOURS at the end of the statement"
_FORM_OF_PRICE = "write SPEND 0.05 at the end of the statement"
_INCOMPLETE = f"the accuracy is not complete or not at the end; {_FORM}"
_LARGEST = 1e300
_MOST_RECORDS = 10**15
# A number; with a confidence, with a size of groups, with both.
_LENGTHS = (1, 4, 5, 8)


def without_accuracy(
    text: SqlText, tokens: tuple[SqlToken, ...]
) -> tuple[tuple[SqlToken, ...], Accuracy | None]:
    """The tokens before the suffix, and what the suffix says."""
    at = next((i for i, pair in enumerate(pairwise(tokens)) if _begins(*pair)), None)
    if at is None:
        return tokens, None
    if not tokens[at].says("SPEND", "ERROR"):
        return tokens[:at], Accuracy(None, *_rest(text, tokens[at:]))
    is_price = tokens[at].says("SPEND")
    suffix = tokens[at + (1 if is_price else 2) :]
    is_share = not is_price and len(suffix) > 1 and suffix[1].says("PERCENT", "%")
    if is_share:
        suffix = (suffix[0], *suffix[2:])
    length = None if is_price or is_share else _length(suffix)
    if length is not None:
        given, taken = length
        _number(text, given, "the length after WITHIN", _LARGEST, _FORM_OF_LENGTHS)
        rest = suffix[taken:]
        if len(rest) + 1 not in _LENGTHS:
            raise text.error(suffix[taken - 1].start, _INCOMPLETE)
        unit = suffix[taken - 1].text.lower()
        return tokens[:at], Accuracy(f"{given.text} {unit}", *_rest(text, rest))
    if len(suffix) not in _LENGTHS:
        wrong = suffix[-1] if suffix else tokens[at]
        raise text.error(wrong.start, _INCOMPLETE)
    if is_price:
        price = _number(text, suffix[0], "the price after SPEND", _LARGEST, _FORM_OF_PRICE)
        return tokens[:at], Accuracy(None, *_rest(text, suffix[1:]), price)
    if is_share:
        _number(text, suffix[0], "the share after WITHIN", 100.0, _FORM_OF_SHARES)
        return tokens[:at], Accuracy(f"{suffix[0].text} %", *_rest(text, suffix[1:]))
    within = _number(text, suffix[0], "the half-width after WITHIN", _LARGEST)
    return tokens[:at], Accuracy(within, *_rest(text, suffix[1:]))


def states_accuracy(statement: str) -> bool:
    """Whether a statement says itself how accurate its answer must be, or what it may cost."""
    text = SqlText(statement)
    _, said = without_accuracy(text, single_statement(text, scanned(text)))
    return said is not None and (said.within is not None or said.spend is not None)


def _length(suffix: tuple[SqlToken, ...]) -> tuple[SqlToken, int] | None:
    """(number, tokens) of 6 HOURS or INTERVAL 6 HOURS; None where no length is given."""
    start = 1 if suffix and suffix[0].says("INTERVAL") else 0
    if len(suffix) < start + 2 or suffix[start].kind != "number":
        return None
    unit = suffix[start + 1]
    return (suffix[start], start + 2) if unit_seconds(unit.text) is not None else None


def _begins(first: SqlToken, second: SqlToken) -> bool:
    """True where a suffix begins; SPEND may be a column, and is none before a number only.

    Half-width and price may be given beside the statement, so that it ends with the rest of it.
    """
    if first.says("SPEND"):
        return second.kind == "number"
    pairs = (("ERROR", "WITHIN"), ("AT", "CONFIDENCE"), ("FOR", "GROUPS"))
    return any(first.says(one) and second.says(other) for one, other in pairs)


def _rest(text: SqlText, suffix: tuple[SqlToken, ...]) -> tuple[float | None, int | None]:
    """AT CONFIDENCE 0.95, FOR GROUPS OF 1000, both or neither."""
    confidence: float | None = None
    groups: int | None = None
    while suffix:
        head = [token.text.upper() for token in suffix[:3]]
        if confidence is None and head[:2] == ["AT", "CONFIDENCE"] and len(suffix) >= 3:
            confidence = _number(text, suffix[2], "the confidence", 1.0)
            suffix = suffix[3:]
        elif groups is None and head == ["FOR", "GROUPS", "OF"] and len(suffix) >= 4:
            groups = _whole(text, suffix[3])
            suffix = suffix[4:]
        elif len(suffix) == 3:
            raise text.error(suffix[0].start, f"the accuracy cannot be read; {_FORM}")
        else:
            raise text.error(suffix[-1].start, _INCOMPLETE)
    return confidence, groups


def _number(text: SqlText, token: SqlToken, what: str, below: float, form: str = _FORM) -> float:
    most = 30 if below == 100.0 else 400
    value = float(token.text) if token.kind == "number" and len(token.text) < most else -1.0
    if not 0.0 < value < below:
        upper = f" and below {below:g}" if below <= 100.0 else ""
        raise text.error(token.start, f"{what} must be a number above 0{upper}; {form}")
    return value


def _whole(text: SqlText, token: SqlToken) -> int:
    digits = token.text if token.kind == "number" and token.text.isdecimal() else ""
    if not digits or len(digits) > 16 or not 0 < int(digits) <= _MOST_RECORDS:
        raise text.error(
            token.start, f"the size of a group must be a whole number above 0; {_FORM_OF_GROUPS}"
        )
    return int(digits)
