"""Policies: how much noise is enough, against the interval that results."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from eke.domain import Domain, Integer
from eke.errors import AccuracyError
from eke.history import Row
from eke.inference import ComposedNoise, Inference, halfwidth
from eke.planning import Requirement, direct, part_for, policy_named, top_up
from eke.privacy.accountant import Accountant
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Query, count, table, total
from tests.parts import in_long

DOMAIN = Domain(a=Integer(0, 4), b=Integer(0, 2))
MEASURES: tuple[Measure, ...] = (PURE, CONCENTRATED)


def random_known(rng: np.random.Generator, measure: Measure) -> ComposedNoise:
    """What a history of this measure may know: few or many parts, even or uneven."""
    if measure == CONCENTRATED:
        return ComposedNoise(np.empty(0), float(10 ** rng.uniform(-2, 2)))
    parts = int(rng.choice([1, 1, 2, 3, 30]))
    return ComposedNoise(10 ** rng.uniform(-1, 1, size=parts))


def width_with(
    known: ComposedNoise, noise_scale: float, measure: Measure, confidence: float
) -> float:
    """The interval of the optimal average of two independent errors, from its definition."""
    own = 2.0 * noise_scale**2 if measure == PURE else noise_scale**2
    share = own / (own + known.variance)
    if measure == PURE:
        scales = np.append(share * known.laplace_scales, (1 - share) * noise_scale)
        return halfwidth(ComposedNoise(scales), confidence)
    variance = share**2 * known.gaussian_variance + (1 - share) ** 2 * own
    return halfwidth(ComposedNoise(np.empty(0), variance), confidence)


def less_loss(noise_scale: float, measure: Measure) -> float:
    """The noise that costs one per cent less."""
    return noise_scale / (0.99 if measure == PURE else math.sqrt(0.99))


@pytest.mark.parametrize("within", [0.5, 7.0, 60, 1e4])
@pytest.mark.parametrize("confidence", [0.1, 0.5, 0.95, 0.999999])
@pytest.mark.parametrize(
    ("query", "reach"),
    [(count(a=2), 1), (total("a"), 4), (table("a", [0, -2.5, 0, 1, 0]), 2.5), (count() * 100, 100)],
)
def test_direct_is_the_rule_of_the_papers(query, reach, confidence, within):
    """epsilon = S·ln(1/δ)/within (ONLINE Th. 3.7), and its twin for Gaussian noise."""
    requirement, asked = Requirement(within, confidence), query.on(DOMAIN)
    delta = 1 - confidence
    plan = part_for(asked, direct(requirement, None, PURE), PURE)
    epsilon = Accountant(DOMAIN, PURE, "add_remove").price(asked, plan.law) / NANO
    assert epsilon == pytest.approx(reach * math.log(1 / delta) / within, rel=5e-5, abs=2e-9)
    assert epsilon >= reach * math.log(1 / delta) / within
    plan = part_for(asked, direct(requirement, None, CONCENTRATED), CONCENTRATED)
    rho = Accountant(DOMAIN, CONCENTRATED, "add_remove").price(asked, plan.law) / NANO
    deviations = stats.norm.isf(delta / 2)
    assert rho == pytest.approx(reach**2 * deviations**2 / (2 * within**2), rel=1e-4, abs=2e-9)


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("confidence", [0.01, 0.3, 0.9, 0.95, 0.9999])
def test_the_interval_of_a_direct_measurement_is_narrow_enough(measure, confidence):
    """With the noise law as it is drawn: on a grid, rounded up, with half a step of slack."""
    for within in (0.013, 1.0, 77.7):
        for query in (count(a=2).on(DOMAIN), (total("a") / 3).on(DOMAIN)):
            plan = part_for(query, direct(Requirement(within, confidence), None, measure), measure)
            found = Inference(DOMAIN)
            found.append(Row(query, 0.0, plan.law))
            posterior = found.posterior(query)
            assert posterior is not None
            low, high = posterior.interval(confidence)
            assert 0.9998 * within < (high - low) / 2 <= within


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("confidence", [0.2, 0.5, 0.8, 0.95, 0.999])
@pytest.mark.parametrize("number", [5, in_long(15)])
def test_top_up_buys_what_is_missing_and_no_more(measure, confidence, number):
    """Random histories: it suffices, and one per cent less would not."""
    rng = np.random.default_rng(3)
    for _ in range(number):
        known = random_known(rng, measure)
        within = halfwidth(known, confidence) * float(rng.uniform(0.05, 0.98))
        requirement = Requirement(within, confidence)
        noise_scale = top_up(requirement, known, measure)
        assert width_with(known, noise_scale, measure, confidence) <= within
        too_much = less_loss(noise_scale, measure)
        assert width_with(known, too_much, measure, confidence) > within
        if confidence >= 0.8:
            assert noise_scale >= direct(requirement, known, measure), "never dearer than direct"


def test_what_is_known_can_widen_an_interval_of_little_confidence():
    """Why `top_up` may buy more than `direct`: a trap that a half-width at 0.95 does not show."""
    requirement = Requirement(1.0, 0.3)
    noise_scale = direct(requirement, None, PURE)
    known = ComposedNoise(np.full(30, 2 * noise_scale / math.sqrt(30)))
    assert width_with(known, noise_scale, PURE, 0.3) > 1.05
    enough = top_up(requirement, known, PURE)
    assert enough < noise_scale
    assert width_with(known, enough, PURE, 0.3) <= 1.0


@pytest.mark.parametrize("measure", MEASURES)
def test_top_up_is_monotone(measure):
    """A laxer width, less confidence or a better history never needs less noise."""
    known = random_known(np.random.default_rng(8), measure)
    offered = halfwidth(known, 0.95)
    widths = offered * np.linspace(0.05, 0.95, 10)
    scales = [top_up(Requirement(float(w), 0.95), known, measure) for w in widths]
    assert scales == sorted(scales)
    confidences = [0.95, 0.97, 0.99, 0.999, 0.99999]
    scales = [top_up(Requirement(0.5 * offered, c), known, measure) for c in confidences]
    assert scales == sorted(scales, reverse=True)
    histories = [
        ComposedNoise(known.laplace_scales * factor, known.gaussian_variance * factor**2)
        for factor in (1.0, 1.5, 3.0, 30.0)
    ]
    scales = [top_up(Requirement(0.5 * offered, 0.95), h, measure) for h in histories]
    assert scales == sorted(scales, reverse=True)
    # A history that knows next to nothing is worth nothing.
    far = ComposedNoise(known.laplace_scales * 1e6, known.gaussian_variance * 1e12)
    alone = direct(Requirement(offered, 0.95), None, measure)
    assert top_up(Requirement(offered, 0.95), far, measure) == pytest.approx(alone, rel=1e-4)


@pytest.mark.parametrize("measure", MEASURES)
def test_without_history_both_policies_are_one(measure):
    requirement = Requirement(12.0, 0.9)
    assert top_up(requirement, None, measure) == direct(requirement, None, measure)


def test_gaussian_information_adds():
    """Halving a variance costs as much again with Gaussian noise."""
    known = ComposedNoise(np.empty(0), 4.0)
    within = halfwidth(ComposedNoise(np.empty(0), 2.0), 0.95)
    assert top_up(Requirement(within, 0.95), known, CONCENTRATED) ** 2 == pytest.approx(
        4.0, rel=1e-5
    )


def test_names_of_policies():
    assert policy_named("direct") is direct
    assert policy_named("top_up") is top_up
    with pytest.raises(AccuracyError, match="direct, top_up"):
        policy_named("greedy")


def test_a_policy_sees_laws_never_values():
    """The same questions and laws with other noisy values give the same noise."""
    asked: Query = count(a=(0, 2)).on(DOMAIN)
    found = set()
    for value in (0.0, 1e9, -3.5):
        inference = Inference(DOMAIN)
        for part in (count(a=(0, 1)), count(a=2), count(a=(0, 2))):
            law = part_for(part.on(DOMAIN), 10.0, PURE).law
            inference.append(Row(part.on(DOMAIN), value, law))
        known = inference.linear(asked)
        assert known is not None
        found.add(top_up(Requirement(5.0, 0.95), known[1], PURE))
    assert len(found) == 1
