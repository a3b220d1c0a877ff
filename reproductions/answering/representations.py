"""ONLINE Algorithm 2: disjoint linear representations T·H = Q, found greedily."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
_BLOCK = 32
_NEGLIGIBLE = 1e-9  # weight, relative to the largest
_SMALL_REST = 2e-7  # distance of a unit vector from a span that holds it, after rounding


def greedy_representations(matrix: Reals, query: NDArray[np.int64]) -> list[Reals]:
    """The weights T_i over the rows of H of each representation, in the order found.

    Rows are admitted in order until they express Q. The combination of the earliest independent
    rows is one representation; the rows it uses are struck out and the scan starts again.
    """
    touched = np.flatnonzero(matrix.any(axis=0) | (query != 0))
    rows, target = matrix[:, touched], query[touched].astype(np.float64)
    free = np.flatnonzero(rows.any(axis=1))
    found: list[Reals] = []
    while len(free):
        chosen = _first_expressing(rows[free], target)
        if chosen is None:
            break
        used = free[chosen]
        solution, *_ = np.linalg.lstsq(rows[used].T, target, rcond=None)
        important = np.abs(solution) > _NEGLIGIBLE * np.abs(solution).max()
        weights = np.zeros(len(matrix))
        weights[used[important]] = solution[important]
        found.append(weights)
        free = np.setdiff1d(free, used[important], assume_unique=True)
    return found


def _first_expressing(rows: Reals, target: Reals) -> NDArray[np.intp] | None:
    """The independent rows among the first k, for the least k that expresses the target.

    Gram-Schmidt in blocks: a block is made orthogonal to the basis by two matrix products, and
    row by row within itself.
    """
    basis = np.zeros((min(rows.shape), rows.shape[1]))
    members: list[int] = []
    rest = target / np.linalg.norm(target)
    sizes = np.linalg.norm(rows, axis=1)
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK] / sizes[start : start + _BLOCK, None]
        for _ in range(2):
            known = basis[: len(members)]
            block = block - (block @ known.T) @ known
        before = len(members)
        for offset, row in enumerate(block):
            fresh = basis[before : len(members)]
            left = row - (fresh @ row) @ fresh
            left -= (fresh @ left) @ fresh
            size = math.sqrt(float(left @ left))
            if size <= _SMALL_REST or len(members) == len(basis):
                continue
            direction = left / size
            basis[len(members)] = direction
            members.append(start + offset)
            rest = rest - (direction @ rest) * direction
            if math.sqrt(float(rest @ rest)) <= _SMALL_REST:
                return np.array(members, np.intp)
    return None
