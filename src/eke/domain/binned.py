"""Binned: a numeric column that is cut into bins."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

from eke.domain.attribute import BUCKET_TEXT, Attribute, End, Label, SqlKind, end_text
from eke.domain.placing import Cut, Placing
from eke.domain.rule import EXACT, Rule, check_rules, number_text, plain, plain_list
from eke.errors import DomainError, QueryError


@dataclass(frozen=True, slots=True, init=False)
class Binned(Attribute):
    """Numbers cut at public edges: [e0, e1), [e1, e2), ..., the last bin closed.

    Sums use the midpoints; intervals of averages allow for that, and sums say that theirs do not.
    For sums declare `Integer` or `Numeric`.

    Args:
        edges: at least two numbers, increasing.
        null: the rule for NULL and NaN; under "clamp" for texts, too, which have no nearest bound.
        outside: the rule for numbers beyond; "clamp" moves them to the nearest bin.

    Example:
        >>> eke.Binned([0, 20, 35]).labels
        ((0, 20), (20, 35))
    """

    kind: ClassVar[str] = "binned"
    is_ordered: ClassVar[bool] = True
    edges: tuple[float, ...]
    null: Rule
    outside: Rule

    def __init__(
        self, edges: Sequence[float], null: Rule = "drop", outside: Rule = "clamp"
    ) -> None:
        if isinstance(edges, str) or not isinstance(edges, Iterable):
            raise DomainError("Binned needs a list of edges, e.g. Binned([0, 10, 20])")
        cuts = tuple(_edge(e) for e in edges)
        if len(cuts) < 2:
            raise DomainError("Binned needs at least two edges, e.g. Binned([0, 10, 20])")
        if any(a >= b for a, b in pairwise(cuts)):
            raise DomainError("Binned edges must increase; sort them and list each once")
        check_rules(null, outside, clamps=True)
        object.__setattr__(self, "edges", cuts)
        object.__setattr__(self, "null", null)
        object.__setattr__(self, "outside", outside)
        self._check_replacements()

    @property
    def declared(self) -> tuple[Label, ...]:
        return tuple(pairwise(self.edges))

    def _find(self, raw: object) -> int | None:
        if not isinstance(raw, (int, float, Fraction)):
            return None
        if not self.edges[0] <= raw <= self.edges[-1]:
            return None
        return min(bisect_right(self.edges, raw) - 1, len(self.edges) - 2)

    def _clamp(self, raw: object) -> int | None:
        below = isinstance(raw, (int, float, Fraction)) and raw < self.edges[0]
        return 0 if below else len(self.edges) - 2

    def numbers(self) -> tuple[Fraction, ...]:
        """Midpoints of the bins: a sum over a Binned column is a sum of midpoints."""
        cuts = [Fraction(e) for e in self.edges]
        middles = [(a + b) / 2 for a, b in pairwise(cuts)]
        return tuple([*middles, Fraction(0)] if self.has_bucket else middles)

    @property
    def has_bins(self) -> bool:
        return True

    def half_widths(self) -> tuple[Fraction, ...] | None:
        halves = [Fraction(b) / 2 - Fraction(a) / 2 for a, b in pairwise(self.edges)]
        return tuple([*halves, Fraction(0)] if self.has_bucket else halves)

    def label_text(self, code: int) -> str:
        label = self.labels[code]
        if not isinstance(label, tuple):
            return BUCKET_TEXT
        closing = "]" if code == len(self.edges) - 2 else ")"
        return f"[{number_text(label[0])}, {number_text(label[1])}{closing}"

    @property
    def placing(self) -> Placing:
        return Cut(self.edges)

    def fields(self) -> dict[str, Any]:
        return {"edges": list(self.edges)}

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> Binned:
        rest = {name: value for name, value in fields.items() if name != "edges"}
        return cls(plain_list(fields, "edges"), **rest)

    @property
    def sql_kind(self) -> SqlKind:
        return "midpoint"

    def chosen_code(self, value: object) -> int:
        if isinstance(value, tuple) and value in self.declared:
            return self.declared.index(value)
        raise QueryError(
            f"a binned attribute is selected by a range between edges, e.g. {self.declared[0]}"
        )

    def codes_between(self, low: End, high: End) -> slice:
        start = 0 if low is None else self._edge_place(low)
        stop = len(self.edges) - 1 if high is None else self._edge_place(high)
        if start >= stop:
            raise QueryError(
                f"the range from {end_text(low)} to {end_text(high)} is empty; "
                "it needs two different edges"
            )
        return slice(start, stop)

    def _edge_place(self, end: float | Fraction) -> int:
        if end in self.edges:
            return self.edges.index(float(end))
        below = [e for e in self.edges if e < end]
        above = [e for e in self.edges if e > end]
        nearest = " and ".join(number_text(e) for e in (below[-1:] + above[:1]))
        if not below or not above:
            raise QueryError(f"{end_text(end)} lies beyond the bins; the nearest edge is {nearest}")
        raise QueryError(f"{end_text(end)} cuts through a bin; the nearest edges are {nearest}")

    def range_text(self, first: int, last: int) -> str | None:
        if last >= len(self.edges) - 1:
            return None
        closing = "]" if last == len(self.edges) - 2 else ")"
        low, high = self.edges[first], self.edges[last + 1]
        return f"in [{number_text(low)}, {number_text(high)}{closing}"

    @property
    def cell_values(self) -> tuple[object, ...]:
        """Midpoints: the table itself holds numbers."""
        middles: list[object] = [float(number) for number in self.numbers()]
        if self.has_bucket:
            middles[-1] = math.nan
        return tuple(middles)


def _edge(edge: object) -> float:
    number = plain(edge)
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise DomainError(f"Binned edges must be numbers, not {type(number).__name__}")
    if isinstance(number, int):
        if abs(number) >= EXACT:
            raise DomainError(
                "whole-number edges must be below 2**53 in magnitude; write larger ones as 1e20"
            )
        return int(number)
    if not math.isfinite(number):
        raise DomainError("Binned edges must be finite; values beyond them follow `outside`")
    return number
