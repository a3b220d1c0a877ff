"""Formulas as documents, for requests and their digests: {"sign": "/", "of": [..., ...]}."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import get_args

from eke.errors import QueryError
from eke.question.formula import Aggregate, Constant, Formula, Operation, Sign
from eke.question.ladder import checked_share
from eke.question.quantile import chosen_or_counted
from eke.question.square_root import Root

MOST_LEVELS = 40
_NUMBER = re.compile(r"-?[0-9]{1,120}(/[0-9]{1,120})?")
_FORM = (
    'a formula is {"answer": 0}, {"constant": "1/2"}, {"root": formula}, '
    '{"sign": "/", "of": [formula, formula]} or '
    '{"quantile": {"answer": 0}, "attribute": "age", "share": "1/2", "between": true}'
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
        case {"quantile": {"answer": int(index), **more}, "attribute": str(name), **rest} if (
            not more
            and 0 <= index < answers
            and rest.keys() - {"chosen"} == {"share", "between"}
            and rest.get("chosen", True) is True
        ):
            share, is_between, is_chosen = str(rest["share"]), rest["between"], "chosen" in rest
            if _NUMBER.fullmatch(share) and isinstance(is_between, bool):
                wanted = checked_share(_fraction(share))
                of = Aggregate(index)
                return chosen_or_counted(of, name, wanted, is_between, is_chosen=is_chosen)
        case {"sign": sign, "of": [left, right], **rest} if not rest and sign in get_args(Sign):
            parts = (formula_from_document(part, answers, levels - 1) for part in (left, right))
            return Operation(sign, *parts)
    raise QueryError(f"not a formula of {answers} answers; {_FORM}")


def _fraction(text: str) -> Fraction:
    try:
        return Fraction(text)
    except ZeroDivisionError:
        raise QueryError("a constant of a formula is divided by zero") from None
