"""Vectors and matrices that grow at their end, in one buffer that is rarely moved."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eke.query.view import made_of

Number = TypeVar("Number", bound=np.generic)


class GrowingVector(Generic[Number]):
    """Numbers that only become more."""

    __slots__ = ("_buffer", "_size")

    def __init__(self, number: type[Number]) -> None:
        self._buffer: NDArray[Number] = np.empty(64, number)
        self._size = 0

    @classmethod
    def of(cls, numbers: NDArray[Number]) -> GrowingVector[Number]:
        """A vector of these, which are shared and never changed."""
        return made_of(cls, _buffer=numbers, _size=len(numbers))

    @property
    def array(self) -> NDArray[Number]:
        """All numbers so far, without copying them."""
        return self._buffer[: self._size]

    @property
    def nbytes(self) -> int:
        return self._buffer.nbytes

    def __len__(self) -> int:
        return self._size

    def view(self) -> GrowingVector[Number]:
        """The numbers so far, for good; they are shared, and a view moves when it grows.

        Views are made by the hundred with every answer, so this does no more than it must.
        """
        view = GrowingVector.__new__(GrowingVector)
        view._buffer, view._size = self.array, self._size  # noqa: SLF001 - its own
        return view

    def extend(self, numbers: ArrayLike) -> None:
        """Add numbers at the end."""
        added = np.asarray(numbers, self._buffer.dtype).reshape(-1)
        needed = self._size + len(added)
        if needed > len(self._buffer):
            grown = np.empty(max(needed, self._size * 5 // 4 + 64), self._buffer.dtype)
            grown[: self._size] = self.array
            self._buffer = grown
        self._buffer[self._size : needed] = added
        self._size = needed


class GrowingMatrix(Generic[Number]):
    """Rows of equal or increasing length, padded with zeros."""

    __slots__ = ("_buffer", "_rows", "_width")

    def __init__(self, number: type[Number], width: int = 0) -> None:
        self._buffer: NDArray[Number] = np.zeros((0, width or 8), number)  # rows may be long
        self._rows = 0
        self._width = width

    @classmethod
    def of(cls, rows: NDArray[Number]) -> GrowingMatrix[Number]:
        """A matrix of these rows, which are shared and never changed."""
        height, width = rows.shape
        return made_of(cls, _buffer=rows, _rows=height, _width=width)

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
        view = GrowingMatrix.__new__(GrowingMatrix)
        rows = self._buffer[: self._rows]
        view._buffer, view._rows, view._width = rows, self._rows, self._width  # noqa: SLF001
        return view

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
