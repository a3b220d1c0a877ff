"""How much noise still suffices: found by tails, it is what half-widths themselves allow."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eke.inference import ComposedNoise, halfwidth
from eke.planning.online import noise_rule
from eke.planning.online.noise_rule import combined, direct_noise, top_up_noise
from eke.planning.online.requirement import Requirement
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from tests.parts import in_long


def slow(requirement: Requirement, known: ComposedNoise, measure: Measure) -> float:
    """The same by halving, with the half-width of the law itself at every step."""

    def suffices(logarithm: float) -> bool:
        together = combined(known, math.exp(logarithm), measure)
        return halfwidth(together, requirement.confidence) <= requirement.within

    low = math.log(direct_noise(requirement, None, measure))
    while not suffices(low):
        low -= 0.1
    high = low + 1.0
    while suffices(high):
        high += 2.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if suffices(middle) else (low, middle)
    return math.exp(low)


def cases(number: int) -> list[tuple[Requirement, ComposedNoise]]:
    """Laws of what is known, mixed of both noises, that miss what is asked for."""
    rng = np.random.default_rng(7)
    made = []
    for place in range(number):
        confidence = float(rng.choice([0.005, 0.3, 0.6, 0.9, 0.95, 0.999, 1 - 1e-9]))
        scales = rng.lognormal(3.0, 1.5, int(rng.integers(0, 5)))
        gaussian = float(rng.lognormal(6.0, 2.0)) if place % 2 or not scales.size else 0.0
        known = ComposedNoise(scales, gaussian, float(rng.choice([0.0, 0.01])))
        within = halfwidth(known, confidence) * float(rng.uniform(0.05, 0.98))
        made.append((Requirement(within, confidence), known))
    return made


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("number", [16, in_long(40)])
def test_the_most_noise_that_suffices_is_found(measure: Measure, number: int) -> None:
    """A little more noise is too much, and halving finds the same."""
    for place, (requirement, known) in enumerate(cases(number)):
        scale = top_up_noise(requirement, known, measure)
        assert halfwidth(combined(known, scale, measure), requirement.confidence) <= (
            requirement.within
        )
        more = combined(known, scale * (1.0 + 1e-8), measure)
        assert halfwidth(more, requirement.confidence) > requirement.within
        if place < number // 5:
            assert scale == pytest.approx(slow(requirement, known, measure), rel=1e-8)


def test_tails_that_say_too_little_are_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever tails say, what is measured suffices: half-widths have the last word."""
    (requirement, known), *_ = (case for case in cases(60) if case[0].confidence == 0.95)
    right = top_up_noise(requirement, known, PURE)
    monkeypatch.setattr(
        noise_rule, "tail", lambda noise, x: 0.5 * math.exp(-2.0 * x / noise.variance**0.5)
    )
    assert top_up_noise(requirement, known, PURE) == pytest.approx(right, rel=1e-8)
