from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eke.inference.residues import (
    PRIME,
    ResidueTriangle,
    inverse,
    multiply,
    product,
    residue,
    residues,
)


def test_the_modulus_is_prime_and_two_to_the_29_is_three():
    assert all(PRIME % divisor for divisor in range(2, int(PRIME**0.5) + 1))
    assert 2**29 % PRIME == 3


def test_residues_of_fractions():
    assert residue(Fraction(7)) == 7
    assert residue(Fraction(-1)) == PRIME - 1
    assert residue(Fraction(3, 8)) * 8 % PRIME == 3
    assert residue(Fraction(2) ** 90 * PRIME) == 0
    assert inverse(12345) * 12345 % PRIME == 1


def test_residues_of_negative_and_large_integers():
    vector = np.array([-1, -PRIME, 2**62, 0, PRIME + 5])
    assert residues(vector).tolist() == [int(v) % PRIME for v in vector.tolist()]


@pytest.mark.parametrize("size", [0, 1, 2, 31, 33, 500])
def test_products_equal_those_of_python_integers(size):
    generator = np.random.default_rng(size)
    matrix = generator.integers(PRIME - 50, PRIME, (3, size)).astype(np.int32)
    vector = generator.integers(PRIME - 50, PRIME, size).astype(np.int32)
    expected = [
        sum(a * b for a, b in zip(row, vector.tolist(), strict=True)) % PRIME
        for row in matrix.tolist()
    ]
    assert product(matrix, vector).tolist() == expected
    assert multiply(vector, vector).tolist() == [v * v % PRIME for v in vector.tolist()]


@pytest.mark.parametrize("size", [1, 2, 9, 70, 140])
def test_triangular_solves(size):
    generator = np.random.default_rng(300 + size)
    triangle = ResidueTriangle()
    lower = np.zeros((size, size), object)
    for k in range(size):
        row = generator.integers(0, PRIME, k).astype(np.int32)
        diagonal = int(generator.integers(1, PRIME))
        triangle.append(row, diagonal)
        lower[k, :k] = row.tolist()
        lower[k, k] = diagonal
    right = generator.integers(0, PRIME, size).astype(np.int32)
    forward = np.array(triangle.solve(right).tolist(), object)
    backward = np.array(triangle.solve_transposed(right).tolist(), object)
    assert ((lower @ forward) % PRIME).tolist() == right.tolist()
    assert ((lower.T @ backward) % PRIME).tolist() == right.tolist()
    assert triangle.size == size
    assert triangle.nbytes >= 4 * size * (size - 1) // 2
