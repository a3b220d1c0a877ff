"""Renting: a question that history cannot answer is measured by itself, with just enough noise.

`direct` is the papers' rule: measure the question as if nothing were known (ONLINE Th. 3.7).
`top_up` buys only what is missing: history and the new measurement together must suffice.
Several questions that are asked together share measurements: each is planned as if those before it
were already released, and their common cells are measured where that costs less.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from eke.history import Measurement
from eke.inference import ComposedNoise, Inference, halfwidth
from eke.planning.online.facts import Facts, Missing, known_errors, offered
from eke.planning.online.noise_rule import NoiseRule, combined, direct_noise, top_up_noise
from eke.planning.online.plan import Part, Plan, part_for
from eke.planning.online.refine import narrowest_by_refining, refining_part
from eke.planning.online.requirement import Demand, Requirement
from eke.planning.online.shared import common_cells
from eke.planning.online.stretch import least_affordable, least_with_noise
from eke.privacy.measure import Measure
from eke.query import Block

# Below this confidence what a cell learns from the other cells of its block can widen its
# interval: the variance falls, but the law becomes less peaked. Then a plan is tried out first.
PEAKED = 0.75
_TRIES = 10


@dataclass(frozen=True, slots=True)
class Rent:
    """The policy that measures the questions themselves, by a noise rule."""

    name: str
    rule: NoiseRule

    def __call__(
        self, requirement: Requirement, known: ComposedNoise | None, measure: Measure
    ) -> float:
        """The noise with which the question, measured once, meets the requirement."""
        return self.rule(requirement, known, measure)

    def plan(self, missing: Sequence[Missing], facts: Facts) -> Plan:
        """The plan that meets all demands with the least loss."""
        plan = _one_by_one(missing, facts, self)
        of_records = [demand for demand, _ in missing if not demand.query.people]
        if len(of_records) > 1:
            shared = common_cells(of_records, facts.measure)
            if shared is not None:
                apart = (part for part in plan.parts if part.query.people)
                together = Plan((shared, *apart))
                plan = min(plan, together, key=lambda one: loss_after(one, facts))
        return plan

    def least_stretch(
        self, missing: Sequence[Missing], facts: Facts, rents: Sequence[Part]
    ) -> float | None:
        """The factor by which all demands must be relaxed to be affordable.

        `rents` are what the demands would take as they are. What is advised was planned as if it
        were asked; where nothing is known before, it is the least factor to a hundredth.
        """
        if len(missing) == 1:
            ((demand, errors),) = missing
            measured, wanted = demand.query.without_constant(), demand.requirement
            narrowest = narrowest_affordable(measured, wanted.confidence, errors, self, facts)
            return None if narrowest is None else narrowest / wanted.within

        def is_free(stretch: float) -> bool:
            return all(_is_met(demand.relaxed(stretch), errors) for demand, errors in missing)

        def planned(stretch: float) -> int:
            if is_free(stretch):
                return 0
            relaxed = [(demand.relaxed(stretch), errors) for demand, errors in missing]
            return loss_after(self.plan(relaxed, facts), facts) - facts.spent

        most = least_with_noise(rents, facts)
        if most is None or is_free(most):  # with so little left, history is better
            return None
        return least_affordable(planned, most, rents, facts)


direct = Rent("direct", direct_noise)
top_up = Rent("top_up", top_up_noise)


def loss_after(plan: Plan, facts: Facts) -> int:
    """The certified loss once the plan is measured."""
    return facts.accountant.after_all([(p.query, p.charged) for p in plan.parts], facts.limit)


def _one_by_one(missing: Sequence[Missing], facts: Facts, policy: Rent) -> Plan:
    """A plan with a measurement for each demand that those before it leave unmet."""
    if len(missing) == 1:
        ((demand, errors),) = missing
        measured = demand.query.without_constant()
        return Plan((_sufficient(measured, demand.requirement, errors, policy, facts),))
    longer = replace(facts, inference=facts.inference.view())
    parts: list[Part] = []
    for place, (demand, _) in enumerate(missing, start=1):
        errors = known_errors(demand.query, longer.inference)
        if _is_met(demand, errors):
            continue
        part = _sufficient(
            demand.query.without_constant(), demand.requirement, errors, policy, longer
        )
        if place < len(missing):
            suppose(part, longer.inference)
        if part.refines is not None:
            longer = replace(longer, taken=longer.taken | {part.refines.place})
        parts.append(part)
    return Plan(tuple(parts))


def _is_met(demand: Demand, errors: Sequence[ComposedNoise | None]) -> bool:
    """True when history is accurate enough as it is."""
    offer = offered(errors, demand.requirement.confidence)
    return offer is not None and offer <= demand.requirement.within


def _sufficient(
    measured: Block,
    requirement: Requirement,
    errors: Sequence[ComposedNoise | None],
    policy: Rent,
    facts: Facts,
) -> Part:
    """What the policy measures, with less noise where a cell would still miss the requirement."""
    measure, confidence = facts.measure, requirement.confidence
    known = [noise for noise in errors if noise is not None]
    worst = None
    if len(known) == len(errors):
        worst = max(known, key=lambda noise: halfwidth(noise, confidence))
    noise_scale = policy(requirement, worst, measure)
    for noise in known:
        together = combined(noise, noise_scale, measure)
        if halfwidth(together, confidence) > requirement.within:
            noise_scale = min(noise_scale, top_up(requirement, noise, measure))
    part = part_for(measured, noise_scale, measure)
    if not measured.is_single and confidence < PEAKED and facts.inference.rows:
        for _ in range(_TRIES):
            excess = offered_after(part, confidence, facts.inference) / requirement.within
            if excess <= 1.0:
                break
            part = part_for(measured, noise_scale := noise_scale / (1.01 * excess), measure)
    return part if policy is direct else _cheaper(part, requirement, facts)


def _cheaper(anew: Part, requirement: Requirement, facts: Facts) -> Part:
    """The same question refined, where it was measured before and that costs less."""
    earlier = facts.refinable(anew.query)
    if earlier is None:
        return anew
    refined = refining_part(anew.query, requirement, earlier, facts.inference)
    if refined is None:
        return anew
    return min(refined, anew, key=lambda one: loss_after(Plan((one,)), facts))


def offered_after(part: Part, confidence: float, inference: Inference) -> float:
    """The half-width of the widest cell once it is measured."""
    longer = inference.view()
    suppose(part, longer)
    width = offered(known_errors(part.query, longer), confidence)
    return math.inf if width is None else width


def suppose(part: Part, inference: Inference) -> None:
    """Let a view of history take in a part as if it were measured.

    To keep a table whole, all single answers are told apart anew; where it has fewer cells than
    there are answers, it is quicker to take it apart, and what follows from it is the same.
    """
    released = released_as_zeros(part)
    if part.refines is not None or len(released.values) > len(inference.rows):
        inference.extend(released)
        return
    for row in released.rows():
        inference.append(row)


def released_as_zeros(part: Part) -> Measurement:
    """A measurement to plan with: errors depend on what is measured, not on what comes out."""
    zeros = (0.0,) * part.query.cells
    before = () if part.refines is None else zeros
    return Measurement(part.query, part.law, zeros, refines=part.refines, before=before)


def narrowest_affordable(
    measured: Block,
    confidence: float,
    errors: Sequence[ComposedNoise | None],
    policy: Rent,
    facts: Facts,
) -> float | None:
    """The half-width that the whole remaining budget would buy; None when it buys nothing."""
    noise_scale = _least_affordable_noise(measured, confidence, facts)
    if noise_scale is None:
        return None
    measure = facts.measure
    within = noise_scale / direct(Requirement(1.0, confidence), None, measure)
    if policy is not direct and None not in errors:
        together = [combined(n, noise_scale, measure) for n in errors if n is not None]
        within = max(halfwidth(noise, confidence) for noise in together)
    earlier = None if policy is direct else facts.refinable(measured)
    if earlier is not None:
        refined = narrowest_by_refining(
            measured, confidence, earlier, facts.inference, partial(_is_affordable, facts)
        )
        within = within if refined is None else min(within, refined)
    for attempt in range(_TRIES):  # an advice must hold: it is planned as if it were asked
        part = _sufficient(measured, Requirement(within, confidence), errors, policy, facts)
        if _is_affordable(facts, part):
            return within
        within *= 1.0 + 0.004 * 2.0**attempt
    return None


def _is_affordable(facts: Facts, part: Part) -> bool:
    return facts.accountant.after(part.query, part.charged, facts.limit) <= facts.limit


def _least_affordable_noise(measured: Block, confidence: float, facts: Facts) -> float | None:
    """The smallest noise scale, to a hundredth, that the remaining budget allows."""
    measure = facts.measure

    def affordable(noise_scale: float) -> bool:
        return _is_affordable(facts, part_for(measured, noise_scale, measure))

    # Start where the measurement by itself costs what is left: often that is the answer.
    high = direct(Requirement(1.0, confidence), None, measure)
    price = facts.accountant.price(measured, part_for(measured, high, measure).law)
    excess = max(1, price) / max(1, facts.limit - facts.spent)
    high *= 1.001 * measure.root(excess)
    low = high / 1.01
    for _ in range(80):
        if affordable(high):
            break
        low, high = high, high * 4.0
    else:
        return None
    for _ in range(80):
        if not affordable(low):
            break
        low, high = low / 4.0, low
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if affordable(middle) else (middle, high)
    return high
