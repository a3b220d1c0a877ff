from __future__ import annotations

import numpy as np
import pytest

from eke.inference.packed import WIDTH, PackedFactor
from eke.query.parts import Parts


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
    for k, column in enumerate(factor.columns()):
        upper[: k + 1, k] = column
    return upper


@pytest.mark.parametrize("size", [*range(1, 13), 60, WIDTH, WIDTH + 1, 3 * WIDTH + 5])
def test_appended_columns_are_the_cholesky_factor(size):
    matrix = positive_definite(size, np.random.default_rng(size))
    upper = unpacked(grown(matrix))
    np.testing.assert_allclose(upper, np.linalg.cholesky(matrix).T, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [1, 2, 11, WIDTH, WIDTH + 1, 200])
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


@pytest.mark.parametrize("size", [1, 2, 33, WIDTH + 6, 2 * WIDTH, 300])
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
    # Three bands, each with its part left of the diagonal, a block and its inverse.
    assert factor.nbytes == 8 * sum(WIDTH * (WIDTH * k + 2 * WIDTH) for k in range(3))


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
    found, alone = factor.solve(right), factor._bands[0]._worked_out().T @ right

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


def test_what_was_asked_before_changes_no_digit():
    """Not of views, of factors taken up from their parts, nor of ones that were never asked."""
    generator = np.random.default_rng(11)
    matrix, right = positive_definite(330, generator), generator.normal(size=330)
    asked = grown(matrix)
    changed = asked.view()
    changed.update(right)
    fresh = PackedFactor.from_parts(asked.parts())
    for _ in range(3):
        np.testing.assert_array_equal(fresh.solve(right), asked.solve(right))
        np.testing.assert_array_equal(fresh.solve_transposed(right), asked.solve_transposed(right))
    fresh.update(right)
    np.testing.assert_array_equal(fresh.solve(right), changed.solve(right))


def test_a_view_and_what_it_is_of_grow_apart():
    factor = grown(positive_definite(WIDTH + 3, np.random.default_rng(3)))
    view, more = factor.view(), np.arange(1.0, WIDTH + 4.0)
    view.append(more, 2.0)
    factor.append(-more, 3.0)
    right = np.ones(WIDTH + 4)
    alone = PackedFactor.from_parts(factor.parts())
    np.testing.assert_array_equal(factor.solve(right), alone.solve(right))
    assert not np.allclose(factor.solve(right), view.solve(right))


@pytest.mark.parametrize("size", [1, WIDTH - 1, WIDTH, WIDTH + 1, 3 * WIDTH - 5])
def test_a_factor_shares_its_parts_and_changes_none_of_them(size: int) -> None:
    """What is taken up from parts solves as the original does, and grows apart from them."""
    draw = np.random.default_rng(size)
    matrix = draw.normal(size=(size + 1, size + 1))
    matrix = matrix @ matrix.T + np.eye(size + 1)
    whole, factor = grown(matrix), grown(matrix[:size, :size])
    parts = factor.parts()
    kept = {name: array.copy() for name, array in parts.items()}
    again = PackedFactor.from_parts(parts)
    right = draw.normal(size=size)
    assert np.array_equal(again.solve(right), factor.solve(right))
    assert np.array_equal(again.solve_transposed(right), factor.solve_transposed(right))
    column = whole.solve_transposed(matrix[size])
    again.append(column[:size], float(column[size]))
    again.update(draw.normal(size=size + 1))
    assert all(np.array_equal(array, kept[name]) for name, array in parts.items())
    assert unpacked(factor).shape == (size, size)


@pytest.mark.parametrize(
    "parts",
    [
        {"0/left": np.ones((1, 1)), "0/block": np.ones((1, WIDTH))},
        {"0/left": np.ones((2, 0)), "0/block": np.ones((1, WIDTH))},
        {"0/left": np.ones((1, 0)), "0/block": np.ones((1, WIDTH - 1))},
        {"0/left": np.ones((0, 0)), "0/block": np.ones((0, WIDTH))},
        {
            "0/left": np.ones((1, 0)),
            "0/block": np.ones((1, WIDTH)),
            "1/left": np.ones((1, 1)),
            "1/block": np.ones((1, WIDTH)),
        },
    ],
    ids=["columns", "rows", "width", "empty", "a band that is not full"],
)
def test_parts_that_are_no_bands_are_refused(parts: Parts) -> None:
    with pytest.raises(ValueError, match="band"):
        PackedFactor.from_parts(parts)
