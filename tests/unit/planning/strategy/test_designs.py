"""Coverings, geometries and clusters: everything measured determines the workload."""

from __future__ import annotations

from itertools import combinations
from math import comb

import pytest

from eke.planning.workload.lattice import Lattice
from eke.planning.workload.options import best_design, best_option, rmse
from eke.planning.workload.strategy.blocks import maximal_targets
from eke.planning.workload.strategy.clusters import cluster_path, clustering
from eke.planning.workload.strategy.designs import coverings
from eke.planning.workload.strategy.geometry import affine, projective
from eke.planning.workload.workload import (
    Workload,
    all_marginals,
    marginals_and_half_of_next,
    marginals_and_those_with,
)
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.pure import PURE
from tests.unit.planning.cubes import cube


@pytest.mark.parametrize(
    ("space", "order", "dimension", "flat", "points", "blocks", "size"),
    [
        (affine, 2, 3, 2, 8, 14, 4),
        (affine, 3, 2, 1, 9, 12, 3),
        (affine, 4, 2, 1, 16, 20, 4),
        (affine, 2, 4, 3, 16, 30, 8),
        (projective, 2, 2, 1, 7, 7, 3),
        (projective, 3, 2, 1, 13, 13, 4),
        (projective, 4, 2, 1, 21, 21, 5),
    ],
)
def test_flats_of_finite_geometries(space, order, dimension, flat, points, blocks, size) -> None:
    """Known numbers of points, blocks and points of a block; every pair lies in as many blocks."""
    found, lines = space(order, dimension, flat)
    assert (found, len(lines)) == (points, blocks)
    assert {len(line) for line in lines} == {size}
    together = [
        sum(set(pair) <= set(line) for line in lines) for pair in combinations(range(points), 2)
    ]
    assert len(set(together)) == 1
    assert together[0] == blocks * comb(size, 2) // comb(points, 2)


def _workloads() -> list[Workload]:
    binary, mixed = cube(*[2] * 7), cube(3, 2, 5, 4, 2)
    return [
        all_marginals(binary, 1),
        all_marginals(binary, 2),
        all_marginals(binary, 3),
        marginals_and_half_of_next(mixed, 1),
        marginals_and_those_with(mixed, 2, "c"),
        Workload.of(mixed, [("a",), ("c", "d", "e"), ()]),
    ]


@pytest.mark.parametrize("number", range(6))
def test_every_covering_determines_the_workload(number: int) -> None:
    lattice = Lattice(_workloads()[number])
    candidates = [list(clusters.marginals) for clusters in cluster_path(lattice, PURE)]
    candidates += coverings(lattice)
    assert candidates
    for marginals in candidates:
        for target in maximal_targets(lattice):
            assert any(set(target) <= set(names) for names in marginals)


def test_clustering_merges_when_that_is_cheaper() -> None:
    """Two cells each: pairs of attributes cost half and sum up two cells instead of one."""
    lattice = Lattice(all_marginals(cube(*[2] * 8), 1))
    found = clustering(lattice, cluster_path(lattice, PURE))
    assert found is not None
    assert len(found.blocks) < 8


@pytest.mark.parametrize(
    ("width", "ways", "reference"),
    [(8, 1, 6.82), (8, 2, 11.31), (10, 2, 21.09), (16, 1, 14.09), (16, 2, 68.03)],
)
def test_auto_does_not_lose_to_the_references(width: int, ways: int, reference: float) -> None:
    """RMSE per cell at epsilon = 1; the rest of the table is in benchmarks/marginals.py."""
    lattice = Lattice(all_marginals(cube(*[2] * width), ways))
    design = best_design(lattice, PURE, 1.0)
    assert design is not None
    assert rmse(design, lattice) < reference


@pytest.mark.parametrize(("ways", "reference"), [(1, 3.0468), (2, 6.3587)])
def test_the_gaussian_optimum_on_adult(ways: int, reference: float) -> None:
    """RMSE per cell at rho = 1/2."""
    sizes = (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2)
    lattice = Lattice(all_marginals(cube(*sizes), ways))
    assert rmse(best_option(lattice, CONCENTRATED, 0.5), lattice) == pytest.approx(
        reference, abs=1e-4
    )
