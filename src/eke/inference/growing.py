"""A matrix that grows by one row at a time, in one buffer that is rarely moved."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from eke.query.view import view_with

Number = TypeVar("Number", bound=np.generic)


class GrowingMatrix(Generic[Number]):
    """Rows of equal or increasing length, padded with zeros."""

    __slots__ = ("_buffer", "_rows", "_width")

    def __init__(self, number: type[Number], width: int = 0) -> None:
        self._buffer: NDArray[Number] = np.zeros((8, width or 8), number)
        self._rows = 0
        self._width = width

    @property
    def array(self) -> NDArray[Number]:  # (rows, width)
        """All rows so far, without copying them."""
        return self._buffer[: self._rows, : self._width]

    @property
    def nbytes(self) -> int:
        return self._buffer.nbytes

    def __len__(self) -> int:
        return self._rows

    def view(self) -> GrowingMatrix[Number]:
        """The rows so far, for good: what is appended here is not there, nor the other way round.

        Rows are never changed, so they are shared; a view has no room, and moves when it grows.
        """
        return view_with(
            self,
            _buffer=self._buffer[: self._rows],
        )

    def append(self, row: NDArray[Any]) -> None:
        height, width = self._buffer.shape
        if self._rows == height or len(row) > width:
            new_height = max(8, height * 3 // 2) if self._rows == height else height
            new_width = max(width * 5 // 4, len(row)) if len(row) > width else width
            grown = np.zeros((new_height, new_width), self._buffer.dtype)
            grown[: self._rows, :width] = self._buffer[: self._rows]
            self._buffer = grown
        self._buffer[self._rows, : len(row)] = row
        self._rows += 1
        self._width = max(self._width, len(row))
