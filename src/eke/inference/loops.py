"""Loops over long histories, compiled by Numba; `compiled.py` says when. Each has a twin in NumPy.

Residues are 32-bit integers below 2²⁹. Because 2²⁹ is 3 modulo the prime, a product h·2²⁹ + l of
two of them is 3h + l, and billions of these add up within 63 bits before a division is needed.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg.blas import dtpsv

from eke.arrays import FloatArray
from eke.inference.residues import PRIME, Residues

Complexes = NDArray[np.complex128]

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
    found = np.empty(len(ends), np.int32)
    start = 0
    for row in range(len(ends)):
        total = np.int64(0)
        for i in range(start, ends[row]):
            total += np.int64(steps[i]) * np.int64(running[places[i]]) % PRIME
        found[row] = total % PRIME
        start = ends[row]
    return found


def packed_solve(buffer: FloatArray, size: int, right: FloatArray, *, trans: bool) -> FloatArray:
    """U⁻¹ right or U⁻ᵀ right, U packed by columns.

    BLAS on the contiguous buffer: a strided view would be copied on each call, forty times slower
    at five thousand rows.
    """
    return np.asarray(dtpsv(size, buffer, right, trans=int(trans)))


@njit(cache=True, nogil=True)  # milliseconds for long histories: others get on meanwhile
def rank_one_update(buffer: FloatArray, size: int, vector: FloatArray) -> None:  # pragma: no cover
    """Make U, packed by columns, the factor of UᵀU + vector·vectorᵀ; the vector is used up."""
    # Column by column, replaying the rotations of the columns before: all memory access is
    # contiguous in the packed layout.
    cosines = np.empty(size)
    sines = np.empty(size)
    start = 0
    for j in range(size):
        v = vector[j]
        for k in range(j):
            u = buffer[start + k]
            buffer[start + k] = cosines[k] * u + sines[k] * v
            v = cosines[k] * v - sines[k] * u
        diagonal = buffer[start + j]
        radius = math.hypot(diagonal, v)
        buffer[start + j] = radius
        cosines[j] = diagonal / radius
        sines[j] = v / radius
        start += j + 1


@njit(cache=True, nogil=True)
def product_of_inverses(
    factors: FloatArray, real: FloatArray, imaginary: FloatArray
) -> Complexes:  # pragma: no cover
    """Π_i 1/(1 − factors_i·square_k) for each k; the loop over k is the one that vectorises."""
    size = real.size
    product_real = np.ones(size)
    product_imaginary = np.zeros(size)
    for i in range(factors.size):
        factor = factors[i]
        for k in range(size):
            a = 1.0 - factor * real[k]
            b = -factor * imaginary[k]
            previous = product_real[k]
            product_real[k] = previous * a - product_imaginary[k] * b
            product_imaginary[k] = previous * b + product_imaginary[k] * a
    inverse = np.zeros(size, dtype=np.complex128)
    for k in range(size):
        square = product_real[k] ** 2 + product_imaginary[k] ** 2
        # An overflow (inf or NaN here) means an inverse under 1e-150, which is as good as 0.
        if square < 1e300:
            inverse[k] = complex(product_real[k] / square, -product_imaginary[k] / square)
    return inverse
