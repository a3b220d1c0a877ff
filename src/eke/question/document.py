"""Formulas as documents, for requests and their digests: {"sign": "/", "of": [..., ...]}."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import get_args

from eke.errors import QueryError
from eke.question.formula import Aggregate, Constant, Formula, Operation, Root, Sign

MOST_LEVELS = 40
_NUMBER = re.compile(r"-?[0-9]{1,120}(/[0-9]{1,120})?")
_FORM = (
    'a formula is {"answer": 0}, {"constant": "1/2"}, {"root": formula} or '
    '{"sign": "/", "of": [formula, formula]}'
)


def formula_from_document(document: object, answers: int, levels: int = MOST_LEVELS) -> Formula:
    """The formula of so many answers that `Formula.to_document` wrote down."""
    if levels < 1:
        raise QueryError(f"a formula may have at most {MOST_LEVELS} levels")
    match document:
        case {"constant": str(text), **rest} if not rest and _NUMBER.fullmatch(text):
            return Constant(_fraction(text))
        case {"answer": int(index), **rest} if not rest and 0 <= index < answers:
            return Aggregate(index)
        case {"root": of, **rest} if not rest:
            return Root(formula_from_document(of, answers, levels - 1))
        case {"sign": sign, "of": [left, right], **rest} if not rest and sign in get_args(Sign):
            parts = (formula_from_document(part, answers, levels - 1) for part in (left, right))
            return Operation(sign, *parts)
    raise QueryError(f"not a formula of {answers} answers; {_FORM}")


def _fraction(text: str) -> Fraction:
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise QueryError("a constant of a formula is divided by zero") from None
