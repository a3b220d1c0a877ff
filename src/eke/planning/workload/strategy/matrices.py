"""Strategy matrices over a list of cells: identity, Haar, hierarchies, characters, sketches.

Entries are whole numbers, rows of unequal length are left as they are: the noise of each row is
chosen afterwards. `levels` names the rows that belong together, as CUBE §3.1 groups them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eke.errors import QueryError

IntMatrix = NDArray[np.int64]
Groups = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MatrixStrategy:
    """Rows to be measured over a list of cells, and the group of each row."""

    name: str
    matrix: IntMatrix  # (rows, cells)
    groups: Groups | None  # (rows,); None when the rows cannot be grouped

    @staticmethod
    def of(name: str, matrix: object) -> MatrixStrategy:
        """Any matrix of whole numbers, grouped greedily where that is possible."""
        given = np.asarray(matrix)
        if given.ndim != 2 or given.size == 0:
            raise QueryError("a strategy matrix needs rows of coefficients, one for each cell")
        if not np.array_equal(given, np.rint(given)) or np.abs(given).max() >= 2**31:
            raise QueryError("a strategy matrix must hold whole numbers below 2^31; scale it up")
        whole = given.astype(np.int64)
        if not whole.any(axis=1).all():
            raise QueryError("a row of zeros measures nothing; leave it out")
        return MatrixStrategy(name, whole, greedy_groups(whole))


def greedy_groups(matrix: IntMatrix) -> Groups | None:
    """Groups in the sense of CUBE Def. 3.1, found greedily; None when there are none.

    Rows of a group are disjoint, and every cell has the same largest absolute entry in it.
    """
    size = np.abs(matrix)
    heights: list[int] = []
    used: list[NDArray[np.bool_]] = []
    groups = np.empty(len(matrix), np.int64)
    for index, row in enumerate(size):
        support = row > 0
        height = int(row.max())
        if not (row[support] == height).all():
            return None
        for group, (other, taken) in enumerate(zip(heights, used, strict=True)):
            if other == height and not (taken & support).any():
                np.logical_or(taken, support, out=taken)
                groups[index] = group
                break
        else:
            groups[index] = len(heights)
            heights.append(height)
            used.append(support.copy())
    return groups if all(taken.all() for taken in used) else None


def identity(cells: int) -> MatrixStrategy:
    """I: every cell by itself."""
    return MatrixStrategy("I", np.eye(cells, dtype=np.int64), np.zeros(cells, np.int64))


def haar(cells: int) -> MatrixStrategy:
    """W: the Haar wavelet on the next power of two, without rows that touch no cell.

    The total and, for each level, differences of the halves of every interval.
    """
    width = 1 << max(0, (cells - 1).bit_length())
    rows, groups = [np.ones(cells, np.int64)], [0]
    length, level = width, 1
    while length > 1:
        for start in range(0, cells, length):
            row = np.zeros(width, np.int64)
            row[start : start + length // 2] = 1
            row[start + length // 2 : start + length] = -1
            rows.append(row[:cells])
            groups.append(level)
        length //= 2
        level += 1
    return MatrixStrategy("W", np.array(rows), np.array(groups))


def hierarchy(cells: int, branching: int) -> MatrixStrategy:
    """H: a tree of intervals, each split into so many of equal length; all its levels."""
    if branching < 2:
        raise QueryError("a hierarchy splits every interval into at least two")
    lengths = [1]
    while lengths[-1] < cells:
        lengths.append(lengths[-1] * branching)
    rows, groups = [], []
    for level, length in enumerate(reversed(lengths)):
        for start in range(0, cells, length):
            row = np.zeros(cells, np.int64)
            row[start : start + length] = 1
            rows.append(row)
            groups.append(level)
    return MatrixStrategy(f"H{branching}", np.array(rows), np.array(groups))


def characters(cells: int) -> MatrixStrategy:
    """F: all ±1 characters of the binary code of a cell's number, each a group of its own."""
    codes = np.arange(1 << max(0, (cells - 1).bit_length()))
    parity = np.bitwise_count(codes[:, None] & codes[None, :cells]) & 1
    return MatrixStrategy("F", 1 - 2 * parity.astype(np.int64), codes.astype(np.int64))


def sketch(cells: int, buckets: int, repetitions: int) -> MatrixStrategy:
    """Sparse projections: every repetition puts each cell into a bucket with a sign.

    Buckets and signs come from a public hash of the cell's number; nothing in them is secret.
    """
    if buckets < 1 or repetitions < 1:
        raise QueryError("a sketch needs at least one bucket and one repetition")
    matrix = np.zeros((repetitions, buckets, cells), np.int64)
    for repetition in range(repetitions):
        for cell in range(cells):
            digest = hashlib.blake2b(f"{repetition}:{cell}".encode(), digest_size=16).digest()
            number = int.from_bytes(digest, "big")
            matrix[repetition, (number >> 1) % buckets, cell] = 1 - 2 * (number & 1)
    flat = matrix.reshape(-1, cells)
    groups = np.repeat(np.arange(repetitions), buckets)
    is_used = flat.any(axis=1)
    return MatrixStrategy("sketch", flat[is_used], groups[is_used])
