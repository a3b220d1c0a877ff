"""Joint recovery against dense generalised least squares over all cells."""

from __future__ import annotations

import numpy as np
import pytest

import eke
from eke.errors import EkeError
from eke.planning.dense import least_squares_recovery
from eke.planning.release import ReleasePlan, plan_release
from eke.planning.release.joint import MeasuredRows, recover_jointly
from eke.planning.release.queries import workload_matrix
from eke.planning.workload import Workload, all_marginals, prefixes, ranges
from eke.privacy.accountant import Measure
from tests.unit.planning.cubes import answers_split, cube, noise_of, rows_of, strategy_of

DOMAIN = cube(3, 2, 5)


def _plan(measure: Measure) -> ReleasePlan:
    single = Workload.of(DOMAIN, [eke.count(a="v1", b="v0"), 2 * eke.count(c=["v1", "v2"]) + 7])
    workload = all_marginals(DOMAIN, 2) + ranges(DOMAIN, "c") + prefixes(DOMAIN, "a", "c") + single
    return plan_release(workload, measure=measure, budget=0.5)


@pytest.mark.parametrize("measure", ["epsilon", "rho"])
def test_everything_together_is_dense_least_squares(measure: Measure) -> None:
    plan = _plan(measure)
    rng = np.random.default_rng(1)
    strategy, variances = strategy_of(plan), noise_of(plan)
    flat = strategy @ rng.integers(0, 30, DOMAIN.size) + rng.normal(0, np.sqrt(variances))
    found = recover_jointly(plan, answers_split(plan, flat))
    wanted = workload_matrix(plan.workload, DOMAIN.names)
    recovery = least_squares_recovery(wanted, strategy, variances)
    expected = recovery @ flat
    expected[-2:] += [float(q.constant) for q in plan.workload.queries]
    values = np.concatenate([table.values.reshape(-1) for table in found])
    np.testing.assert_allclose(values, expected, atol=1e-5)
    stated = np.concatenate(
        [np.broadcast_to(t.variance, t.values.shape).reshape(-1) for t in found]
    )
    assert (recovery**2 @ variances <= stated * (1 + 1e-6)).all()


def test_rows_and_their_transposes_are_the_matrices() -> None:
    rng = np.random.default_rng(2)
    for part in _plan("rho").parts:
        block = MeasuredRows(DOMAIN, DOMAIN.names, part.measured)
        matrix = rows_of(DOMAIN, part.measured)
        cells, answers = rng.normal(size=DOMAIN.shape), rng.normal(size=len(matrix))
        np.testing.assert_allclose(block.forward(cells), matrix @ cells.reshape(-1), rtol=1e-9)
        back = block.backward(answers)
        np.testing.assert_allclose(back.reshape(-1), matrix.T @ answers, rtol=1e-9, atol=1e-6)


def test_many_cells_are_refused() -> None:
    domain = cube(*[20] * 6)
    plan = plan_release(all_marginals(domain, 1), measure="rho", budget=1.0, compare=False)
    with pytest.raises(EkeError, match="section by section"):
        recover_jointly(plan, [])
