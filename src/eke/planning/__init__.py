"""Planning: what to measure, how much noise, whether it is affordable. Blind to the data."""

from eke.planning.decide import (
    Decision,
    Facts,
    decide,
    decide_all,
    known_errors,
    narrowest_affordable,
)
from eke.planning.plan import Part, Plan, part_for
from eke.planning.policy import POLICIES, Policy, PolicyName, direct, policy_named, top_up
from eke.planning.requirement import Demand, Requirement
from eke.planning.statement import decide_statement
from eke.planning.statement_demand import StatementDemand, checked, renumbered, scale_of

__all__ = [
    "POLICIES",
    "Decision",
    "Demand",
    "Facts",
    "Part",
    "Plan",
    "Policy",
    "PolicyName",
    "Requirement",
    "StatementDemand",
    "checked",
    "decide",
    "decide_all",
    "decide_statement",
    "direct",
    "known_errors",
    "narrowest_affordable",
    "part_for",
    "policy_named",
    "renumbered",
    "scale_of",
    "top_up",
]
