"""The rival made again: a matrix mechanism, and a pace that spends no more than there is."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.lab.lapras import (
    SPLITS,
    MatrixMechanism,
    as_epsilons,
    as_rho,
    independent,
    lapras,
)
from eke.privacy.calibration import least_variance


def ranges(cells: int, number: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = np.zeros((number, cells))
    for row in rows:
        low, high = np.sort(rng.integers(0, cells, 2))
        row[low : high + 1] = 1.0
    return rows


def largest_loss(workload: np.ndarray, root: np.ndarray) -> float:
    """What the record that moves the answers most loses, over what noise of variance 1 allows.

    From the definition: Gaussian noise of covariance C on answers that move by w loses wᵀC⁺w / 2.
    """
    spread = workload @ root
    inverse = np.linalg.pinv(spread @ spread.T, rcond=1e-9)
    return float(np.einsum("ij,ik,kj->j", workload, inverse, workload).max())


@pytest.mark.parametrize(
    "workload", [ranges(12, 40, 1), ranges(30, 9, 2), np.eye(5), np.ones((3, 7))]
)
def test_the_matrix_mechanism_is_private_and_nearly_the_best(workload: np.ndarray) -> None:
    found = MatrixMechanism.of(workload)
    assert found.bound <= found.total * (1 + 1e-9)
    assert found.total <= 1.01 * found.bound
    variances = ((workload @ found.root) ** 2).sum(axis=1)
    assert variances.sum() == pytest.approx(found.total, rel=1e-6)
    assert largest_loss(workload, found.root) <= 1 + 1e-4
    assert largest_loss(workload, 0.9 * found.root) > 1 + 1e-4  # the positive control


def test_known_optima() -> None:
    """All cells: each by itself. A query, however often: once."""
    assert MatrixMechanism.of(np.eye(6)).total == pytest.approx(6.0, rel=1e-4)
    assert MatrixMechanism.of(np.ones((4, 3))).total == pytest.approx(4.0, rel=1e-4)


@pytest.mark.parametrize("name", SPLITS)
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0])
def test_no_more_than_the_budget_is_spent(name: str, share: float) -> None:
    """N = 40 streams each: what is added up from the noise, and what is told."""
    rng, split = np.random.default_rng(3), SPLITS[name]
    assert split.matrix + split.warm_up + split.rest + split.reserve == pytest.approx(1.0)
    for _ in range(40):
        spent: list[float] = []

        def variance(part: float, for_matrix: bool, spent: list[float] = spent) -> float:
            spent.append(part)
            return 1.0 + for_matrix

        known = np.where(rng.random(200) < share, 0.0, np.nan)
        outcome = lapras(known, split, variance, rng)
        assert sum(spent) + split.matrix == pytest.approx(outcome.spent)
        assert outcome.spent <= 1 + 1e-12
        assert np.isfinite(outcome.errors[~np.isnan(known)]).all()
        assert outcome.answered > 0.9


def test_how_many_are_expected_is_right_on_average() -> None:
    """N = 20,000 streams: S (b - 1) / (n - 1) at the b-th of 40 among 100; 5 standard errors."""
    rng = np.random.default_rng(4)
    places = np.argsort(rng.random((20_000, 100)), axis=1)[:, :40]
    tenth = np.sort(places, axis=1)[:, 9] + 1
    expected = 100 * (10 - 1) / (tenth - 1)
    error = expected.std() / math.sqrt(len(expected))
    assert abs(expected.mean() - 40) < 5 * error
    assert abs((100 * 10 / tenth).mean() - 40) > 5 * error  # the positive control: b / n is not


def test_noise_is_that_of_the_share_of_the_budget() -> None:
    assert as_rho(0.5)(0.1, True) == pytest.approx(1 / (2 * 0.05))
    added = as_epsilons(1.0, 1e-5, 10)
    assert added(0.25, True) == least_variance(0.25, 0.5e-5)
    assert added(0.25, False) == least_variance(0.25, 0.5e-6)
    outcome = independent(20_000, as_rho(0.5), np.random.default_rng(5))
    assert outcome.mean_error == pytest.approx(math.sqrt(20_000 * 2 / math.pi), rel=0.03)
