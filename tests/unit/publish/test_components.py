"""Components of noisy moments, their choice and the way back to rows."""

from __future__ import annotations

import numpy as np
import pytest

from eke.domain import Categorical, Domain, Integer
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.publish.components import expected_error, noisy_scores, pick_components
from eke.publish.features import features_of
from eke.publish.moments import Moments, statistics_for
from eke.publish.publisher import Setting
from eke.publish.repair import repair
from eke.publish.row_share import share_of_moments

DOMAIN = Domain({f"n{i}": Integer(0, 50) for i in range(6)} | {"c": Categorical("x", "y")})
FEATURES = features_of(DOMAIN, DOMAIN.names)


def rows(count: int = 3000) -> np.ndarray:
    rng = np.random.default_rng(8)
    common = rng.normal(0, 12, count)
    numbers = [25 + common + rng.normal(0, 2, count) for _ in range(6)]
    codes = [np.clip(n, 0, 50).astype(np.int64) for n in numbers]
    return np.stack([*codes, (common > 0).astype(np.int64)], axis=1)


def moments_of(x: np.ndarray) -> Moments:
    return Moments(np.array([float(len(x))]), x.sum(axis=0, keepdims=True), x.T @ x)


def choose(count, row_loss=NANO, measure=PURE, shrunk=False):
    x = FEATURES.encode(rows())
    return x, pick_components(
        FEATURES, moments_of(x), count, row_loss=row_loss, measure=measure, shrunk=shrunk
    )


def test_all_components_without_noise_are_the_table():
    x, chosen = choose(FEATURES.width)
    recovered = chosen.recover(x @ chosen.directions.T, shrunk=False)
    np.testing.assert_allclose(recovered, x, atol=1e-4)
    assert (FEATURES.decode(recovered) == rows()).all()


def test_one_component_keeps_its_share_of_the_spectrum():
    x, chosen = choose(1)
    recovered = chosen.recover(x @ chosen.directions.T, shrunk=False)
    left = ((recovered - x) ** 2).sum() / len(x)
    assert left == pytest.approx(float(chosen.spectrum[1:].sum()), rel=0.01)


def test_a_larger_budget_keeps_more_components():
    kept = [choose(None, row_loss=loss)[1].row_scores.count for loss in (NANO, 10**12, 10**15)]
    assert kept[0] == 1
    assert kept == sorted(kept)
    assert kept[-1] > 3


@pytest.mark.parametrize("shrunk", [False, True])
@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
def test_the_expected_error_is_what_happens(shrunk, measure):
    """3,000 rows, one draw; the mean of their squared errors has a deviation of about 3 %."""
    x, chosen = choose(2, row_loss=40 * NANO, measure=measure, shrunk=shrunk)
    rng = np.random.default_rng(1)
    law, scores = chosen.law, x @ chosen.directions.T
    if measure == PURE:
        noise = rng.laplace(0, law.laplace_scale, scores.shape)
    else:
        noise = rng.normal(0, law.gaussian_variance**0.5, scores.shape)
    got = ((chosen.recover(scores + noise, shrunk) - x) ** 2).sum() / len(x)
    assert got == pytest.approx(expected_error(chosen.spectrum, 2, law, shrunk=shrunk), rel=0.1)


def test_steps_are_numbers_on_the_grid():
    _, chosen = choose(2)
    steps = [2**30, 0, -(2**30), 5]
    values = noisy_scores(chosen.row_scores, chosen.law, steps)
    assert values.shape == (2, 2)
    assert (values.ravel() == np.array(steps) * chosen.law.step).all()


def test_an_indefinite_matrix_is_repaired_and_a_good_one_kept():
    x = FEATURES.encode(rows())
    good = moments_of(x)
    same = repair(good, 0.0)
    np.testing.assert_allclose(same.moments.products, good.products, rtol=1e-9, atol=1e-6)
    noise = np.random.default_rng(2).normal(0, 200, good.products.shape)
    bad = Moments(good.sizes, good.sums, good.products + noise + noise.T)
    assert np.linalg.eigvalsh(bad.covariance)[0] < 0
    found = repair(bad, 200.0)
    assert found.indefinite
    assert found.lifted > 0
    assert np.linalg.eigvalsh(found.moments.products)[0] > 0
    before, after = (np.abs(m.products - good.products).max() for m in (bad, found.moments))
    assert after < 3 * before


@pytest.mark.parametrize("shrunk", [False, True])
@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
def test_the_share_of_moments_falls_with_the_rows(measure, shrunk):
    measured = statistics_for(FEATURES, None, count=False)
    shares = []
    for count in (1_000, 100_000, 10_000_000):
        setting = Setting(DOMAIN, measure, "replace_one", NANO, count, True)
        shares.append(share_of_moments(measured, 1, "expected_error", setting, shrunk=shrunk))
        assert share_of_moments(measured, 1, "paper", setting) == 0.5
    assert shares[0] >= shares[1] >= shares[2] > 0
    assert shares[0] < 1
