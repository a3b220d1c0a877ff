"""What may be asked, and how it becomes a question over the domain of a dataset."""

from __future__ import annotations

from typing import TypeAlias

from eke.domain import Domain
from eke.errors import QueryError
from eke.privacy.unit import Unit
from eke.query import Askable, Expression, Marginal, MarginalExpression, Query
from eke.question import FormulaExpression, Question
from eke.question.expression import in_own_unit

Expressed: TypeAlias = Expression | MarginalExpression | FormulaExpression
Posed: TypeAlias = Expressed | Query | Marginal | Question
Asked: TypeAlias = str | Posed
"""A question as people write it: in SQL, as an expression, or tied to a domain already."""


def question_of(asked: Posed, domain: Domain) -> Question:
    """The question that is asked of a dataset; SQL is read elsewhere (`eke.sql`)."""
    if isinstance(asked, Askable):
        if asked.unit(domain) != 1:
            asked = in_own_unit(asked)
        elif (block := asked.on(domain)).grouped is not None:
            asked = Question.of_block(block)
    if isinstance(asked, FormulaExpression):
        asked = asked.on(domain)
    if not isinstance(asked, Question):
        raise QueryError(
            "a question is SQL or an expression such as eke.count(age=(30, 40)), "
            f"not {type(asked).__name__}"
        )
    if asked.domain != domain:
        raise QueryError("the question is over another domain than this dataset's")
    return asked


def of_unit(asked: Question, unit: Unit | None) -> Question:
    """The question, if there are people to be counted where it counts any."""
    if unit is None and any(block.inside.people for block in asked.blocks):
        raise QueryError(
            "people are counted where the table protects ids, and this one protects single rows; "
            "ask for eke.count(), or protect ids: eke.create(…, unit=eke.Unit('id', rows=k))"
        )
    return asked
