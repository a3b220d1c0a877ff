"""Cross-validation: one reduction a fold equals solving anew for every α, and picks a good one."""

from typing import Any

import numpy as np
import pytest

from eke.errors import EstimateError
from eke.inference.features import HistoryFeatures, TableGroup, probabilities
from eke.inference.shrinkage import (
    DenseKernel,
    Evidence,
    Factorisation,
    Noise,
    Shrinkage,
    Total,
    choose_alpha,
)
from eke.inference.shrinkage.dense.banded import reduce_to_band
from reproductions.hist.shrinkage_path import ShrinkagePath
from tests.unit.inference.shrinkage.worlds import (
    DOMAIN,
    PRIOR,
    World,
    random_covariance,
    random_query,
)


def evidence_of(seed: int, total: Total, dense: bool, queries: int = 30) -> Evidence[DenseKernel]:
    generator = np.random.default_rng(seed)
    world = World.drawn(generator, queries)
    covariance = random_covariance(world.size, generator)
    noise = Noise.of_covariance(covariance if dense else np.diag(covariance))
    errors = generator.multivariate_normal(np.zeros(world.size), covariance)
    given = float(world.histogram.sum()) if not isinstance(total, str) else total
    return Evidence.of(world.features, world.matrix @ world.histogram + errors, noise, PRIOR, given)


def slow_error(evidence: Evidence[DenseKernel], alpha: float, folds: int) -> float:
    """The estimated mean squared error, every training set solved by itself."""
    total, size = 0.0, evidence.size
    whole: Any = evidence.noise.covariance
    sigma = np.diag(whole) if whole.ndim == 1 else whole
    for fold in range(folds):
        test = np.arange(fold, size, folds)
        train = np.setdiff1d(np.arange(size), test)
        inverse = np.linalg.inv(
            evidence.kernel.matrix[np.ix_(train, train)] + sigma[np.ix_(train, train)] / alpha**2
        )
        weights = inverse @ evidence.kernel.matrix[np.ix_(train, test)]
        if evidence.has_free_total:
            means = evidence.means[train]
            missing = evidence.means[test] - means @ weights
            weights = weights + np.outer(inverse @ means, missing / (means @ inverse @ means))
        off = weights.T @ evidence.deviations[train] - evidence.deviations[test]
        shared = np.einsum("ij,ij->j", weights, sigma[np.ix_(train, test)])
        total += float((off**2 - np.diag(sigma)[test] + 2.0 * shared).sum())
    return total / size


@pytest.mark.parametrize("total", ["ignored", "estimated", 1.0])
@pytest.mark.parametrize("dense", [False, True])
def test_every_point_of_the_curve_is_that_of_the_slow_way(total: Total, dense: bool) -> None:
    evidence = evidence_of(2, total, dense)
    choice = choose_alpha(evidence, folds=4)
    for place in (0, 17, 30, 49):
        expected = slow_error(evidence, float(choice.alphas[place]), 4)
        assert choice.mean_squared_errors[place] == pytest.approx(expected, rel=1e-6)
    assert choice.least_error <= choice.mean_squared_errors.min() + 1e-9
    assert choice.least_error == pytest.approx(slow_error(evidence, choice.alpha, 4), rel=1e-6)


def test_the_choice_costs_little_more_than_knowing_alpha() -> None:
    """N = 10 tables drawn from the prior with α = 20, for which 20 is the best there is on average.

    The chosen α costs at most a tenth more. Positive control: a twentieth and twenty times of it
    cost more than a quarter more. Questions are random sets of cells, none larger than the others.
    """
    generator = np.random.default_rng(4)
    p0 = probabilities(PRIOR, ("a", "c"))
    past, new = (generator.integers(0, 2, (200, 20)).astype(np.float64) for _ in range(2))
    groups = [TableGroup(("a", "c"), np.arange(200, dtype=np.intp), t) for t in (past, new)]
    measured, asked = (HistoryFeatures(DOMAIN, groups=[group]) for group in groups)
    noise = Noise.of_covariance(np.full(200, 400.0))
    sums = dict.fromkeys(("chosen", "known", "small", "large"), 0.0)
    for _ in range(10):
        table = 400 * p0 + generator.normal(0.0, 20.0 * np.sqrt(p0))
        values = past @ table + generator.normal(0.0, 20.0, 200)
        evidence = Evidence.of(measured, values, noise, PRIOR, float(table.sum()))
        tried = {
            "chosen": choose_alpha(evidence).alpha,
            "known": 20.0,
            "small": 1.0,
            "large": 400.0,
        }
        for name, alpha in tried.items():
            found = Shrinkage(Factorisation(evidence), alpha).estimate(asked).values
            sums[name] += float(np.mean((found - new @ table) ** 2))
    assert sums["chosen"] < 1.1 * sums["known"]
    assert min(sums["small"], sums["large"]) > 1.25 * sums["known"]


def test_the_path_is_the_estimator_at_every_alpha() -> None:
    for total in ("ignored", "estimated", 1.0):
        evidence = evidence_of(9, total, dense=True)
        path = ShrinkagePath(evidence, [0.5, 7.0])
        new = World.drawn(np.random.default_rng(1)).features
        for place, alpha in enumerate((0.5, 7.0)):
            at = Shrinkage(Factorisation(evidence), alpha)
            np.testing.assert_allclose(
                path.past()[place],
                at.estimate(evidence.kernel.features).values,
                rtol=1e-7,
                atol=1e-7,
            )
            np.testing.assert_allclose(
                path.new(new)[place], at.estimate(new).values, rtol=1e-7, atol=1e-7
            )


def test_inflation_notices_a_prior_that_promises_too_much() -> None:
    """A table far from the prior, judged at an α that is far too small, needs wider error bars."""
    generator = np.random.default_rng(6)
    world = World.drawn(generator, 60)
    values = world.matrix @ (50.0 * world.histogram) + generator.normal(0.0, 1.0, world.size)
    noise = Noise.of_covariance(np.ones(world.size))
    evidence = Evidence.of(world.features, values, noise, PRIOR)
    assert choose_alpha(evidence, alphas=[1.0]).inflation > 100.0
    assert choose_alpha(evidence, alphas=[1e5]).inflation == 1.0


@pytest.mark.parametrize(
    "settings",
    [
        {"folds": 1},
        {"folds": 10_000},
        {"folds": [np.array([0, 1])]},
        {"alphas": [0.0]},
        {"alphas": [np.inf]},
        {"alphas": []},
    ],
)
def test_senseless_settings_are_refused(settings: dict[str, Any]) -> None:
    evidence = evidence_of(1, "ignored", dense=False, queries=5)
    with pytest.raises(EstimateError):
        choose_alpha(evidence, **settings)


@pytest.mark.parametrize("rank", [1, 5, 10**6])
@pytest.mark.parametrize("size", [1, 2, 3, 8, 9, 10, 16, 17, 18, 40, 70, 300, 700])
def test_banded_solves_are_dense_solves(size: int, rank: int) -> None:
    generator = np.random.default_rng(size)
    root = generator.standard_normal((size, min(size, rank)))
    matrix = root @ root.T
    columns = generator.standard_normal((size, 3))
    bands, rotation = reduce_to_band(matrix.copy())
    assert len(bands.diagonals) <= max(9, size // 80 + 1)
    found = rotation.back(bands.solve(0.7, rotation.into(columns)))
    np.testing.assert_allclose(
        found, np.linalg.solve(matrix + 0.7 * np.eye(size), columns), rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(rotation.into(rotation.back(columns)), columns, atol=1e-11)
    largest = float(np.linalg.eigvalsh(matrix)[-1])
    assert bands.largest_eigenvalue() == pytest.approx(largest, rel=1e-3)


def test_bands_are_the_same_matrix_in_another_basis() -> None:
    generator = np.random.default_rng(3)
    root = generator.standard_normal((130, 130))
    matrix = root + root.T  # indefinite: nothing here may lean on signs
    bands, rotation = reduce_to_band(matrix.copy())
    narrow = sum(np.diag(row[: 130 - d], -d) for d, row in enumerate(bands.diagonals))
    narrow = narrow + np.tril(narrow, -1).T
    np.testing.assert_allclose(rotation.back(rotation.back(narrow).T), matrix, atol=1e-11)


def test_questions_that_a_known_total_answers_leave_nothing_to_reduce() -> None:
    bands, rotation = reduce_to_band(np.zeros((90, 90)))
    assert bands.largest_eigenvalue() == 0.0
    found = rotation.back(bands.solve(2.0, np.ones((90, 1))))
    np.testing.assert_allclose(found, 0.5, rtol=1e-14)


def test_an_alpha_beyond_precision_is_refused() -> None:
    bands, _ = reduce_to_band(-np.eye(3))
    with pytest.raises(EstimateError, match=r"math\.inf"):
        bands.solve(0.5, np.ones(3))


def test_paths_and_questions_are_checked() -> None:
    evidence = evidence_of(1, "ignored", dense=False, queries=5)
    with pytest.raises(EstimateError, match="path"):
        ShrinkagePath(evidence, [np.inf])
    query = random_query(np.random.default_rng(0))
    assert np.isfinite(Shrinkage(Factorisation(evidence), 1.0).posterior(query).variance)
