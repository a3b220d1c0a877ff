"""Consistent tables that meet public facts: against the equations of all cells at once."""

from __future__ import annotations

from fractions import Fraction
from typing import Literal, get_args

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.errors import EstimateError
from eke.history import Assertion
from eke.planning import consistent_tables, whole_tables
from eke.planning.workload.consistency import free_cells
from eke.planning.workload.equations import Equation, equations_of
from eke.planning.workload.programs import Norm
from eke.query import count, marginal

DOMAIN = Domain(a=Integer(0, 1), b=Integer(0, 2), c=Integer(0, 1))
SIZES = {"a": 2, "b": 3, "c": 2}
TABLES: tuple[tuple[str, ...], ...] = (("a", "b"), ("b", "c"), ("a",))


def world(rng: np.random.Generator):
    """True counts, noisy tables of them, and facts that are true of them."""
    truth = rng.integers(1, 30, (2, 3, 2)).astype(float)
    empty = count(a=0, b=2).on(DOMAIN)
    truth[0, 2] = 0.0
    facts = [
        Assertion(empty, (Fraction(0),)),
        Assertion(count(b=(0, 1), c=1).on(DOMAIN), (Fraction(truth[:, :2, 1].sum()),)),
        Assertion(marginal("a").on(DOMAIN), tuple(map(Fraction, truth.sum(axis=(1, 2))))),
    ]
    axes: dict[tuple[str, ...], tuple[int, ...]] = {
        ("a", "b"): (2,),
        ("b", "c"): (0,),
        ("a",): (1, 2),
    }
    tables = {
        names: truth.sum(axis=axes[names]) + rng.normal(0, 4, [SIZES[n] for n in names])
        for names in TABLES
    }
    return truth, tables, equations_of(facts, TABLES, DOMAIN)


def conditions(equations: list[Equation]) -> tuple[np.ndarray, np.ndarray]:
    """(coefficients over all cells of all tables, values)."""
    rows = []
    for equation in equations:
        holder = next(names for names in TABLES if set(equation.attributes) <= set(names))
        parts = [
            equation.over(names, SIZES) if names == holder else np.zeros([SIZES[n] for n in names])
            for names in TABLES
        ]
        rows.append(np.concatenate([part.reshape(-1) for part in parts]))
    return np.array(rows), np.array([equation.value for equation in equations])


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("total", [False, True])
def test_the_nearest_tables_are_those_of_the_equations_of_all_cells(
    seed: int, *, total: bool
) -> None:
    rng = np.random.default_rng(seed)
    truth, tables, equations = world(rng)
    variances = {names: float(rng.uniform(1, 9)) for names in TABLES}
    everyone = float(truth.sum()) if total else None
    near = consistent_tables(
        tables, SIZES, variances=variances, total=everyone, equations=equations
    )
    design = free_cells(TABLES, SIZES).toarray()
    matrix, values = conditions(equations)
    if total:
        first = np.concatenate([np.full(6, 1.0), np.zeros(len(design) - 6)])
        matrix, values = np.vstack([matrix, first]), np.append(values, truth.sum())
    precision = np.concatenate(
        [np.full(tables[names].size, 1.0 / variances[names]) for names in TABLES]
    )
    target = np.concatenate([tables[names].reshape(-1) for names in TABLES])
    gram, along = design.T @ (precision[:, None] * design), matrix @ design
    corner = np.zeros((len(along), len(along)))
    left = np.block([[gram, along.T], [along, corner]])
    right = np.concatenate([design.T @ (precision * target), values])
    solved = np.linalg.lstsq(left, right, rcond=1e-12)[0][: design.shape[1]]
    expected = design @ solved
    found = np.concatenate([near[names].reshape(-1) for names in TABLES])
    np.testing.assert_allclose(found, expected, atol=1e-7)
    np.testing.assert_allclose(matrix @ found, values, atol=1e-7)


@pytest.mark.parametrize("norm", get_args(Norm))
@pytest.mark.parametrize("nonnegative", [False, True])
def test_every_norm_meets_the_facts(norm: Norm, *, nonnegative: bool) -> None:
    _, tables, equations = world(np.random.default_rng(5))
    near = consistent_tables(tables, SIZES, norm, nonnegative=nonnegative, equations=equations)
    matrix, values = conditions(equations)
    found = np.concatenate([near[names].reshape(-1) for names in TABLES])
    np.testing.assert_allclose(matrix @ found, values, atol=5e-3 if nonnegative else 1e-6)
    if nonnegative:
        assert found.min() >= 0.0
    np.testing.assert_allclose(near[("a", "b")].sum(axis=1), near[("a",)], atol=5e-3)


def test_whole_tables_leave_empty_what_is_empty() -> None:
    for seed in range(8):
        truth, tables, equations = world(np.random.default_rng(seed))
        whole = whole_tables(tables, SIZES, equations=equations).tables
        assert whole[("a", "b")][0, 2] == 0
        assert abs(whole[("a",)] - truth.sum(axis=(1, 2))).max() <= 3


def test_facts_that_no_counts_can_meet_are_told() -> None:
    tables: dict[tuple[str, ...], np.ndarray] = {("a",): np.array([5.0, 5.0])}
    negative = Equation(("a",), np.array([1.0, 0.0]), -4.0)
    with pytest.raises(EstimateError, match="meet all public facts"):
        consistent_tables(tables, {"a": 2}, nonnegative=True, equations=[negative])
    method: Literal["l2"] = "l2"
    near = consistent_tables(tables, {"a": 2}, method, equations=[negative])
    np.testing.assert_allclose(near[("a",)], [-4.0, 5.0], atol=1e-9)


def test_without_facts_nothing_changes() -> None:
    _, tables, _ = world(np.random.default_rng(1))
    for names, table in consistent_tables(tables, SIZES, nonnegative=True).items():
        same = consistent_tables(tables, SIZES, nonnegative=True, equations=())[names]
        assert table.tobytes() == same.tobytes()
