"""Question: what may be asked, and how it is tied to the domain of a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from eke.domain import Domain
from eke.errors import QueryError
from eke.query import Expression, Marginal, MarginalExpression, Query

Question: TypeAlias = str | Expression | MarginalExpression | Query | Marginal
Within: TypeAlias = float | Mapping[str, float] | None
"""A half-width for all values, one for each column of a statement, or none given."""
MOST_CELLS = 4096


def bound(question: Question, domain: Domain) -> Query | Marginal:
    """The question over the domain; SQL is read elsewhere (`eke.sql`)."""
    if isinstance(question, (Expression, MarginalExpression)):
        found: Query | Marginal = question.on(domain)
    elif isinstance(question, (Query, Marginal)):
        if question.domain != domain:
            raise QueryError("the question is over another domain than this dataset's")
        found = question
    else:
        raise QueryError(
            "a question is SQL or an expression such as eke.count(age=(30, 40)), "
            f"not {type(question).__name__}"
        )
    if isinstance(found, Marginal) and found.cells > MOST_CELLS:
        raise QueryError(
            f"a marginal of {found.cells:,} cells cannot be asked online; "
            f"at most {MOST_CELLS:,} can"
        )
    return found
