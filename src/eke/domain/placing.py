"""Placing: how a raw value finds its code, in terms that every data engine can carry out.

Next: `eke.data.coding` turns a placing into an expression of the engine's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

ROUNDING = 1e-6
"""Of a step: numbers that are so near to a grid lie on it, where doubles tell them apart well."""
_DOUBLES = 2.0**-50
"""What subtracting, and dividing by a step, may leave of a double's own rounding."""


@dataclass(frozen=True, slots=True)
class Listed:
    """The value at place k has code k: texts, or whole numbers (0 and 1 for truth values).

    `truth` columns of text files may also spell their values as words, such as yes and no.
    """

    values: tuple[str | int, ...]
    truth: bool = False

    @property
    def is_text(self) -> bool:
        """Whether a text is read as it is, not as the number that it spells."""
        return isinstance(self.values[0], str)


@dataclass(frozen=True, slots=True)
class Floored:
    """Numbers from low to below high + 1: code = floor(number) − low."""

    low: int
    high: int

    @property
    def is_text(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Stepped:
    """Numbers from low to high: code = floor((number − low) / step + 0.5), all in doubles."""

    low: float
    high: float
    step: float

    @property
    def rounding(self) -> float:
        """How far from the grid, in steps, a number may be that lies on it."""
        farthest = max(abs(self.low), abs(self.high))
        return max(ROUNDING, farthest / self.step * _DOUBLES)

    @property
    def is_text(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Cut:
    """Numbers from the first edge to the last, cut at the others: code = edges passed − 1."""

    edges: tuple[float, ...]

    @property
    def is_text(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class TimeSteps:
    """Moments from step low to step high, counted from 1970: code = floor(second / step) − low.

    `form` says how texts spell a moment, None for ISO 8601; `zone` whose clocks tell the second.
    Steps of times of day (`is_clock`) are counted from midnight.
    """

    low: int
    high: int
    step: int  # in seconds
    form: str | None
    zone: str | None
    is_clock: bool = False

    @property
    def is_text(self) -> bool:
        return True


Placing: TypeAlias = Listed | Floored | Stepped | Cut | TimeSteps
