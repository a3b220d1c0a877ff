"""Planning: what to measure, how much noise, whether it is affordable. Blind to the data."""

from eke.planning.consistency import consistent_tables
from eke.planning.decide import decide
from eke.planning.decision import Decision, decide_demands
from eke.planning.facts import Facts, known_errors
from eke.planning.look_ahead import look_ahead
from eke.planning.past import Past
from eke.planning.plan import Part, Plan, part_for
from eke.planning.policy import (
    POLICIES,
    FallsShort,
    Policy,
    PolicyName,
    only_history,
    policy_named,
)
from eke.planning.question_demand import QuestionDemand, checked
from eke.planning.release import ReleasePlan, plan_of_block, plan_release
from eke.planning.release.accuracies import plan_for_accuracies
from eke.planning.rent import direct, narrowest_affordable, top_up
from eke.planning.requirement import Demand, Requirement
from eke.planning.strategy.matrices import MatrixStrategy
from eke.planning.suggestion import Point, Suggestion, suggestions
from eke.planning.whole_numbers import whole_tables
from eke.planning.workload import (
    Target,
    Workload,
    all_marginals,
    grouping_sets,
    marginals_and_half_above,
    marginals_and_those_with,
    marginals_up_to,
    prefixes,
    ranges,
)
from eke.planning.workload_document import workload_from_document, workload_to_document

__all__ = [
    "POLICIES",
    "Decision",
    "Demand",
    "Facts",
    "FallsShort",
    "MatrixStrategy",
    "Part",
    "Past",
    "Plan",
    "Point",
    "Policy",
    "PolicyName",
    "QuestionDemand",
    "ReleasePlan",
    "Requirement",
    "Suggestion",
    "Target",
    "Workload",
    "all_marginals",
    "checked",
    "consistent_tables",
    "decide",
    "decide_demands",
    "direct",
    "grouping_sets",
    "known_errors",
    "look_ahead",
    "marginals_and_half_above",
    "marginals_and_those_with",
    "marginals_up_to",
    "narrowest_affordable",
    "only_history",
    "part_for",
    "plan_for_accuracies",
    "plan_of_block",
    "plan_release",
    "policy_named",
    "prefixes",
    "ranges",
    "suggestions",
    "top_up",
    "whole_tables",
    "workload_from_document",
    "workload_to_document",
]
