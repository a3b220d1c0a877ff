"""Frames: which groups of a result a window function looks at, row by row.

A window runs over the declared groups in the order of their keys, never over records, so that what
it adds up is known before any data is: each row's value is a weighted sum of groups.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

from sqlglot import exp

from eke.question.outcome import Ordering, ResultRow, ordered
from eke.sql.place import number_of_rows
from eke.sql.value import Reading


class Everywhere(Enum):
    """In place of a frame: all records, in every row, whatever the groups are."""

    EVERYWHERE = "everywhere"


Frame: TypeAlias = tuple["tuple[tuple[int, Fraction], ...] | None", ...]
"""The rows that each row adds up, with their weights; None where there is no value."""

_MOST_OFFSET = 10**6
_FORM = "write ROWS BETWEEN 2 PRECEDING AND CURRENT ROW, UNBOUNDED PRECEDING or 1 FOLLOWING"


@dataclass(frozen=True, slots=True)
class Over:
    """What stands within OVER (…): partitions and an order, both by keys, and the frame's ends."""

    partition_by: tuple[int, ...]
    order_by: tuple[Ordering, ...]
    spec: exp.Expr | None

    def sorted_parts(self, keys: Sequence[tuple[Any, ...]], places: Sequence[int]) -> list[_Part]:
        """The rows at some places, apart by partition, each in order."""
        parts: dict[tuple[Any, ...], list[int]] = {}
        for place in places:
            labels = tuple(keys[place][key] for key in self.partition_by)
            parts.setdefault(labels, []).append(place)
        return [self._part(keys, rows) for rows in parts.values()]

    def _part(self, keys: Sequence[tuple[Any, ...]], places: list[int]) -> _Part:
        rows = [ResultRow(keys[place], ()) for place in places]
        order = ordered(rows, range(len(rows)), self.order_by)
        peers: list[int] = []  # the number of the group of equals that each row belongs to
        before: tuple[Any, ...] | None = None
        for at in order:
            values = tuple(one.by.value((), rows[at].keys) for one in self.order_by)
            peers.append(peers[-1] + (values != before) if peers else 0)
            before = values
        return _Part([places[at] for at in order], peers)


@dataclass(frozen=True, slots=True)
class _Part:
    """The rows of one partition in order, and which of them are equals."""

    rows: list[int]
    peers: list[int]

    def first_peer(self, at: int) -> int:
        return self.peers.index(self.peers[at])

    def last_peer(self, at: int) -> int:
        return len(self.peers) - 1 - self.peers[::-1].index(self.peers[at])


Ends: TypeAlias = Callable[[_Part, int], tuple[int, int]]
"""The first and the last place, within a part, of the frame of the row at a place."""


def frame_of(
    over: Over, ends: Ends, keys: Sequence[tuple[Any, ...]], places: Sequence[int], *, mean: bool
) -> Frame:
    """The frame of a sum or an average: what lies between the ends."""
    frame: list[tuple[tuple[int, Fraction], ...] | None] = [None] * len(keys)
    for part in over.sorted_parts(keys, places):
        for at, row in enumerate(part.rows):
            first, last = ends(part, at)
            inside = part.rows[max(first, 0) : last + 1] if last >= 0 else []
            if inside:
                weight = Fraction(1, len(inside)) if mean else Fraction(1)
                frame[row] = tuple((one, weight) for one in sorted(inside))
    return tuple(frame)


def picked(
    over: Over,
    pick: Callable[[_Part, int], int | None],
    keys: Sequence[tuple[Any, ...]],
    places: Sequence[int],
) -> Frame:
    """The frame of LAG, LEAD, FIRST_VALUE and the like: one row of the same part, or none."""
    frame: list[tuple[tuple[int, Fraction], ...] | None] = [None] * len(keys)
    for part in over.sorted_parts(keys, places):
        for at, row in enumerate(part.rows):
            other = pick(part, at)
            if other is not None and 0 <= other < len(part.rows):
                frame[row] = ((part.rows[other], Fraction(1)),)
    return tuple(frame)


def ends_of(reading: Reading, over: Over) -> Ends:
    """The ends that ROWS or RANGE says; without either, up to the last of a row's equals."""
    spec = over.spec
    if spec is None:
        if not over.order_by:
            return lambda part, _: (0, len(part.rows) - 1)
        return lambda part, at: (0, part.last_peer(at))
    kind = str(spec.args.get("kind") or "").upper()
    if kind not in ("ROWS", "RANGE"):
        raise reading.error(spec, f"{kind} frames are not supported; {_FORM}")
    start = _offset(reading, spec, kind, "start")
    stop = 0 if spec.args.get("end") is None else _offset(reading, spec, kind, "end")

    def ends(part: _Part, at: int) -> tuple[int, int]:
        first = _at(part, at, start, kind, is_start=True)
        return first, _at(part, at, stop, kind, is_start=False)

    return ends


def _at(part: _Part, at: int, offset: int | None, kind: str, *, is_start: bool) -> int:
    if offset is None:
        return 0 if is_start else len(part.rows) - 1
    if kind == "RANGE":
        return part.first_peer(at) if is_start else part.last_peer(at)
    return at + offset


def _offset(reading: Reading, spec: exp.Expr, kind: str, which: str) -> int | None:
    """How many rows from the current one an end is; None for the first and the last row."""
    written = spec.args.get(which)
    word = str(written).upper() if isinstance(written, str) else ""
    direction = -1 if str(spec.args.get(f"{which}_side")).upper() == "PRECEDING" else 1
    if word == "CURRENT ROW":
        return 0
    if word == "UNBOUNDED":
        if (direction < 0) != (which == "start"):
            raise reading.error(spec, f"the frame would end before it begins; {_FORM}")
        return None
    if not isinstance(written, exp.Literal) or kind == "RANGE":
        raise reading.error(spec, f"a frame is so many rows long; {_FORM}")
    return direction * whole(reading, written)


def whole(reading: Reading, node: exp.Expr) -> int:
    """The whole number that a literal is."""
    spelled = str(node.this) if isinstance(node, exp.Literal) else ""
    number = number_of_rows(spelled, _MOST_OFFSET)
    if number is None:
        raise reading.error(node, "a number of rows is a whole number, such as 2")
    return number
