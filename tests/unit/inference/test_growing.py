from __future__ import annotations

import numpy as np

from eke.inference.growing import GrowingMatrix


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
