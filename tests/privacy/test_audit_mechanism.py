"""The privacy loss of revealed answers, measured on what is really released.

The same noise law serves two claims: Laplace scale 10 costs a record with coefficient 1 an ε of
0.1, and one with coefficient 10 an ε of 1.
"""

import numpy as np
import pytest

from eke.mechanism import Secret, reveal_with_noise
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, DiscreteLaw, choose_grid
from tests.privacy.audit import audit_epsilon, audit_rho

CONFIDENCE = 0.9999
SAMPLES = 1_000_000
ANSWER = 1234


@pytest.fixture
def coins() -> np.random.Generator:
    return np.random.default_rng()


def released(law: DiscreteLaw, answer: int, count: int) -> np.ndarray:
    return np.array(reveal_with_noise(Secret([answer] * count, 0), law), dtype=np.int64)


@pytest.mark.long  # the same through the whole release path: test_audit_release.py
def test_laplace_noise_costs_no_more_than_claimed(coins):
    """N = 1,000,000 a side; a true claim is contradicted in less than 1 run in 10,000."""
    law = choose_grid(DiscreteLaplace, 10.0, 0)
    table = released(law, ANSWER, SAMPLES)
    for coefficient, epsilon in ((1, 0.1), (-10, 1.0)):
        assert law.loss_nano(coefficient) == epsilon * 10**9
        neighbour = released(law, ANSWER + coefficient, SAMPLES)
        bound = audit_epsilon(table, neighbour, confidence=CONFIDENCE, coins=coins)
        # The bound is near the claim too: an audit that sees nothing would prove nothing.
        assert 0.8 * epsilon < bound <= epsilon


@pytest.mark.long  # the same through the whole release path: test_audit_release.py
def test_a_tenth_too_little_laplace_noise_is_flagged(coins):
    """Positive control, N = 1,200,000 a side for ε = 0.1 (true loss 0.111) and 100,000 for ε = 1.

    In 60 simulations the bound was 0.1058 with a standard deviation of 0.0015, so that less than
    1 run in 10,000 misses 0.1; with 1,000,000 a side it would be about 1 in 2,000.
    """
    scant = choose_grid(DiscreteLaplace, 9.0, 0)
    table = released(scant, ANSWER, SAMPLES + 200_000)
    neighbour = released(scant, ANSWER + 1, SAMPLES + 200_000)
    assert audit_epsilon(table, neighbour, confidence=CONFIDENCE, coins=coins) > 0.1
    neighbour = released(scant, ANSWER - 10, 100_000)
    assert audit_epsilon(table[:100_000], neighbour, confidence=CONFIDENCE, coins=coins) > 1.0


@pytest.mark.parametrize(("width", "flagged"), [(4.0, False), (3.6, True)])
def test_gaussian_noise_costs_what_is_claimed(width, flagged):
    """N = 200,000 a side at ρ = 1/2 (shift of one standard deviation); control with width × 0.9."""
    law = choose_grid(DiscreteGaussian, width, 0)
    table, neighbour = released(law, ANSWER, 200_000), released(law, ANSWER + 4, 200_000)
    claim = choose_grid(DiscreteGaussian, 4.0, 0).loss_nano(4) / 10**9
    assert claim == 0.5
    bound = audit_rho(table, neighbour, confidence=CONFIDENCE)
    assert (bound > claim) is flagged
    assert bound > 0.9 * claim


def test_noise_on_a_coarser_grid_than_the_answers_is_flagged(coins):
    """Positive control for the grid, N = 20,000: multiples of 4 tell an answer by its low bits."""
    table = 4 * released(DiscreteLaplace(40, 0), 0, 20_000) + ANSWER
    neighbour = 4 * released(DiscreteLaplace(40, 0), 0, 20_000) + ANSWER + 1
    assert audit_epsilon(table, neighbour, confidence=CONFIDENCE, coins=coins) > 5.0


def test_equal_tables_give_no_evidence(coins):
    law = DiscreteLaplace(100, 0)
    same = [released(law, ANSWER, 5000) for _ in range(2)]
    assert audit_epsilon(*same, confidence=CONFIDENCE, coins=coins) < 0.1
    assert audit_rho(*same, confidence=CONFIDENCE) < 0.1


@pytest.mark.parametrize(
    ("audits", "most"), [(100, 25), pytest.param(400, 70, marks=pytest.mark.long)]
)
def test_the_bound_keeps_its_confidence(coins, audits, most):
    """100 or 400 audits of randomised response at its exact ε = 1, N = 2,000, confidence 0.9.

    At most 10 or 40 overshoots are expected; 25 or 70 are five standard deviations more. The
    control claims ε = 0.8 and must be contradicted in most audits.
    """
    honest = np.e / (1 + np.e)
    bounds = []
    for _ in range(audits):
        table, neighbour = coins.random(2000) < honest, coins.random(2000) >= honest
        bounds.append(
            audit_epsilon(
                table.astype(np.int64), neighbour.astype(np.int64), confidence=0.9, coins=coins
            )
        )
    assert np.sum(np.array(bounds) > 1.0) < most
    assert np.sum(np.array(bounds) > 0.8) > audits / 2


@pytest.mark.parametrize(
    "sample", [[1] * 19, [0.5] * 100, [[1] * 30] * 30], ids=["few", "float", "2d"]
)
def test_unsuitable_samples_are_refused(sample, coins):
    with pytest.raises(ValueError, match="audit needs"):
        audit_epsilon(sample, sample, confidence=0.9, coins=coins)
