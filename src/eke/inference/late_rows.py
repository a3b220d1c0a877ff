"""LateRows: the noisy answers of a history, the first of them read when somebody looks at them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import overload

from eke.history import Row
from eke.query.view import made_of

ReadRows = Callable[[], Sequence[Row]]


class LateRows(Sequence[Row]):
    """A list of rows that grows; its first may be known by their number only."""

    __slots__ = ("_late", "_read", "_rows")

    def __init__(self, late: int = 0, read: ReadRows = list) -> None:
        self._late = late  # how many are not read yet
        self._read = cache(read)
        self._rows: list[Row] = []  # after these

    def __len__(self) -> int:
        return self._late + len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Row: ...

    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...

    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        if isinstance(place, slice) and place.step is None and place.stop is None:
            start = place.indices(len(self))[0]
            if start >= self._late:
                return self._rows[start - self._late :]
        return [*self._read(), *self._rows][place]

    def append(self, row: Row) -> None:
        """Add one at the end."""
        self._rows.append(row)

    def view(self) -> LateRows:
        """The rows so far, for good."""
        return made_of(LateRows, _late=self._late, _read=self._read, _rows=list(self._rows))
