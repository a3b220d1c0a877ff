"""Consistency against programs with one variable for each cell of the domain."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, nnls

from eke.errors import EkeError
from eke.inference.residuals import closure
from eke.planning.workload.consistency import consistent_tables, free_cells
from eke.planning.workload.programs import Norm
from eke.planning.workload.whole_numbers import round_running_sums, whole_tables
from tests.unit.planning.cubes import FloatArray, cube, marginal_rows

SETS = [("a", "b"), ("b", "c"), ("a",), ("a", "c")]


def _noisy(
    seed: int, *sizes: int
) -> tuple[dict[tuple[str, ...], FloatArray], dict[str, int], FloatArray]:
    """Tables with noise, attribute sizes, and the matrix of all their cells."""
    rng = np.random.default_rng(seed)
    domain = cube(*sizes)
    counts = rng.integers(0, 4, size=np.prod(sizes)).astype(float)
    matrix = np.vstack([marginal_rows(domain, names) for names in SETS])
    tables = {}
    for names in SETS:
        exact = marginal_rows(domain, names) @ counts
        shape = [domain[name].size for name in names]
        tables[names] = (exact + rng.laplace(0, 2, exact.shape)).reshape(shape)
    return tables, dict(zip(domain.names, domain.shape, strict=True)), matrix


def _flat(tables: dict[tuple[str, ...], FloatArray]) -> FloatArray:
    return np.concatenate([table.reshape(-1) for table in tables.values()])


def _cell_program(
    matrix: FloatArray, target: FloatArray, norm: Norm, *, nonnegative: bool
) -> float:
    """The least distance, by a program over the cells of the domain (CUBE §3.3)."""
    rows, cells = matrix.shape
    floor = 0.0 if nonnegative else None
    if norm == "l1":
        slack = np.eye(rows)
        upper = np.block([[matrix, -slack], [-matrix, -slack]])
        goal = np.concatenate([np.zeros(cells), np.ones(rows)])
    else:
        one = np.ones((rows, 1))
        upper = np.block([[matrix, -one], [-matrix, -one]])
        goal = np.concatenate([np.zeros(cells), [1.0]])
    bounds = [(floor, None)] * cells + [(0.0, None)] * (len(goal) - cells)
    found = linprog(goal, A_ub=upper, b_ub=np.concatenate([target, -target]), bounds=bounds)
    assert found.fun is not None
    return float(found.fun)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("norm", ["l2", "l1", "linf"])
def test_nearest_tables_equal_the_program_over_all_cells(norm: Norm, seed: int) -> None:
    tables, sizes, matrix = _noisy(seed, 3, 2, 4)
    found = consistent_tables(tables, sizes, norm)
    target, values = _flat(tables), _flat(found)
    base = np.linalg.lstsq(matrix, values, rcond=None)[0]
    np.testing.assert_allclose(matrix @ base, values, atol=1e-6)  # they come from one x
    if norm == "l2":
        best = matrix @ np.linalg.lstsq(matrix, target, rcond=None)[0]
        np.testing.assert_allclose(values, best, atol=1e-8)
        return
    distance = np.abs(values - target).sum() if norm == "l1" else np.abs(values - target).max()
    assert distance == pytest.approx(_cell_program(matrix, target, norm, nonnegative=False))


@pytest.mark.parametrize("norm", ["l2", "l1", "linf"])
def test_nonnegative_tables(norm: Norm) -> None:
    """Consistent, at least zero, no further away than base counts at least zero can be."""
    tables, sizes, matrix = _noisy(2, 3, 2, 4)
    found = consistent_tables(tables, sizes, norm, nonnegative=True)
    target, values = _flat(tables), _flat(found)
    assert values.min() >= 0.0
    base = np.linalg.lstsq(matrix, values, rcond=None)[0]
    np.testing.assert_allclose(matrix @ base, values, atol=1e-5)
    if norm == "l2":
        nearest = float(nnls(matrix, target)[1])
        assert np.linalg.norm(values - target) <= nearest + 1e-5
        plain = _flat(consistent_tables(tables, sizes))
        assert np.linalg.norm(values - target) >= np.linalg.norm(plain - target)
        return
    distance = np.abs(values - target).sum() if norm == "l1" else np.abs(values - target).max()
    # Tables can agree and be non-negative without any non-negative base counts, hence <=.
    assert distance <= _cell_program(matrix, target, norm, nonnegative=True) + 1e-6


def test_degrees_of_freedom_span_exactly_the_consistent_tables() -> None:
    _, sizes, matrix = _noisy(0, 3, 2, 4)
    design = free_cells(SETS, sizes).toarray()
    rank = int(np.linalg.matrix_rank(matrix))
    assert design.shape[1] == rank == int(np.linalg.matrix_rank(design))
    assert int(np.linalg.matrix_rank(np.hstack([design, matrix]))) == rank
    freedom = sum(int(np.prod([sizes[n] - 1 for n in names])) for names in closure(SETS))
    assert design.shape[1] == freedom


def test_whole_tables_are_sums_of_one_set_of_records() -> None:
    tables, sizes, _ = _noisy(3, 3, 2, 4)
    whole = whole_tables(tables, sizes)
    assert whole.joint
    assert all(table.min() >= 0 for table in whole.tables.values())
    np.testing.assert_array_equal(whole.tables[("a", "b")].sum(axis=1), whole.tables[("a",)])
    np.testing.assert_array_equal(whole.tables[("a", "c")].sum(axis=1), whole.tables[("a",)])
    change = [np.abs(whole.tables[n] - t).sum() for n, t in tables.items()]
    assert whole.moved == pytest.approx(sum(change) / sum(t.size for t in tables.values()))


def test_whole_tables_of_huge_domains_share_their_total() -> None:
    sizes = {f"x{i}": 50 for i in range(6)}
    rng = np.random.default_rng(1)
    tables: dict[tuple[str, ...], FloatArray] = {
        (f"x{i}",): rng.normal(20, 5, 50) for i in range(6)
    }
    whole = whole_tables(tables, sizes)
    assert not whole.joint
    assert len({int(table.sum()) for table in whole.tables.values()}) == 1
    assert all(table.min() >= 0 for table in whole.tables.values())


def test_rounding_keeps_running_sums() -> None:
    values = np.random.default_rng(4).exponential(1.5, 400)
    whole = round_running_sums(values)
    assert np.abs(np.cumsum(whole) - np.cumsum(values)).max() <= 0.5 + 1e-8
    assert np.abs(whole - values).max() <= 1.0
    with pytest.raises(EkeError, match="non-negative"):
        round_running_sums(np.array([-1.0]))


def test_bad_input_is_refused() -> None:
    with pytest.raises(EkeError, match="norm"):
        consistent_tables({("a",): [1.0, 2.0]}, {"a": 2}, "l3")  # type: ignore[arg-type]
    with pytest.raises(EkeError, match="nothing"):
        consistent_tables({}, {"a": 2})
