"""Releasing: the workload that is meant, its plan, and what the engine is to measure for it.

    plan = session.plan(eke.all_marginals(session.domain, 2), budget=0.5)
    print(plan.explain())
    release = session.release(plan)
    release.table("sex", "income").to_pandas()

Next: `released.py` has the tables.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, TypeAlias

from eke.domain import Domain
from eke.engine import Stale, Vault
from eke.errors import AccuracyError, BudgetExceeded, QueryError, Refused
from eke.inference import table_weight
from eke.planning import (
    Facts,
    Part,
    Plan,
    ReleasePlan,
    Requirement,
    Workload,
    direct,
    grouping_sets,
    plan_for_accuracies,
    plan_release,
    workload_to_document,
)
from eke.planning.workload.strategy.given import Strategy, strategy_of
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteLaplace
from eke.privacy.measure import Measure
from eke.query import Neighbours
from eke.session.release.price import Price, price_of
from eke.session.release.released import release_text
from eke.sql import parse_grouping_sets

WorkloadLike: TypeAlias = Workload | str | Iterable[Any]
"""A workload, SQL with GROUP BY CUBE, ROLLUP or GROUPING SETS, or a list of what `Workload.of`
takes."""

# Noise is drawn on a grid and its scale rounded up: intervals are wider by less than this share.
_GRID = 2.0**-12
_TRIES_ON_A_MOVING_LEDGER = 5
MOST_SINGLE_ANSWERS = 4096
"""Of a block that is taken apart: answers that cannot be kept as a table cost more to infer from.
"""


def workload_of(asked: WorkloadLike, domain: Domain) -> Workload:
    """The workload that was meant."""
    if isinstance(asked, Workload):
        if asked.domain != domain:
            raise QueryError("the workload is over another domain than this dataset's")
        return asked
    if isinstance(asked, str):
        return grouping_sets(domain, parse_grouping_sets(asked, domain))
    return Workload.of(domain, asked if isinstance(asked, Iterable) else [asked])


def planned(
    workload: Workload,
    measure: Measure,
    neighbours: Neighbours,
    rows_per_unit: int,
    *,
    budget: float | None,
    within: float | Mapping[Any, float] | None,
    confidence: float,
    strategy: Strategy,
) -> ReleasePlan:
    """The plan for a budget, or the cheapest one for the accuracies required."""
    if (budget is None) == (within is None):
        raise AccuracyError(
            "a plan is for a budget (budget=0.5) or for an accuracy (within=50); give one of them"
        )
    chosen = strategy_of(strategy)
    if within is None:
        return plan_release(
            workload,
            measure=measure,
            budget=float(budget or 0.0),
            strategy=chosen,
            neighbours=neighbours,
            rows_per_unit=rows_per_unit,
        )
    if chosen != "auto":
        raise AccuracyError("with accuracies the strategy is chosen by cost; leave it out")
    each = _by_target(workload, within)
    errors = [standard_error(width, confidence, measure) for width in each]
    return plan_for_accuracies(workload, errors, measure, neighbours, rows_per_unit)


def standard_error(within: float, confidence: float, measure: Measure) -> float:
    """The standard error with which an estimate is within the half-width.

    An estimate adds up several noises: its law lies between that of a single noise and a Gaussian.
    Of two laws with one variance, Laplace is wider at high confidences and Gaussian at low ones, so
    the smaller of both errors is taken.
    """
    wanted = Requirement(within * (1.0 - _GRID), confidence)
    normal = direct(wanted, None, CONCENTRATED)
    if measure.sums_keep_their_law:
        return normal
    return min(normal, math.sqrt(measure.variance(1.0)) * direct(wanted, None, measure))


def _by_target(workload: Workload, within: float | Mapping[Any, float]) -> list[float]:
    if not isinstance(within, Mapping):
        return [float(within)] * len(workload.targets)
    given = {
        workload.domain.in_order((names,) if isinstance(names, str) else names): float(width)
        for names, width in within.items()
    }
    if set(given) != {target.attributes for target in workload.targets}:
        raise AccuracyError("within gives the half-width of each marginal of the workload")
    return [given[target.attributes] for target in workload.targets]


def measure_plan(vault: Vault, plan: ReleasePlan, measure: Measure, analyst: str, key: str) -> str:
    """The text stored of a release: everything in the plan is measured, in one charge."""
    parts = checked_parts(vault, plan, measure)
    purpose = json.dumps({"release": workload_to_document(plan.workload)}, sort_keys=True)

    def released(parts_now: Plan) -> str:
        return vault.release(
            replace(parts_now, purpose=purpose),
            analyst=analyst,
            key=key,
            digest=_digest(parts),
            answer=lambda facts, measured, cost: release_text(
                plan, measured, cost, facts.inference.total, facts.inference.exactly.facts
            ),
        )

    try:
        for _ in range(_TRIES_ON_A_MOVING_LEDGER):
            with suppress(Stale):  # somebody else refines the same meanwhile
                return released(refining_parts(parts, vault.snapshot().facts))
        return released(parts)
    except Refused:  # for the sake of a guarded claim
        raise
    except BudgetExceeded:
        raise BudgetExceeded(_advice(plan, price_of(vault, None, measure, analyst))) from None


def refining_parts(plan: Plan, facts: Facts) -> Plan:
    """The plan, with less noise in place of new noise wherever that costs less.

    A block that was measured before with more noise than planned is refined to what is planned.
    What a release says of its errors stays true: no noise is larger.

    Privacy: decided by the ledger and the plan, as every plan is. What is refined, and that it is
    refined once, the junction checks (docs/proofs/refinement.md).
    """
    parts = []
    for part in plan.parts:
        refined = _refined(part, facts)
        if refined is not None and refined.refines is not None:
            facts = replace(facts, taken=facts.taken | {refined.refines.place})
        parts.append(refined or part)
    return replace(plan, parts=tuple(parts))


def _refined(part: Part, facts: Facts) -> Part | None:
    """The block of a part, refined to the noise of the part; None where that costs more."""
    law = part.law
    earlier = facts.refinable(part.query) if isinstance(law, DiscreteLaplace) else None
    refined = None if earlier is None else earlier.part(part.query, law.laplace_scale)
    return None if refined is None or refined.charged.rate > law.rate else refined


def checked_parts(vault: Vault, plan: ReleasePlan, measure: Measure) -> Plan:
    """What the engine is to measure for a plan, if it is a plan for this dataset."""
    if plan.workload.domain != vault.domain:
        raise QueryError("the plan is for another domain than this dataset's; plan again here")
    if plan.measure != measure:
        raise QueryError(
            f"the plan is in {plan.measure}, the dataset in {measure}; plan again here"
        )
    return _parts(plan)


def _parts(plan: ReleasePlan) -> Plan:
    """What the engine is to measure for a plan."""
    parts = []
    for block, law in plan.laws():
        if block.cells > MOST_SINGLE_ANSWERS and table_weight(block) is None:
            raise QueryError(
                f"the strategy {plan.strategy} measures a block of {block.cells:,} answers that "
                f"later answers could not use; at most {MOST_SINGLE_ANSWERS:,} such answers are "
                "kept. Choose another strategy or a smaller workload"
            )
        parts.append(Part(block, law))
    return Plan(tuple(parts))


def _digest(plan: Plan) -> str:
    """SHA-256 of what will be measured: an idempotency key is bound to it."""
    text = json.dumps({"release": plan.to_document()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _advice(plan: ReleasePlan, price: Price) -> str:
    """What is said of a plan that the budget does not allow."""
    remaining = price.remaining
    advice = f"plan with budget={remaining:.6g} or less" if remaining > 0.0 else "nothing is left"
    return (
        f"the plan costs up to {plan.measure} {plan.budget:.6g} and {price.remaining_text}; "
        f"nothing was spent. {advice[0].upper()}{advice[1:]}"
    )
