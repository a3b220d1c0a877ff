"""The closed form by residuals against dense generalised least squares."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest

from eke.errors import EkeError
from eke.inference.residuals import Residuals, assemble, closure, components, subsets
from tests.parts import parts

NAMES = ("a", "b", "c", "d")


def _marginal_matrix(sizes: dict[str, int], names: tuple[str, ...]) -> np.ndarray:
    """Rows: the cells of the marginal; columns: the cells of the domain. Built cell by cell."""
    matrix: np.ndarray = np.eye(1)
    for name, size in sizes.items():
        matrix = np.kron(matrix, np.eye(size) if name in names else np.ones((1, size)))
    return matrix


def _random_case(
    rng: np.random.Generator,
) -> tuple[dict[str, int], list[tuple[str, ...]]]:
    width = int(rng.integers(1, 5))
    sizes = {name: int(rng.integers(1, 5)) for name in NAMES[:width]}
    possible = [c for r in range(width + 1) for c in combinations(NAMES[:width], r)]
    chosen = rng.choice(len(possible), size=int(rng.integers(1, 5)), replace=True)
    return sizes, [possible[i] for i in chosen]


@pytest.mark.parametrize("case", parts(200, 50))
def test_closed_form_equals_dense_least_squares(case: int) -> None:
    rng = np.random.default_rng(case)
    sizes, measured = _random_case(rng)
    residuals = Residuals(sizes)
    rows, values, variances = [], [], []
    for names in measured:
        variance = float(rng.uniform(0.1, 9.0))
        table = rng.normal(size=[sizes[n] for n in names])
        residuals.add(names, table, variance)
        rows.append(_marginal_matrix(sizes, names))
        values.append(table.reshape(-1))
        variances.append(np.full(table.size, variance))
    strategy, noisy = np.vstack(rows), np.concatenate(values)
    weights = 1.0 / np.concatenate(variances)
    inverse = np.linalg.pinv(strategy.T @ (weights[:, None] * strategy), rcond=1e-10)
    estimate = inverse @ (strategy.T @ (weights * noisy))
    for names in closure(measured):
        query = _marginal_matrix(sizes, names)
        np.testing.assert_allclose(
            residuals.marginal(names).reshape(-1), query @ estimate, atol=1e-8
        )
        dense = np.einsum("ij,jk,ik->i", query, inverse, query)
        np.testing.assert_allclose(dense, residuals.cell_variance(names), rtol=1e-7)


def test_components_measured_alone_are_one_more_source() -> None:
    """A marginal is the same information as its components, each with its own precision."""
    rng = np.random.default_rng(5)
    sizes = {"a": 3, "b": 4}
    table = rng.normal(size=(3, 4))
    whole, apart = Residuals(sizes), Residuals(sizes)
    whole.add(("a", "b"), table, 2.0)
    for names, part in components(("a", "b"), table).items():
        merged = 12 / math.prod(part.shape)
        # Anything uncentred that noise puts into a component is ignored.
        apart.add_component(names, part if not names else part + 7.0, 2.0 * merged)
    np.testing.assert_allclose(apart.marginal(("a", "b")), whole.marginal(("a", "b")))
    assert apart.cell_variance(("a",)) == pytest.approx(whole.cell_variance(("a",)))


def test_wanted_components_only() -> None:
    rng = np.random.default_rng(6)
    names = ("a", "b", "c")
    table = rng.normal(size=(2, 3, 4))
    every = components(names, table)
    some = components(names, table, closure([("a", "c")]))
    assert set(some) == {(), ("a",), ("c",), ("a", "c")}
    for subset, part in some.items():
        np.testing.assert_allclose(part, every[subset])


def test_splitting_and_assembling_are_inverse() -> None:
    table = np.random.default_rng(7).normal(size=(2, 5, 1, 3))
    sizes = dict(zip(NAMES, table.shape, strict=True))
    np.testing.assert_allclose(assemble(NAMES, sizes, components(NAMES, table)), table)


def test_what_was_not_measured_is_unknown() -> None:
    residuals = Residuals({"a": 2, "b": 2})
    residuals.add(("a",), [1.0, 2.0], 1.0)
    assert residuals.knows(("a",))
    assert residuals.knows(())
    assert not residuals.knows(("a", "b"))
    with pytest.raises(EkeError, match="determines"):
        residuals.marginal(("a", "b"))


@pytest.mark.parametrize(
    ("table", "variance"), [([1.0], 1.0), ([1.0, 2.0], 0.0), ([1.0, 2.0], math.inf)]
)
def test_bad_input_is_refused(table: list[float], variance: float) -> None:
    with pytest.raises(EkeError):
        Residuals({"a": 2}).add(("a",), table, variance)


def test_subsets_keep_the_order_of_names() -> None:
    assert list(subsets(("b", "a"))) == [(), ("b",), ("a",), ("b", "a")]
