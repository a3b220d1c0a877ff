"""What is decided about one query or marginal, by way of the question that it is."""

from __future__ import annotations

from eke.planning import Decision, Facts, Policy, QuestionDemand, Requirement, checked
from eke.planning import decide as decide_question
from eke.query import Marginal, Query
from eke.question import Question


def decide(
    block: Query | Marginal, requirement: Requirement, facts: Facts, policy: Policy
) -> Decision:
    question = Question.of_block(block)
    within = tuple(None if column.is_key else requirement.within for column in question.columns)
    demand = checked(QuestionDemand(question, within, requirement.confidence))
    return decide_question(demand, facts, policy)
