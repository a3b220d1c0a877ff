"""Decide: free, paid or refused, from public facts only.

The facts are the question, the history, the accountant and the limit. There is no handle on the
data here, and the import contracts keep it that way, so a decision can be recomputed by anyone
who holds the ledger. Next: `eke.engine` carries out a decision to measure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from eke.errors import QueryError
from eke.history import Measurement
from eke.inference import ComposedNoise, Inference, halfwidth
from eke.planning.plan import Part, Plan, part_for
from eke.planning.policy import Policy, combined, direct, top_up
from eke.planning.requirement import Demand, Requirement
from eke.planning.shared import common_cells
from eke.privacy.accountant import Accountant
from eke.query import Kronecker, Marginal, Query

# Below this confidence what a cell learns from the other cells of its block can widen its
# interval: the variance falls, but the law becomes less peaked. Then a plan is tried out first.
_PEAKED = 0.75
_TRIES = 10


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do about a question.

    `known` is the half-width that history alone offers at the confidence asked for (None when it
    says nothing). `narrowest` is, for a refusal, the half-width that the rest of the budget buys
    (None when that is nothing narrower).
    """

    action: Literal["history", "measure", "refuse"]
    cost: int  # nano-units by which the dataset's loss would grow
    known: float | None
    plan: Plan | None = None
    price: int = 0  # nano-units of the measurement by itself
    narrowest: float | None = None
    # The same two as shares of what was asked for: of several questions, the worst one counts.
    known_share: float | None = field(default=None, compare=False)
    stretch: float | None = field(default=None, compare=False)
    hint: str = field(default="", compare=False)  # what makes it dear, for a refusal


@dataclass(frozen=True, slots=True)
class Facts:
    """What decisions are made from: history and accounts, without any data."""

    inference: Inference
    accountant: Accountant
    limit: int


def decide(
    query: Query | Marginal, requirement: Requirement, facts: Facts, policy: Policy
) -> Decision:
    """Free if history is accurate enough, else the least noise that is, else a refusal.

    Privacy: a function of public facts. Widths depend on questions and noise laws, never on noisy
    values, so that choosing by them does not bias the intervals.
    """
    return decide_all([Demand(query, requirement)], facts, policy)


def decide_all(demands: Sequence[Demand], facts: Facts, policy: Policy) -> Decision:
    """The same for several questions that are answered together, with one charge for all.

    They share measurements: each is planned as if those before it were already released, and the
    alternative of measuring their common cells is taken where it costs less.
    """
    known = [known_errors(one.query, facts.inference) for one in demands]
    offers = [_offered(e, d.requirement.confidence) for e, d in zip(known, demands, strict=True)]
    offered, share = _weakest(offers, demands)
    missing = [
        (demand, errors)
        for demand, errors, offer in zip(demands, known, offers, strict=True)
        if offer is None or offer > demand.requirement.within
    ]
    if not missing:
        return Decision("history", 0, offered, known_share=share)
    plan, after = _cheapest(missing, facts, policy)
    price = sum(facts.accountant.price(part.query, part.law) for part in plan.parts)
    cost = after - facts.accountant.spent
    if after <= facts.limit:
        return Decision("measure", cost, offered, plan, price, known_share=share)
    stretch = _least_stretch(missing, facts, policy)
    if stretch is not None and share is not None and stretch >= share:
        stretch = None
    narrowest = None if stretch is None else stretch * demands[0].requirement.within
    return Decision("refuse", cost, offered, None, price, narrowest, share, stretch)


_Missing = Sequence[tuple[Demand, list[ComposedNoise | None]]]


def _cheapest(missing: _Missing, facts: Facts, policy: Policy) -> tuple[Plan, int]:
    """The plan that meets all demands with the least loss, and the loss after it."""
    plans = [_one_by_one(missing, facts, policy)]
    if len(missing) > 1:
        shared = common_cells([demand for demand, _ in missing], facts.accountant.measure)
        plans += [] if shared is None else [Plan((shared,))]
    costs = [
        facts.accountant.after_all([(p.query, p.law) for p in plan.parts], facts.limit)
        for plan in plans
    ]
    best = min(range(len(plans)), key=costs.__getitem__)
    return plans[best], costs[best]


def _one_by_one(missing: _Missing, facts: Facts, policy: Policy) -> Plan:
    """A plan with a measurement for each demand that those before it leave unmet."""
    if len(missing) == 1:
        ((demand, errors),) = missing
        measured = _measurable(demand.query)
        return Plan((_sufficient(measured, demand.requirement, errors, policy, facts),))
    longer = Facts(deepcopy(facts.inference), facts.accountant, facts.limit)
    parts: list[Part] = []
    for demand, _ in missing:
        errors = known_errors(demand.query, longer.inference)
        offer = _offered(errors, demand.requirement.confidence)
        if offer is not None and offer <= demand.requirement.within:
            continue
        part = _sufficient(_measurable(demand.query), demand.requirement, errors, policy, longer)
        longer.inference.extend(_released_as_zeros(part))
        parts.append(part)
    return Plan(tuple(parts))


def _least_stretch(missing: _Missing, facts: Facts, policy: Policy) -> float | None:
    """The factor, to a hundredth, by which all demands must be relaxed to be affordable."""
    if len(missing) == 1:
        ((demand, errors),) = missing
        measured, wanted = _measurable(demand.query), demand.requirement
        narrowest = narrowest_affordable(measured, wanted.confidence, errors, policy, facts)
        return None if narrowest is None else narrowest / wanted.within

    def affordable(stretch: float) -> bool:
        relaxed = [(demand.relaxed(stretch), errors) for demand, errors in missing]
        return _cheapest(relaxed, facts, policy)[1] <= facts.limit

    low, high = 1.0, 2.0
    while not affordable(high):
        low, high = high, high * 2.0
        if high > 2.0**_TRIES:
            return None
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if affordable(middle) else (middle, high)
    return high


def _weakest(
    offers: Sequence[float | None], demands: Sequence[Demand]
) -> tuple[float | None, float | None]:
    """What history offers for the demand it serves worst, and as a share of what is demanded.

    None if it leaves one undetermined.
    """
    shares = [
        (offer / demand.requirement.within, offer)
        for offer, demand in zip(offers, demands, strict=True)
        if offer is not None
    ]
    if len(shares) < len(demands):
        return None, None
    share, offer = max(shares)
    return offer, share


def known_errors(query: Query | Marginal, inference: Inference) -> list[ComposedNoise | None]:
    """The errors of history's answers, None where it has none; each kind once for a block."""
    kinds: dict[object, ComposedNoise | None] = {}
    for single in _singles(query):
        found = inference.linear(single)
        noise = None if found is None else found[1]
        kinds.setdefault(_kind(noise), noise)
    return list(kinds.values())


def _kind(noise: ComposedNoise | None) -> object:
    """Equal for errors that agree to ten digits: the cells of a block have few kinds of error."""
    if noise is None:
        return None
    order = np.argsort(noise.laplace_scales)
    parts = np.concatenate(
        [
            noise.laplace_scales[order],
            noise.multiplicities[order],
            [noise.gaussian_variance, noise.grid_slack],
        ]
    )
    mantissas, exponents = np.frexp(parts)
    return np.round(mantissas * 2.0**33).tobytes(), exponents.tobytes()


def _offered(errors: Sequence[ComposedNoise | None], confidence: float) -> float | None:
    """The half-width that history offers for every cell; None when it leaves one undetermined."""
    widths = [None if noise is None else halfwidth(noise, confidence) for noise in errors]
    known = [width for width in widths if width is not None]
    return max(known) if len(known) == len(widths) else None


def _sufficient(
    measured: Query | Marginal,
    requirement: Requirement,
    errors: Sequence[ComposedNoise | None],
    policy: Policy,
    facts: Facts,
) -> Part:
    """What the policy measures, with less noise where a cell would still miss the requirement."""
    measure, confidence = facts.accountant.measure, requirement.confidence
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
    if isinstance(measured, Marginal) and confidence < _PEAKED and facts.inference.rows:
        for _ in range(_TRIES):
            excess = _offered_after(part, confidence, facts.inference) / requirement.within
            if excess <= 1.0:
                break
            part = part_for(measured, noise_scale := noise_scale / (1.01 * excess), measure)
    return part


def _offered_after(part: Part, confidence: float, inference: Inference) -> float:
    """The half-width of the widest cell once it is measured."""
    longer = deepcopy(inference)
    longer.extend(_released_as_zeros(part))
    asked = part.query
    if isinstance(asked, Kronecker):
        raise QueryError("a block of products is released by a plan, not asked for")
    offered = _offered(known_errors(asked, longer), confidence)
    return math.inf if offered is None else offered


def _released_as_zeros(part: Part) -> Measurement:
    """A measurement to plan with: errors depend on what is measured, not on what comes out."""
    cells = 1 if isinstance(part.query, Query) else part.query.cells
    return Measurement(part.query, part.law, (0.0,) * cells)


def narrowest_affordable(
    measured: Query | Marginal,
    confidence: float,
    errors: Sequence[ComposedNoise | None],
    policy: Policy,
    facts: Facts,
) -> float | None:
    """The half-width that the whole remaining budget would buy; None when it buys nothing."""
    noise_scale = _least_affordable_noise(measured, confidence, facts)
    if noise_scale is None:
        return None
    measure = facts.accountant.measure
    within = noise_scale / direct(Requirement(1.0, confidence), None, measure)
    if policy is not direct and None not in errors:
        together = [combined(n, noise_scale, measure) for n in errors if n is not None]
        within = max(halfwidth(noise, confidence) for noise in together)
    for attempt in range(_TRIES):  # an advice must hold: it is planned as if it were asked
        part = _sufficient(measured, Requirement(within, confidence), errors, policy, facts)
        if facts.accountant.after(measured, part.law, facts.limit) <= facts.limit:
            return within
        within *= 1.0 + 0.004 * 2.0**attempt
    return None


def _least_affordable_noise(
    measured: Query | Marginal, confidence: float, facts: Facts
) -> float | None:
    """The smallest noise scale, to a hundredth, that the remaining budget allows."""
    measure = facts.accountant.measure

    def affordable(noise_scale: float) -> bool:
        part = part_for(measured, noise_scale, measure)
        return facts.accountant.after(measured, part.law, facts.limit) <= facts.limit

    # Start where the measurement by itself costs what is left: often that is the answer.
    high = direct(Requirement(1.0, confidence), None, measure)
    price = facts.accountant.price(measured, part_for(measured, high, measure).law)
    dearer = max(1, price) / max(1, facts.limit - facts.accountant.spent)
    high *= 1.001 * (dearer if measure == "epsilon" else math.sqrt(dearer))
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


def _measurable(query: Query | Marginal) -> Query | Marginal:
    """The question without its constant, which is public."""
    if isinstance(query, Marginal) or not query.constant:
        return query
    return Query(query.domain, query.terms, query.constant * 0)


def _singles(query: Query | Marginal) -> Iterator[Query]:
    return query.queries() if isinstance(query, Marginal) else iter((query,))
