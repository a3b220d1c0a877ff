"""Run vectors: the coefficients of a wide column as `describe` reads them, by a few runs.

Whole numbers of Python only, as in `describe`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from eke.domain.attribute import Attribute

Run: TypeAlias = tuple[int, int, int, int, int]
_MOST_SHOWN = 4


@dataclass(frozen=True, slots=True)
class RunVector:
    """Runs (start, stop, d0, d1, d2).

    The entry k codes from a run's start is d0 + d1·k + d2·k(k − 1)/2.
    """

    runs: tuple[Run, ...]

    @staticmethod
    def of_written(written: Sequence[Sequence[int]]) -> RunVector:
        """The vector that a document holds as [d0, repeats, …]."""
        runs: list[Run] = []
        start = 0
        for first, repeats, *differences in written:
            second, third = (*differences, 0, 0)[:2]
            runs.append((start, start + repeats, first, second, third))
            start += repeats
        return RunVector(tuple(runs))

    @property
    def is_condition(self) -> bool:
        """Whether all entries are 0 or 1."""
        return all(run[2] in (0, 1) and not any(run[3:]) for run in self.runs)

    def shifted_sum(self, attribute: Attribute) -> tuple[Fraction, Fraction] | None:
        """(slope, origin) where all entries are slope · (number − origin); None elsewhere."""
        if attribute.progression is None:
            return None
        (first, between), (_, stop, d0, d1, d2) = attribute.progression, self.runs[0]
        if not d1 or d2 or stop < attribute.size - attribute.has_bucket:
            return None
        slope = d1 / between
        origin = first - d0 / slope
        bucket = self.runs[-1][2] if len(self.runs) > 1 else -slope * origin
        return (slope, origin) if bucket == -slope * origin else None

    def power(self, attribute: Attribute) -> tuple[int, Fraction] | None:
        """(p, ratio) with entry = ratio · number^p wherever it is not 0; None if there is no p."""
        for power in (1, 2):
            points = [
                (_number(attribute, code) ** power, _entry(run, code))
                for run in self._used()
                for code in {run[0], (run[0] + run[1]) // 2, run[1] - 1}
            ]
            number, entry = max(points)
            if number and all(entry * n == e * number for n, e in points):
                return power, entry / number
        return None

    @property
    def leaves_numbers_out(self) -> bool:
        """Whether it is 0 on a stretch of numbers; the last code may be that of the bucket."""
        size = self.runs[-1][1]
        return any(not any(run[2:]) and run[0] < size - 1 for run in self.runs)

    def stretches_text(self, name: str, attribute: Attribute) -> str:
        """The values whose entries are not 0, as a condition."""
        joined: list[tuple[int, int]] = []
        for run in self._used():
            if joined and joined[-1][1] == run[0]:
                joined[-1] = (joined[-1][0], run[1])
            else:
                joined.append((run[0], run[1]))
        shown = [_stretch_text(attribute, *ends) for ends in joined[:_MOST_SHOWN]]
        if len(joined) > _MOST_SHOWN:
            shown.append(f"{len(joined) - _MOST_SHOWN} more")
        is_range = joined[0][1] - joined[0][0] > 1
        return f"{name} {'' if is_range else '= '}{' or '.join(shown)}"

    def _used(self) -> Iterator[Run]:
        return (run for run in self.runs if any(run[2:]))


def _entry(run: Run, code: int) -> int:
    start, _, d0, d1, d2 = run
    k = code - start
    return d0 + d1 * k + d2 * (k * (k - 1) // 2)


def _number(attribute: Attribute, code: int) -> Fraction:
    if attribute.progression is None or code >= attribute.size - attribute.has_bucket:
        return Fraction(0)
    first, step = attribute.progression
    return first + step * code


def _stretch_text(attribute: Attribute, start: int, stop: int) -> str:
    if stop - start == 1:
        return attribute.label_text(start)
    text = attribute.range_text(start, stop - 1)
    if text is not None:
        return text
    return f"{_stretch_text(attribute, start, stop - 1)} or {attribute.label_text(stop - 1)}"
