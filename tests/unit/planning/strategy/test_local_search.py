"""Local search keeps the workload covered and never makes the error larger."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eke.planning.workload.lattice import Lattice
from eke.planning.workload.options import evaluate
from eke.planning.workload.strategy.blocks import marginals_strategy, maximal_targets
from eke.planning.workload.strategy.designs import coverings
from eke.planning.workload.strategy.local_search import improved
from eke.planning.workload.workload import all_marginals
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from tests.unit.planning.cubes import cube


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("sizes", [(3, 2, 5, 4, 2), (2, 2, 2, 2, 2, 2)])
def test_every_design_can_only_get_better(sizes: tuple[int, ...], measure: Measure) -> None:
    lattice = Lattice(all_marginals(cube(*sizes), 2))
    gained = 0.0
    for marginals in list(coverings(lattice))[:6]:
        strategy = marginals_strategy("design", lattice, marginals)
        before = evaluate(
            lattice, strategy, measure, 1.0, noise="least_squares", recovery="least_squares"
        )
        names = [block.attributes for block in strategy.blocks]
        better = improved(lattice, names, before.noise_variances, measure)
        for target in maximal_targets(lattice):
            assert any(set(target) <= set(block) for block in better)
        after = evaluate(
            lattice,
            marginals_strategy("design", lattice, better),
            measure,
            1.0,
            noise="least_squares",
            recovery="least_squares",
        )
        gained += math.log(before.total_error / after.total_error)
        assert after.total_error <= before.total_error * (1 + 1e-6)
    assert gained > 0.01


def test_what_is_not_measured_is_left_out() -> None:
    lattice = Lattice(all_marginals(cube(2, 2), 1))
    found = improved(lattice, [("a",), ("a", "b")], np.array([math.inf, 1.0]), PURE)
    assert found == [("a", "b")]
