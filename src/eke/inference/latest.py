"""Latest: what was found out about the query that was looked at last, so that it is found once.

A question is looked up, measured and answered in a row, and each of these asks where it lies
relative to what was measured. Views of one history share it; threads may, too: it is replaced as a
whole, and at worst something is worked out twice, with the same result.
"""

from __future__ import annotations

from dataclasses import dataclass

from eke.arrays import FloatArray
from eke.inference.span import Place
from eke.query import Query


class BasisState:
    """Which rows a regression has in its basis: two are the same only if they are one object."""

    __slots__ = ()


@dataclass(slots=True)
class Sight:
    """A query as a regression in one state sees it; what is None is not worked out yet."""

    query: Query
    state: BasisState
    norm: float
    place: Place | None = None
    is_row: bool = False  # of the basis, and thereby in its span
    projected: FloatArray | None = None
    coordinates: FloatArray | None = None


class Latest:
    """The sight that was had last."""

    __slots__ = ("sight",)

    def __init__(self) -> None:
        self.sight: Sight | None = None
