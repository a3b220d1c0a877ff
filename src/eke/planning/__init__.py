"""Planning: what to measure, how much noise, whether it is affordable. Blind to the data."""

from typing import TYPE_CHECKING

from eke.late import late_names

if TYPE_CHECKING:
    from eke.planning.look_ahead.suggestion import Point, Suggestion, suggestions
    from eke.planning.online.average_looks import Foreseen, foreseen
    from eke.planning.online.choosing import best_choice, decide_chosen, spend_on_chosen
    from eke.planning.online.decide import decide
    from eke.planning.online.decision import Decision, decide_demands
    from eke.planning.online.facts import AccountsAtHand, Facts, known_errors
    from eke.planning.online.past import Past
    from eke.planning.online.plan import Part, Plan, part_for
    from eke.planning.online.policy import (
        POLICIES,
        FallsShort,
        Policy,
        PolicyName,
        only_history,
        policy_named,
    )
    from eke.planning.online.quantiles import check_price, decide_quantiles, spend_on_quantiles
    from eke.planning.online.question_demand import QuestionDemand, checked
    from eke.planning.online.refine import Askings, Refinable, is_refinable, refinable_among
    from eke.planning.online.relative import decide_relative
    from eke.planning.online.rent import direct, narrowest_affordable, top_up
    from eke.planning.online.requirement import Demand, Requirement
    from eke.planning.online.spend import spend_on
    from eke.planning.workload.agreement import Agreed, agreed_answers, check_adjustable
    from eke.planning.workload.consistency import consistent_tables
    from eke.planning.workload.release import ReleasePlan, plan_of_block, plan_release
    from eke.planning.workload.release.accuracies import plan_for_accuracies
    from eke.planning.workload.strategy.matrices import MatrixStrategy
    from eke.planning.workload.whole_numbers import whole_tables
    from eke.planning.workload.workload import (
        Target,
        Workload,
        all_marginals,
        grouping_sets,
        marginals_and_half_of_next,
        marginals_and_those_with,
        marginals_up_to,
        prefixes,
        ranges,
    )
    from eke.planning.workload.workload_document import workload_from_document, workload_to_document

__all__ = [
    "POLICIES",
    "AccountsAtHand",
    "Agreed",
    "Askings",
    "Decision",
    "Demand",
    "Facts",
    "FallsShort",
    "Foreseen",
    "MatrixStrategy",
    "Part",
    "Past",
    "Plan",
    "Point",
    "Policy",
    "PolicyName",
    "QuestionDemand",
    "Refinable",
    "ReleasePlan",
    "Requirement",
    "Suggestion",
    "Target",
    "Workload",
    "agreed_answers",
    "all_marginals",
    "best_choice",
    "check_adjustable",
    "check_price",
    "checked",
    "consistent_tables",
    "decide",
    "decide_chosen",
    "decide_demands",
    "decide_quantiles",
    "decide_relative",
    "direct",
    "foreseen",
    "grouping_sets",
    "is_refinable",
    "known_errors",
    "marginals_and_half_of_next",
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
    "refinable_among",
    "spend_on",
    "spend_on_chosen",
    "spend_on_quantiles",
    "suggestions",
    "top_up",
    "whole_tables",
    "workload_from_document",
    "workload_to_document",
]

if not TYPE_CHECKING:
    __getattr__ = late_names(
        __name__,
        {
            "look_ahead.suggestion": "Point Suggestion suggestions",
            "online.average_looks": "Foreseen foreseen",
            "online.choosing": "best_choice decide_chosen spend_on_chosen",
            "online.decide": "decide",
            "online.decision": "Decision decide_demands",
            "online.facts": "AccountsAtHand Facts known_errors",
            "online.past": "Past",
            "online.plan": "Part Plan part_for",
            "online.policy": "POLICIES FallsShort Policy PolicyName only_history policy_named",
            "online.quantiles": "check_price decide_quantiles spend_on_quantiles",
            "online.question_demand": "QuestionDemand checked",
            "online.refine": "Askings Refinable is_refinable refinable_among",
            "online.relative": "decide_relative",
            "online.rent": "direct narrowest_affordable top_up",
            "online.requirement": "Demand Requirement",
            "online.spend": "spend_on",
            "workload.agreement": "Agreed agreed_answers check_adjustable",
            "workload.consistency": "consistent_tables",
            "workload.release": "ReleasePlan plan_of_block plan_release",
            "workload.release.accuracies": "plan_for_accuracies",
            "workload.strategy.matrices": "MatrixStrategy",
            "workload.whole_numbers": "whole_tables",
            "workload.workload": (
                "Target Workload all_marginals grouping_sets marginals_and_half_of_next "
                "marginals_and_those_with marginals_up_to prefixes ranges"
            ),
            "workload.workload_document": "workload_from_document workload_to_document",
        },
    )
