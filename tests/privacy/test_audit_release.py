"""The privacy loss of whole releases, measured on what the ledger stores and analysts see.

Everything is real: the accountant, the reservation, the table, the exact answers, the noise, the
commit. Only inference is left out, which sees nothing but the values after they are released.
How one release gives many samples is said in `sampled_release.py`.
"""

from __future__ import annotations

import numpy as np
import pytest

from eke.engine import measuring, standing
from eke.engine.exact import exact_answers
from eke.mechanism import secret
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from tests.privacy.audit import audit_epsilon, audit_rho
from tests.privacy.sampled_release import NoInference, block_plan, misfit, release, scant_draws

CONFIDENCE = 0.9999
SAMPLES = 250_000


@pytest.fixture(autouse=True)
def _without_inference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "Inference", NoInference)


@pytest.fixture
def coins() -> np.random.Generator:
    return np.random.default_rng()


def test_releases_cost_no_more_than_they_are_charged(folder, coins):
    """N = 250,000 a side; a true claim is contradicted in less than 1 run in 10,000."""
    plan = block_plan(SAMPLES, 10.0, PURE)
    nobody = release(folder, plan, PURE, None)
    for weight, epsilon in ((1, 0.1), (10, 1.0)):
        assert plan.law.loss_nano(weight) == epsilon * NANO
        everybody = release(folder, plan, PURE, weight)
        bound = audit_epsilon(nobody, everybody, confidence=CONFIDENCE, coins=coins)
        # The bound is near the claim too: an audit that sees nothing would prove nothing.
        assert 0.8 * epsilon < bound <= epsilon
    assert misfit(nobody, plan.law) > 1e-6


@pytest.mark.parametrize(
    ("samples", "weight", "epsilon"),
    [(100_000, 10, 1.0), pytest.param(1_200_000, 1, 0.1, marks=pytest.mark.long)],
)
def test_a_tenth_too_little_noise_is_flagged(folder, coins, monkeypatch, samples, weight, epsilon):
    """Positive control, N = 100,000 a side for ε = 1 (true loss 1.11), 1,200,000 for ε = 0.1.

    Less than 1 run in 10,000 misses it. The fake noise comes from NumPy, which is faster.
    """
    plan = block_plan(samples, 10.0, PURE)
    monkeypatch.setattr(secret, "draw", scant_draws(coins, 0.9))
    nobody = release(folder, plan, PURE, None)
    everybody = release(folder, plan, PURE, weight)
    assert audit_epsilon(nobody, everybody, confidence=CONFIDENCE, coins=coins) > epsilon


def test_counting_a_record_twice_is_flagged(folder, coins, monkeypatch):
    """Positive control of the path before the noise, N = 100,000: twice the answer, ε = 1."""

    def doubled(query, counts):
        answers = secret._EXACT.__get__(exact_answers(query, counts))
        return secret.Secret([2 * answer for answer in answers], 0)

    plan = block_plan(100_000, 10.0, PURE)
    nobody = release(folder, plan, PURE, None)
    monkeypatch.setattr(measuring, "exact_answers", doubled)
    everybody = release(folder, plan, PURE, 10)
    assert audit_epsilon(nobody, everybody, confidence=CONFIDENCE, coins=coins) > 1.2


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
def test_released_values_follow_the_stated_law(folder, measure):
    """N = 100,000 values; a scale that is off by 30 % either way would be seen, and by 5 %, too."""
    plan = block_plan(100_000, 25.0, measure)
    weight = 7
    steps = release(folder, plan, measure, weight)
    noise = steps - (weight << -plan.law.exponent)
    assert misfit(noise, plan.law) > 1e-6
    for stretch in (0.7, 0.95, 1.05, 1.3):
        assert misfit(noise, plan.law, stretch) < 1e-6
    # Cells are independent: neighbours in the block do not move together.
    correlation = np.corrcoef(noise[:-1], noise[1:])[0, 1]
    assert abs(correlation) < 6 / np.sqrt(len(noise))


def test_gaussian_releases_cost_no_more_than_they_are_charged(folder, monkeypatch):
    """N = 50,000 a side at ρ = 1/2: a record of weight 10 under noise of that deviation."""
    plan = block_plan(50_000, 10.0, CONCENTRATED)
    claim = plan.law.loss_nano(10) / NANO
    assert claim == 0.5
    nobody, everybody = (release(folder, plan, CONCENTRATED, weight) for weight in (None, 10))
    bound = audit_rho(nobody, everybody, confidence=CONFIDENCE)
    assert 0.85 * claim < bound <= claim
    # Positive control: nine tenths of the noise.
    scant = block_plan(50_000, 9.0, CONCENTRATED)
    nobody, everybody = (release(folder, scant, CONCENTRATED, weight) for weight in (None, 10))
    assert audit_rho(nobody, everybody, confidence=CONFIDENCE) > claim
