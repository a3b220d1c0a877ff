"""A strategy matrix that somebody gives: checked, and made of whole numbers.

Its columns are the cells of the columns that the workload names, in the domain's order, the last
one fastest. Rows are measured with noise of their own, so the scale of the whole matrix is nothing.

Privacy: what is measured, recovered from and charged for is the matrix of whole numbers that is
made here, never the floats that were given. Rounding them changes what is measured, not what that
costs: the engine computes the loss from the rows it measures.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from eke.errors import QueryError
from eke.planning.workload.strategy.matrices import MatrixStrategy

Strategy: TypeAlias = "str | MatrixStrategy | ArrayLike"
"""The name of a strategy, or the rows of a matrix to be measured."""

MOST_ROWS = 2048
MOST_CELLS = 1024
_FINE = 30  # bits of the largest coefficient
_LEAST_ROW = 2.0**-20


def strategy_of(given: Strategy) -> str | MatrixStrategy:
    """The strategy that was meant: a name as it is, of a matrix its rows as whole numbers.

    Coefficients are kept exactly where a power of two makes them whole numbers below 2^31, and else
    rounded to 2^-30 of the largest.
    """
    if isinstance(given, str):
        return given
    if isinstance(given, MatrixStrategy):
        made = np.asarray(given.matrix)
        if made.dtype.kind not in "iu" or made.ndim != 2 or len(made) > MOST_ROWS:
            raise QueryError("make a strategy with MatrixStrategy.of, or give the rows themselves")
        return given
    matrix = _numbers(given)
    unit = np.ldexp(matrix, -math.frexp(float(np.abs(matrix).max()))[1])  # below one
    if (np.abs(unit).max(axis=1) < _LEAST_ROW).any():
        raise QueryError(
            "a row of the strategy matrix is zero, or a million times smaller than the largest: "
            "leave it out, or scale it up; each row has noise of its own"
        )
    for bits in range(_FINE + 1):
        whole = unit * 2.0**bits
        if np.array_equal(whole, np.rint(whole)):
            return MatrixStrategy.of("matrix", whole)
    return MatrixStrategy.of("matrix", np.rint(unit * 2.0**_FINE))


def _numbers(given: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The rows as floats, if they are a matrix of finite ones, neither too many nor too long."""
    try:
        rows, raw = len(given), np.asarray(given)
    except (TypeError, ValueError, OverflowError):
        raise QueryError(
            "a strategy is a name, or a matrix: rows of numbers, every row equally long"
        ) from None
    if rows > MOST_ROWS:
        raise QueryError(f"a strategy matrix may have at most {MOST_ROWS:,} rows, not {rows:,}")
    if raw.dtype.kind not in "biuf":
        raise QueryError("a strategy matrix is made of real numbers, none too large for a double")
    matrix = raw.astype(np.float64)
    if matrix.ndim != 2 or matrix.size == 0:
        raise QueryError("a strategy matrix needs rows of coefficients, one for each cell")
    if matrix.shape[1] > MOST_CELLS:
        raise QueryError(
            f"strategy matrices are for at most {MOST_CELLS:,} cells, not {matrix.shape[1]:,}"
        )
    if not np.isfinite(matrix).all():
        raise QueryError("a strategy matrix is made of finite numbers")
    if not matrix.any():
        raise QueryError("the strategy matrix holds nothing but zeros")
    return matrix
