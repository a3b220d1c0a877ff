from __future__ import annotations

import numpy as np
import pytest

from eke.inference.packed import PackedFactor


def positive_definite(size: int, generator: np.random.Generator) -> np.ndarray:
    root = generator.normal(size=(size, size + 3))
    return np.asarray(root @ root.T)


def grown(matrix: np.ndarray) -> PackedFactor:
    factor = PackedFactor()
    for k in range(len(matrix)):
        column = factor.solve_transposed(matrix[:k, k].copy())
        factor.append(column, float(np.sqrt(matrix[k, k] - column @ column)))
    return factor


def unpacked(factor: PackedFactor) -> np.ndarray:
    upper = np.zeros((factor.size, factor.size))
    for k in range(factor.size):
        start = k * (k + 1) // 2
        upper[: k + 1, k] = factor._buffer[start : start + k + 1]
    return upper


@pytest.mark.parametrize("size", [*range(1, 13), 30, 59, 60])
def test_appended_columns_are_the_cholesky_factor(size):
    matrix = positive_definite(size, np.random.default_rng(size))
    upper = unpacked(grown(matrix))
    np.testing.assert_allclose(upper, np.linalg.cholesky(matrix).T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [1, 2, 11, 60])
def test_solves_equal_dense_solves(size):
    generator = np.random.default_rng(100 + size)
    matrix = positive_definite(size, generator)
    factor, upper = grown(matrix), np.linalg.cholesky(matrix).T
    right = generator.normal(size=size)
    before = right.copy()
    np.testing.assert_allclose(factor.solve(right), np.linalg.solve(upper, right), rtol=1e-8)
    np.testing.assert_allclose(
        factor.solve_transposed(right), np.linalg.solve(upper.T, right), rtol=1e-8
    )
    np.testing.assert_array_equal(right, before)  # the argument is left alone


@pytest.mark.parametrize("size", [1, 2, 7, 33, 60])
def test_update_is_the_factor_of_the_updated_matrix(size):
    generator = np.random.default_rng(200 + size)
    matrix = positive_definite(size, generator)
    factor = grown(matrix)
    for vector in generator.normal(size=(5, size)) * [[1e-6], [1.0], [1e3], [0.0], [-2.0]]:
        before = vector.copy()
        factor.update(vector)
        np.testing.assert_array_equal(vector, before)
        matrix = matrix + np.outer(vector, vector)
        upper = unpacked(factor)
        np.testing.assert_allclose(upper.T @ upper, matrix, rtol=1e-10, atol=1e-10)
        assert (np.diag(upper) > 0.0).all()


def test_appending_after_an_update_keeps_the_factor():
    generator = np.random.default_rng(7)
    matrix = positive_definite(6, generator)
    factor = PackedFactor()
    for k in range(6):
        column = factor.solve_transposed(matrix[:k, k].copy())
        factor.append(column, float(np.sqrt(matrix[k, k] - column @ column)))
        vector = generator.normal(size=k + 1)
        factor.update(vector)
        matrix[: k + 1, : k + 1] += np.outer(vector, vector)
    upper = unpacked(factor)
    np.testing.assert_allclose(upper.T @ upper, matrix, rtol=1e-10)


def test_growth_moves_nothing_that_is_there():
    factor = PackedFactor()
    columns = [np.arange(1.0, k + 1) + k for k in range(150)]
    for k, column in enumerate(columns):
        factor.append(column, 1.0 + k)
    upper = unpacked(factor)
    for k, column in enumerate(columns):
        np.testing.assert_array_equal(upper[:k, k], column)
        assert upper[k, k] == 1.0 + k
    # A quarter more than needed at most, and the first chunk.
    assert factor._buffer.nbytes <= 8 * (150 * 151 // 2 * 5 // 4 + 4096)


def test_rows_that_nearly_depend_on_others_are_solved_as_well_as_by_substitution():
    """Residuals stay rounding errors; the inverse alone leaves several times as much."""
    generator = np.random.default_rng(5)
    factor, size = PackedFactor(), 60
    for k in range(size):
        direction = generator.normal(size=k)
        near = 1e-7 if k % 3 == 2 else 0.5  # as near as a regression takes
        longest = max(float(np.linalg.norm(direction)), 1.0)
        column = direction / longest * np.sqrt(1.0 - near)
        factor.append(column, float(np.sqrt(near)))
    upper, right = unpacked(factor), generator.normal(size=size)
    found, alone = factor.solve(right), factor._inverted().T @ right

    def residual(solved):
        left = np.abs(upper @ solved - right)
        return float((left / (np.abs(upper) @ np.abs(solved) + np.abs(right))).max())

    assert residual(found) < 1e-14
    assert residual(alone) > 3 * residual(found)


def test_an_empty_factor_solves_nothing():
    factor = PackedFactor()
    empty = np.empty(0)
    assert factor.size == 0
    assert factor.solve(empty).size == 0
    assert factor.solve_transposed(empty).size == 0
    factor.update(empty)
    assert factor.size == 0
