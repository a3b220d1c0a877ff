"""Strategies for marginals: exact recovery, stated variances and costs, against dense matrices."""

from __future__ import annotations

from math import comb, sqrt

import numpy as np
import pytest

from eke.planning.workload.lattice import Lattice
from eke.planning.workload.options import (
    Noise,
    Recovery,
    best_option,
    evaluate,
    named_strategies,
    options,
)
from eke.planning.workload.release import plan_release
from eke.planning.workload.strategy.kernel import Kernel, Kind
from eke.planning.workload.workload import Workload, all_marginals, marginals_up_to
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from tests.parts import in_long
from tests.unit.planning.cubes import (
    cube,
    loss_of,
    marginal_rows,
    noise_of,
    recovery_of,
    stated_variances,
    strategy_of,
)

WAYS: tuple[tuple[Noise, Recovery], ...] = (
    ("uniform", "initial"),
    ("groups", "initial"),
    ("groups", "least_squares"),
    ("least_squares", "least_squares"),
)


@pytest.mark.parametrize("size", [2, 3, 4, 5, 7, 8, 9])
@pytest.mark.parametrize("kind", ["cells", "residual", "fourier", "walsh"])
def test_kernels_are_what_their_numbers_say(kind: Kind, size: int) -> None:
    kernel = Kernel(kind, size)
    matrix = kernel.matrix().astype(float)
    centred, mean = np.eye(size) - 1.0 / size, np.full((size, size), 1.0 / size)
    expected = kernel.centred_gain * centred + kernel.mean_gain * mean
    tolerance = 1e-4 * kernel.centred_gain if kind == "fourier" else 1e-9
    np.testing.assert_allclose(matrix.T @ matrix, expected, atol=tolerance)
    assert kernel.reach(1) == np.abs(matrix).sum(axis=0).max()
    assert kernel.reach(2) == (matrix**2).sum(axis=0).max()


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("name", ["I", "Q", "C", "F", "Fourier", "residuals", "design"])
@pytest.mark.parametrize("sizes", [(3, 2, 1), in_long((3, 2, 1, 4))])
def test_plans_are_what_they_state(name: str, measure: Measure, sizes: tuple[int, ...]) -> None:
    """Unbiased, of the stated variance, within budget; least squares is the dense one."""
    domain = cube(*sizes)
    workload = all_marginals(domain, 2) + Workload.of(domain, [("a",), ()])
    wanted = np.vstack([marginal_rows(domain, t.attributes) for t in workload.targets])
    ways = WAYS[3:] if name == "design" else WAYS
    for noise, recovery in ways:
        plan = plan_release(
            workload, measure=measure, budget=0.5, strategy=name, noise=noise, recovery=recovery
        )
        strategy, variances = strategy_of(plan), noise_of(plan)
        matrix = recovery_of(plan)
        np.testing.assert_allclose(matrix @ strategy, wanted, atol=1e-8)
        np.testing.assert_allclose(matrix**2 @ variances, stated_variances(plan), rtol=1e-3)
        assert loss_of(plan) <= 0.5 * (1 + 1e-9)
        if recovery == "least_squares" and name != "Fourier":
            inner = np.linalg.pinv(strategy.T @ (strategy / variances[:, None]), rcond=1e-10)
            dense = np.einsum("ij,jk,ik->i", wanted, inner, wanted)
            np.testing.assert_allclose(stated_variances(plan), dense, rtol=1e-3)


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
def test_better_noise_and_recovery_never_hurt(measure: Measure) -> None:
    domain = cube(3, 2, 4, 2)
    lattice = Lattice(marginals_up_to(domain, 2))
    found = {option.name: option.total_error for option in options(lattice, measure, 1.0)}
    for name in named_strategies(lattice, measure):
        assert found[f"{name}+"] <= found[name] * (1 + 1e-9)
        assert found[f"{name}+ gls"] <= found[f"{name}+"] * (1 + 1e-9)


def test_residuals_are_the_gaussian_optimum() -> None:
    """Nothing in the portfolio beats them, and `auto` takes them."""
    domain = cube(3, 2, 4, 2)
    lattice = Lattice(all_marginals(domain, 2))
    every = options(lattice, CONCENTRATED, 0.5)
    best = best_option(lattice, CONCENTRATED, 0.5)
    assert best.strategy.name == "residuals"
    assert best.total_error <= min(option.total_error for option in every) * (1 + 1e-9)
    # Closed form: (Σ sqrt(importance · share))² over the squared reach that the budget buys.
    closed = float(np.sum(np.sqrt(lattice.importance * lattice.share))) ** 2 / (2 * 0.5)
    assert best.total_error == pytest.approx(closed)


@pytest.mark.parametrize("ways", [1, 2, 3])
@pytest.mark.parametrize("width", [4, 8, 16])
def test_bounds_of_table_1(width: int, ways: int) -> None:
    """Expected L1 noise of a marginal, bounded through its variance, stays below the paper's."""
    if 2 * ways >= width:
        ways = 1
    lattice = Lattice(all_marginals(cube(*[2] * width), ways))
    named = named_strategies(lattice, PURE)

    def noise(name: str, kind: Noise) -> float:
        option = evaluate(lattice, named[name], PURE, 1.0, noise=kind, recovery="initial")
        return float(2**ways * np.sqrt(option.target_variances.max()))

    subsets, coefficients = comb(width, ways), sum(comb(width, i) for i in range(ways + 1))
    assert noise("I", "uniform") <= sqrt(2) * 2 ** ((width + ways) / 2) * (1 + 1e-9)
    assert noise("Q", "uniform") <= sqrt(2) * 2**ways * subsets * (1 + 1e-9)
    assert noise("F", "uniform") <= coefficients * sqrt(2 ** (3 + ways))  # Theorem B.1
    bound = sqrt(3 * (ways + 1) ** 2 * comb(width + ways, ways) * subsets / 2 ** (ways - 1))
    # Lemma 4.2: the sum of variances over q = 2^k·C(d,k) cells, per cell, times 2^k cells.
    assert noise("F", "groups") <= 2**ways * bound / sqrt(2**ways) * (1 + 1e-9)
