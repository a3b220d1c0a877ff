"""What is decided about one query or marginal, by way of the question that it is."""

from __future__ import annotations

from eke.planning import Decision, Facts, Policy, QuestionDemand, Requirement, checked
from eke.planning import decide as decide_question
from eke.query import Marginal, Query
from eke.question import Question


def decide(
    block: Query | Marginal, requirement: Requirement, facts: Facts, policy: Policy
) -> Decision:
    return decide_question(demand_of(block, requirement), facts, policy)


def demand_of(block: Query | Marginal, requirement: Requirement) -> QuestionDemand:
    """The demand for the question that a query or a marginal is."""
    question = Question.of_block(block)
    within = tuple(None if column.is_key else requirement.within for column in question.columns)
    return checked(QuestionDemand(question, within, requirement.confidence))
