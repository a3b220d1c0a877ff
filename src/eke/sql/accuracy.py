"""Accuracy: the suffix ERROR WITHIN 60 AT CONFIDENCE 0.95, which is eke's own and not SQL."""

from __future__ import annotations

from itertools import pairwise

from eke.question.accuracy import Accuracy
from eke.sql.guard import SqlToken
from eke.sql.place import SqlText

_FORM = "write ERROR WITHIN 60 AT CONFIDENCE 0.95 at the end of the statement"
_LARGEST = 1e300


def without_accuracy(
    text: SqlText, tokens: tuple[SqlToken, ...]
) -> tuple[tuple[SqlToken, ...], Accuracy | None]:
    """The tokens before the suffix, and what the suffix says."""
    places = [
        i
        for i, (one, two) in enumerate(pairwise(tokens))
        if one.says("ERROR") and two.says("WITHIN")
    ]
    if not places:
        return tokens, None
    at = places[0]
    suffix = tokens[at + 2 :]
    if len(suffix) not in (1, 4):
        wrong = tokens[at] if not suffix else suffix[-1]
        raise text.error(wrong.start, f"the accuracy is not complete or not at the end; {_FORM}")
    within = _number(text, suffix[0], "the half-width after WITHIN", _LARGEST)
    if len(suffix) == 1:
        return tokens[:at], Accuracy(within)
    if not (suffix[1].says("AT") and suffix[2].says("CONFIDENCE")):
        raise text.error(suffix[1].start, f"the accuracy cannot be read; {_FORM}")
    return tokens[:at], Accuracy(within, _number(text, suffix[3], "the confidence", 1.0))


def _number(text: SqlText, token: SqlToken, what: str, below: float) -> float:
    value = float(token.text) if token.kind == "number" and len(token.text) < 400 else -1.0
    if not 0.0 < value < below:
        upper = " and below 1" if below == 1.0 else ""
        raise text.error(token.start, f"{what} must be a number above 0{upper}; {_FORM}")
    return value
