from __future__ import annotations

import numpy as np

from eke.query.growing import GrowingMatrix, GrowingVector


def test_rows_of_increasing_length_are_padded_with_zeros():
    matrix = GrowingMatrix(np.float64)
    assert matrix.array.shape == (0, 0)
    rows = [np.full(length, float(length)) for length in (1, 1, 3, 12, 12, 40, 40)] * 3
    rows.sort(key=len)
    for count, row in enumerate(rows, start=1):
        matrix.append(row)
        assert matrix.array.shape == (count, len(row))
        assert len(matrix) == count
    expected = np.zeros((len(rows), 40))
    for i, row in enumerate(rows):
        expected[i, : len(row)] = row
    np.testing.assert_array_equal(matrix.array, expected)
    assert matrix.nbytes >= expected.nbytes


def test_rows_of_fixed_width_are_contiguous():
    matrix = GrowingMatrix(np.int32, 3)
    for i in range(30):
        matrix.append(np.array([i, -i, 7]))
    assert matrix.array.dtype == np.int32
    assert matrix.array.flags.c_contiguous
    assert matrix.array[29].tolist() == [29, -29, 7]


def test_numbers_are_added_at_the_end() -> None:
    vector = GrowingVector(np.int64)
    expected: list[int] = []
    for size in (1, 0, 3, 100, 1, 900):
        vector.extend(np.arange(size))
        expected += range(size)
        assert vector.array.tolist() == expected
        assert len(vector) == len(expected)
    vector.extend(7)
    assert vector.array[-1] == 7
    assert vector.nbytes >= vector.array.nbytes


def test_a_view_of_numbers_and_its_original_grow_apart() -> None:
    given = np.arange(3)
    first = GrowingVector.of(given)
    second = first.view()
    first.extend([8, 9])
    second.extend(5)
    assert first.array.tolist() == [0, 1, 2, 8, 9]
    assert second.array.tolist() == [0, 1, 2, 5]
    assert given.tolist() == [0, 1, 2]


def test_a_matrix_goes_on_from_given_rows() -> None:
    for rows in (np.ones((3, 4)), np.empty((0, 4)), np.empty((0, 0))):
        matrix = GrowingMatrix.of(rows)
        matrix.append(np.full(4, 2.0))
        assert matrix.array.tolist() == [*rows.tolist(), [2.0] * 4]
