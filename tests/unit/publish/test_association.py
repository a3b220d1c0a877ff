"""Associations: columns stay as they are, noise hardly matters, independence is told apart."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.publish.association import Association, NoisyPair, _fitted
from eke.publish.coarse import CoarseMarginal, groups_of_values

DOMAIN = Domain(x=Integer(0, 299), y=Integer(0, 299))
ROWS = 20_000


def columns(strength: float, seed: int = 0) -> NDArray[np.int64]:
    """Two columns with a long tail, y = x + normal noise, as delays of a day are."""
    source = np.random.default_rng(seed)
    x = source.lognormal(2.5, 1.0, ROWS)
    y = strength * x + (1.0 - abs(strength)) * source.lognormal(2.5, 1.0, ROWS)
    y = y + source.normal(0, 4, ROWS) + (150 if strength < 0 else 20)
    return np.clip(np.stack([x, y], axis=1).round(), 0, 299).astype(np.int64)


def shares_of(table: NDArray[np.int64]) -> dict[str, NDArray[np.float64]]:
    return {
        name: np.bincount(own, minlength=300).astype(float)
        for name, own in zip("xy", table.T, strict=True)
    }


def noisy(
    table: NDArray[np.int64], most: int, deviation: float, seed: int = 1, *, still: bool = False
) -> NoisyPair:
    """Counts in so many groups; the noise is NumPy's, unless there is none."""
    groups = groups_of_values(
        DOMAIN, shares_of(table), most=most, least_share=4 * deviation / len(table)
    )
    block = CoarseMarginal(DOMAIN, ("x", "y"), (groups["x"], groups["y"]))
    cells = groups["x"][table[:, 0]] * block.shape[1] + groups["y"][table[:, 1]]
    counts = np.bincount(cells, minlength=block.cells)
    noise = np.random.default_rng(seed).normal(0.0, deviation, block.cells)
    return NoisyPair(block, counts + (0.0 if still else 1.0) * noise, deviation)


def of(table: NDArray[np.int64], *tables: NoisyPair) -> Association | None:
    return Association.of(DOMAIN, shares_of(table), float(len(table)), tables)


def correlation(
    block: CoarseMarginal, counts: NDArray[np.float64], table: NDArray[np.int64]
) -> float:
    """That of records which are independent within the cells of a table."""
    law = np.maximum(counts, 0.0).reshape(block.shape)
    law = law / law.sum()
    apart = []
    for labels, own, side in zip(
        block.groups, table.T, (law.sum(axis=1), law.sum(axis=0)), strict=True
    ):
        means = np.bincount(labels[own], own, len(side)) / np.maximum(
            np.bincount(labels[own], minlength=len(side)), 1
        )
        apart.append(means - side @ means)
    return float(apart[0] @ law @ apart[1] / (table[:, 0].std() * table[:, 1].std()))


def test_the_law_is_that_of_the_definition() -> None:
    """Twin: P ∝ a·b·exp(θuv), fitted to the columns by plain loops until nothing moves."""
    source = np.random.default_rng(3)
    first, second = source.dirichlet(np.ones(5)), source.dirichlet(np.ones(4))
    u, v = source.normal(0, 1, 5), source.normal(0, 1, 4)
    theta = 0.6 / (1 - 0.6**2)
    slow = np.array([[np.exp(theta * u[i] * v[j]) for j in range(4)] for i in range(5)])
    for _ in range(3000):
        for i in range(5):
            slow[i] *= first[i] / slow[i].sum()
        for j in range(4):
            slow[:, j] *= second[j] / slow[:, j].sum()
    np.testing.assert_allclose(_fitted(first, second, u, v, 0.6), slow, atol=1e-6)


@pytest.mark.parametrize("strength", [0.95, -0.9])
def test_strong_correlations_are_found_through_groups_and_noise(strength: float) -> None:
    """Within 0.05 at a noise of 18 a cell; groups alone (the control) are not, without noise."""
    table = columns(strength)
    real = float(np.corrcoef(table[:, 0], table[:, 1])[0, 1])
    one = noisy(table, 8, 18.0)
    found = of(table, one)
    assert found is not None
    assert correlation(found.fine, found.counts.reshape(-1), table) == pytest.approx(real, abs=0.05)
    exact = noisy(table, 8, 18.0, still=True)
    assert abs(correlation(exact.marginal, exact.values, table) - real) > 0.05
    for axis, own in enumerate(found.fine.groups):
        alone = np.bincount(own[table[:, axis]], minlength=found.fine.shape[axis])
        np.testing.assert_allclose(found.counts.sum(axis=1 - axis), alone, atol=0.02 * ROWS)


def test_independent_columns_have_none() -> None:
    """N = 12. One number takes away a misfit of 9 by chance in 0.3 % each; there are two of them.

    More than one of twelve has a chance of less than 0.003; weak dependence (the control) is found.
    """
    found = {0.0: 0, 0.2: 0}
    for strength in found:
        for seed in range(12):
            table = columns(strength, seed)[:4000]
            found[strength] += of(table, noisy(table, 8, 10.0, seed + 100)) is not None
    assert found[0.0] <= 1
    assert found[0.2] == 12


def test_fine_counts_add_up_to_what_is_wanted() -> None:
    table = columns(0.9)
    one = noisy(table, 8, 5.0)
    found = of(table, one, noisy(table, 20, 5.0))
    assert found is not None
    inside = found.inside(one.marginal, one.values).reshape(found.fine.shape)
    sums = np.zeros(one.marginal.shape)
    for i, row in enumerate(inside):
        group = one.marginal.groups[0][np.flatnonzero(found.fine.groups[0] == i)[0]]
        for j, count in enumerate(row):
            other = one.marginal.groups[1][np.flatnonzero(found.fine.groups[1] == j)[0]]
            sums[group, other] += count
    wanted = np.maximum(one.values, 0.0).reshape(one.marginal.shape)
    assert np.abs(sums - wanted).max() < 4.0  # thousands of fine counts are rounded
    assert (inside >= 0.0).all()
    np.testing.assert_array_equal(inside * 1024.0, np.rint(inside * 1024.0))


def test_what_is_measured_value_by_value_needs_none() -> None:
    domain = Domain(x=Integer(0, 3), y=Integer(0, 3))
    every = np.arange(4, dtype=np.int64)
    block = CoarseMarginal(domain, ("x", "y"), (every, every))
    one = NoisyPair(block, np.diag([50.0] * 4).reshape(-1), 1.0)
    even = {name: np.full(4, 50.0) for name in "xy"}
    assert Association.of(domain, even, 200.0, [one]) is None


@pytest.mark.parametrize("counts", [0.0, 1e12, -1e12])
def test_nothing_fails_for_any_numbers(counts: float) -> None:
    """Steps after a charge must not: all in one cell, nobody, and hugely negative counts."""
    groups = tuple(np.minimum(np.arange(300) // 100, 2) for _ in range(2))
    block = CoarseMarginal(DOMAIN, ("x", "y"), groups)
    values = np.zeros(9)
    values[[0, 4, 8]] = counts
    shares = {"x": np.zeros(300), "y": np.eye(300)[0]}
    found = Association.of(DOMAIN, shares, 1.0, [NoisyPair(block, values, 0.01)])
    if found is not None:
        assert np.isfinite(found.inside(block, values)).all()
