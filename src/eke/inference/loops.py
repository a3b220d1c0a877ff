"""Loops over long histories, compiled by Numba; `compiled.py` says when. Each has a twin in NumPy.

Residues are 32-bit integers below 2²⁹. Because 2²⁹ is 3 modulo the prime, a product h·2²⁹ + l of
two of them is 3h + l, and billions of these add up within 63 bits before a division is needed.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.inference.residues import PRIME, Residues

_BITS = 29
_LOW = 2**_BITS - 1


@njit(cache=True, nogil=True)
def dot(first: Residues, second: Residues, size: int) -> np.int64:  # pragma: no cover
    """The product of two vectors of residues."""
    high = np.int64(0)
    low = np.int64(0)
    for i in range(size):
        term = np.int64(first[i]) * np.int64(second[i])
        high += term >> _BITS
        low += term & _LOW
    return (high % PRIME * 3 + low) % PRIME


@njit(cache=True, nogil=True)
def product(matrix: Residues, vector: Residues) -> Residues:  # pragma: no cover
    """The matrix times the vector."""
    result = np.empty(matrix.shape[0], np.int32)
    for i in range(matrix.shape[0]):
        result[i] = dot(matrix[i], vector, matrix.shape[1])
    return result


@njit(cache=True, nogil=True)
def solve(
    buffer: Residues, inverses: Residues, size: int, right: Residues
) -> Residues:  # pragma: no cover
    """L⁻¹ right, L packed by rows without its diagonal."""
    solved = np.empty(size, np.int32)
    start = 0
    for k in range(size):
        rest = right[k] - dot(buffer[start : start + k], solved, k)
        solved[k] = rest % PRIME * np.int64(inverses[k]) % PRIME
        start += k
    return solved


@njit(cache=True, nogil=True)
def solve_transposed(
    buffer: Residues, inverses: Residues, size: int, right: Residues
) -> Residues:  # pragma: no cover
    """L⁻ᵀ right."""
    rest = right[:size].astype(np.int64)
    solved = np.empty(size, np.int32)
    for k in range(size - 1, -1, -1):
        value = rest[k] % PRIME * np.int64(inverses[k]) % PRIME
        solved[k] = value
        start = k * (k - 1) // 2
        minus = (PRIME - value) % PRIME
        for i in range(k):
            term = minus * np.int64(buffer[start + i])
            rest[i] += 3 * (term >> _BITS) + (term & _LOW)
    return solved


@njit(cache=True, nogil=True)
def step_products(
    places: Residues, steps: Residues, ends: NDArray[np.int64], running: Residues
) -> Residues:  # pragma: no cover
    """For each vector of steps, its product with the vector that has these running sums."""
    products = np.empty(len(ends), np.int32)
    start = 0
    for row in range(len(ends)):
        total = np.int64(0)
        for i in range(start, ends[row]):
            total += np.int64(steps[i]) * np.int64(running[places[i]]) % PRIME
        products[row] = total % PRIME
        start = ends[row]
    return products


@njit(cache=True, nogil=True)  # milliseconds for long histories: others get on meanwhile
def rotate_rows(
    left: FloatArray,
    block: FloatArray,
    vector: FloatArray,
    cosines: FloatArray,
    sines: FloatArray,
) -> None:  # pragma: no cover
    """Turn a vector into some rows of Uᵀ, replaying the rotations of the rows before."""
    before = left.shape[1]
    for i in range(block.shape[0]):
        v = vector[before + i]
        for k in range(before):
            u = left[i, k]
            left[i, k] = cosines[k] * u + sines[k] * v
            v = cosines[k] * v - sines[k] * u
        for k in range(i):
            u = block[i, k]
            block[i, k] = cosines[before + k] * u + sines[before + k] * v
            v = cosines[before + k] * v - sines[before + k] * u
        diagonal = block[i, i]
        radius = math.hypot(diagonal, v)
        block[i, i] = radius
        cosines[before + i] = diagonal / radius
        sines[before + i] = v / radius
