"""Kernel: what a block measures along one attribute, when all values are treated alike.

A kernel is an integer matrix M whose Gram matrix is MᵀM = α·P + β·J/n, with P the projector onto
centred vectors and J all ones. Blocks that are products of kernels act on every component of a
marginal as a number (see `inference.residuals`): their precision at component B is
Π_{k∈B} α_k · Π_{k∉B} β_k/n_k over the noise variance. That covers

    cells     the identity: one count for each value
    residual  n·I - J: each value against the mean of all. Measured with Gaussian noise these are
              the optimal strategy for marginals (ResidualPlanner, NeurIPS 2023): noise on the sum
              of the rows, which is zero, is dropped in recovery and costs nothing
    fourier   the real Fourier basis without the constant; (1, -1) for two values
    walsh     ±1 characters of the binary code of the value (CUBE §4.1), without the constant
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.errors import QueryError

Kind: TypeAlias = Literal["cells", "residual", "fourier", "walsh"]
IntMatrix = NDArray[np.int64]

# Fourier rows of more than two values are rounded to this many bits. Recovery inverts the rounded
# matrix, so estimates stay unbiased and only variances move, by about 2^-14.
_FOURIER_BITS = 15


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kind of measurement along an attribute of some size."""

    kind: Kind
    size: int

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise QueryError(f"a kernel is one of {', '.join(get_args(Kind))}")
        if self.size < 2 and self.kind != "cells":
            raise QueryError("an attribute of one value has cells only, nothing varies along it")

    def matrix(self) -> IntMatrix:
        """The integer coefficients, (rows, size)."""
        return _matrix(self.kind, self.size)

    @property
    def rows(self) -> int:
        return _facts(self.kind, self.size).rows

    @property
    def centred_gain(self) -> float:
        """α: what the Gram matrix multiplies centred vectors by."""
        return _facts(self.kind, self.size).centred_gain

    @property
    def mean_gain(self) -> float:
        """β: what it multiplies constant vectors by."""
        return _facts(self.kind, self.size).mean_gain

    def reach(self, order: int) -> int:
        """The largest column sum of |entry|^order: the L1 or the squared L2 sensitivity."""
        if order not in {1, 2}:
            raise QueryError(f"how far a record reaches in a kernel is not known to order {order}")
        return _facts(self.kind, self.size).reaches[order - 1]

    def back(self, answers: FloatArray, axis: int) -> FloatArray:
        """Mᵀ applied along an axis; α·M⁺, which is the same up to rounding, for `fourier`."""
        if self.kind == "cells":
            return answers
        return np.moveaxis(np.tensordot(_back(self.kind, self.size), answers, (1, axis)), 0, axis)


@dataclass(frozen=True, slots=True)
class _Facts:
    """Numbers that follow from the matrix, computed once for each kind and size."""

    rows: int
    centred_gain: float
    mean_gain: float
    reaches: tuple[int, int]  # of order one and two


@lru_cache(maxsize=4096)
def _facts(kind: Kind, size: int) -> _Facts:
    matrix = _matrix(kind, size)
    centred, mean = 1.0, 1.0
    if kind == "residual":
        centred, mean = float(size**2), 0.0
    elif kind == "walsh":
        centred, mean = float(2 ** _bits(size)), float(2 ** _bits(size) - size)
    elif kind == "fourier":
        centred, mean = float((matrix.astype(np.float64) ** 2).sum()) / (size - 1), 0.0
    absolute, squares = np.abs(matrix).sum(axis=0).max(), (matrix**2).sum(axis=0).max()
    return _Facts(len(matrix), centred, mean, (int(absolute), int(squares)))


@lru_cache(maxsize=4096)
def _matrix(kind: Kind, size: int) -> IntMatrix:
    if kind == "cells":
        matrix = np.eye(size, dtype=np.int64)
    elif kind == "residual":
        matrix = size * np.eye(size, dtype=np.int64) - 1
    elif kind == "walsh":
        codes = np.arange(2 ** _bits(size))
        parity = np.bitwise_count(codes[1:, None] & codes[None, :size]) & 1
        matrix = 1 - 2 * parity.astype(np.int64)
    else:
        matrix = _fourier(size)
    matrix.setflags(write=False)
    return matrix


@lru_cache(maxsize=4096)
def _back(kind: Kind, size: int) -> FloatArray:
    matrix = _matrix(kind, size).astype(np.float64)
    if kind != "fourier":
        return matrix.T
    return np.asarray(Kernel(kind, size).centred_gain * np.linalg.pinv(matrix), np.float64)


def _fourier(size: int) -> IntMatrix:
    """Cos and sin of every frequency but zero; whole numbers whose rows add up to zero."""
    if size == 2:
        return np.array([[1, -1]], np.int64)
    angle = 2.0 * math.pi * np.arange(size) / size
    rows = []
    for frequency in range(1, size // 2 + 1):
        if 2 * frequency == size:
            rows.append(np.cos(frequency * angle) / math.sqrt(2.0))
        else:
            # The phase of an eighth makes column sums of absolute values more even.
            rows += [
                np.cos(frequency * angle - math.pi / 4),
                np.sin(frequency * angle - math.pi / 4),
            ]
    matrix = np.rint(np.array(rows) * 2.0**_FOURIER_BITS).astype(np.int64)
    matrix[np.arange(len(matrix)), np.abs(matrix).argmax(axis=1)] -= matrix.sum(axis=1)
    return matrix


def _bits(size: int) -> int:
    return max(1, (size - 1).bit_length())
