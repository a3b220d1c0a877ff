"""Integer: a column of whole numbers between two bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from eke.domain.attribute import BUCKET_TEXT, Attribute, End, Label, SqlKind, end_text
from eke.domain.placing import Floored, Placing
from eke.domain.rule import EXACT, Rule, check_rules, plain
from eke.domain.wide import MOST_VALUES
from eke.errors import DomainError, QueryError


@dataclass(frozen=True, slots=True)
class Integer(Attribute):
    """Whole numbers between two public bounds, both included; fractions are rounded down.

    Args:
        low: the smallest value.
        high: the largest; there may be at most 2^40, about 10^12, values.
        null: the rule for NULL and NaN; under "clamp" for texts, too, which have no nearest bound.
        outside: the rule for numbers beyond; "clamp" moves them to the nearest bound.

    Raises:
        DomainError: when a bound is no whole number, or there are too many values.

    Example:
        >>> eke.Integer(0, 99).size
        100
    """

    kind: ClassVar[str] = "integer"
    is_ordered: ClassVar[bool] = True
    low: int
    high: int
    null: Rule = "drop"
    outside: Rule = "clamp"

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            bound = plain(getattr(self, name))
            if type(bound) is not int:
                raise DomainError("Integer bounds must be whole numbers; use Numeric for fractions")
            object.__setattr__(self, name, bound)
        if self.low > self.high:
            raise DomainError(
                f"Integer({self.low}, {self.high}): the lower bound is the larger; swap them"
            )
        if self.high - self.low >= MOST_VALUES:
            raise DomainError(
                f"an Integer may have at most {MOST_VALUES:,} values; use Numeric with a longer "
                "step"
            )
        if max(abs(self.low), abs(self.high)) >= EXACT:
            raise DomainError("Integer bounds must be below 2**53 in magnitude; shift the column")
        check_rules(self.null, self.outside, clamps=True)
        self._check_replacements()

    @property
    def declared(self) -> tuple[Label, ...]:
        self.check_listed()
        return tuple(range(self.low, self.high + 1))

    @property
    def size(self) -> int:
        return self.high - self.low + 1 + self.has_bucket

    def declared_code(self, value: object) -> int | None:
        code = Attribute.declared_code(self, value)
        return code if code is not None and value == self.low + code else None

    def _find(self, raw: object) -> int | None:
        if not isinstance(raw, (int, float, Fraction)) or not self.low <= raw < self.high + 1:
            return None
        return math.floor(raw) - self.low

    def _is_exact(self, raw: object) -> bool:
        return isinstance(raw, (int, float, Fraction)) and raw == math.floor(raw)

    def _clamp(self, raw: object) -> int | None:
        below = isinstance(raw, (int, float, Fraction)) and raw < self.low
        return 0 if below else self.high - self.low

    def numbers(self) -> tuple[Fraction, ...]:
        self.check_listed()
        values = [Fraction(v) for v in range(self.low, self.high + 1)]
        return tuple([*values, Fraction(0)] if self.has_bucket else values)

    def whole_numbers(self) -> tuple[list[int], int]:
        self.check_listed()
        values = list(range(self.low, self.high + 1))
        return ([*values, 0] if self.has_bucket else values), 1

    @property
    def progression(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.low), Fraction(1)

    @property
    def placing(self) -> Placing:
        return Floored(self.low, self.high)

    def fields(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}

    @classmethod
    def of_fields(cls, fields: Mapping[str, Any]) -> Integer:
        rest = {name: value for name, value in fields.items() if name not in ("low", "high")}
        return cls(fields["low"], fields["high"], **rest)

    @property
    def sql_kind(self) -> SqlKind:
        return "number"

    def codes_between(self, low: End, high: End) -> slice:
        # Ends beyond the declared range are clipped before they are rounded: they may be infinite.
        first = self.low if low is None else math.ceil(min(max(low, self.low), self.high + 1))
        last = self.high if high is None else math.floor(max(min(high, self.high), self.low - 1))
        if first > last:
            raise QueryError(
                f"no declared value lies between {end_text(low)} and {end_text(high)}; "
                + self._declared_text()
            )
        return slice(first - self.low, last - self.low + 1)

    def _declared_text(self) -> str:
        return f"the declared range is {self.low} to {self.high}"

    def label_text(self, code: int) -> str:
        value = self.low + code
        return str(value) if value <= self.high else BUCKET_TEXT

    @property
    def values_text(self) -> str:
        return f"{self.low} to {self.high}"

    def range_text(self, first: int, last: int) -> str | None:
        within = self.low + last <= self.high
        return f"{self.low + first}–{self.low + last}" if within else None
