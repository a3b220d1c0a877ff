"""Planning: what to measure, how much noise, whether it is affordable. Blind to the data."""

from eke.planning.decide import Decision, Facts, decide, known_errors, narrowest_affordable
from eke.planning.plan import Plan, plan_for
from eke.planning.policy import POLICIES, Policy, PolicyName, direct, policy_named, top_up
from eke.planning.requirement import Requirement

__all__ = [
    "POLICIES",
    "Decision",
    "Facts",
    "Plan",
    "Policy",
    "PolicyName",
    "Requirement",
    "decide",
    "direct",
    "known_errors",
    "narrowest_affordable",
    "plan_for",
    "policy_named",
    "top_up",
]
