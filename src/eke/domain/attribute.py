"""Attributes: the public values of one column and what happens to everything else.

Each attribute maps *every* raw value, NULL, NaN and infinities included, to one of its codes
0..size-1, or says that the row is not part of the protected table (rule ``"drop"``). The mapping
is total, so no raw value can raise an error or change the shape of a result.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from eke.errors import DomainError

Label: TypeAlias = str | int | float | bool | tuple[float, float] | None

_BUCKET_TEXT = "missing"
_EXACT = 2**53  # whole numbers below are doubles too, whatever the data engine computes with


@dataclass(frozen=True, slots=True)
class Replace:
    """A rule: count the row as if it held this declared value."""

    value: str | int | float | bool

    def __post_init__(self) -> None:
        plain = _plain(self.value)
        if not isinstance(plain, (str, int, float)):
            raise DomainError(
                f"Replace needs a declared value, a text or a number, not {type(plain).__name__}"
            )
        object.__setattr__(self, "value", plain)


Rule: TypeAlias = Literal["drop", "bucket", "clamp"] | Replace


def number_text(number: float) -> str:
    """The shortest text that tells a number from all others: 10, 0.5, 1e+300."""
    whole = isinstance(number, int) or (number.is_integer() and abs(number) < _EXACT)
    return str(int(number)) if whole else repr(float(number))


def is_storable(text: str) -> bool:
    """True for text that UTF-8 files and data engines can hold: no lone surrogates."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def _plain(value: object) -> object:
    """The value as one of Python's own types, so that NumPy scalars and decimals code alike."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Decimal):
        if not value.is_finite():
            return math.nan if value.is_nan() else float(value)
        return int(value) if value == value.to_integral_value() else float(value)
    for kind in (bool, int, float, str):  # bool first: it is an int
        if isinstance(value, kind):
            return kind(value)
    return value


def _check_rules(null: Rule, outside: Rule, *, clamps: bool) -> None:
    if not isinstance(null, Replace) and null not in ("drop", "bucket"):
        raise DomainError(f"null must be 'drop', 'bucket' or eke.Replace(value), not {null!r}")
    allowed = ("drop", "bucket", "clamp") if clamps else ("drop", "bucket")
    if not isinstance(outside, Replace) and outside not in allowed:
        raise DomainError(
            f"outside must be one of {', '.join(allowed)} or eke.Replace(value), not {outside!r}"
        )


class _Attribute:
    """What all attributes share: labels, the optional bucket and the rules."""

    __slots__ = ()
    null: Rule
    outside: Rule

    @property
    def declared(self) -> tuple[Label, ...]:
        """The listed values without the bucket, one a code."""
        raise NotImplementedError

    @property
    def has_bucket(self) -> bool:
        """True when a cell of its own takes missing (or outside) values; its label is None."""
        return self.null == "bucket" or self.outside == "bucket"

    @property
    def drops(self) -> bool:
        """True when some raw value takes its row out of the protected table."""
        return self.null == "drop" or self.outside == "drop"

    @property
    def labels(self) -> tuple[Label, ...]:
        """One public label a code, in order; the bucket, if any, comes last as None."""
        return (*self.declared, None) if self.has_bucket else self.declared

    @property
    def size(self) -> int:
        return len(self.declared) + self.has_bucket

    def code(self, raw: object) -> int | None:
        """The code of a raw value, or None when its row is dropped (the data layer's slow twin)."""
        value = _plain(raw)
        if value is None or (isinstance(value, float) and math.isnan(value)):
            return self._by_rule(self.null, None)
        found = self._find(value)
        return self._by_rule(self.outside, value) if found is None else found

    def declared_code(self, value: object) -> int | None:
        """The code of a value as a person would write it: no rule applies, and True is not 1."""
        plain = _plain(value)
        return None if isinstance(plain, bool) else self._find(plain)

    def _find(self, raw: object) -> int | None:
        raise NotImplementedError

    def _clamp(self, raw: object) -> int | None:
        raise NotImplementedError

    def _by_rule(self, rule: Rule, raw: object) -> int | None:
        if rule == "drop":
            return None
        if rule == "bucket":
            return self.size - 1
        if rule == "clamp":
            # Text in a numeric column is not below or above anything: it is as good as NULL.
            is_number = isinstance(raw, (int, float, Fraction))
            return self._clamp(raw) if is_number else self._by_rule(self.null, None)
        return self.declared_code(rule.value)

    def _check_replacements(self) -> None:
        for rule in (self.null, self.outside):
            if isinstance(rule, Replace) and self.declared_code(rule.value) is None:
                raise DomainError(
                    f"replacement value {rule.value!r} is not a declared value; "
                    "declare it or replace by another one"
                )

    def numbers(self) -> tuple[Fraction, ...]:
        """The number each code stands for in sums and moments (the bucket counts as 0)."""
        raise DomainError(
            "this attribute has no numbers to sum; declare it as Integer, Binned or Boolean"
        )

    def label_text(self, code: int) -> str:
        """A code's label as people read it."""
        label = self.labels[code]
        return _BUCKET_TEXT if label is None else str(label)


@dataclass(frozen=True, slots=True, init=False)
class Categorical(_Attribute):
    """A column with listed public values. Other values follow `outside`, NULL and NaN `null`."""

    values: tuple[str | int | bool, ...]
    null: Rule
    outside: Rule

    def __init__(
        self, *values: str | int | bool, null: Rule = "drop", outside: Rule = "drop"
    ) -> None:
        if len(values) == 1 and isinstance(values[0], (list, tuple)):
            values = tuple(values[0])
        plain = tuple(_plain(v) for v in values)
        if not plain:
            raise DomainError("a Categorical needs at least one value, e.g. Categorical('a', 'b')")
        kinds = {type(v) for v in plain}
        if len(kinds) > 1 or not kinds <= {str, int, bool}:
            raise DomainError(
                "Categorical values must be all texts, all whole numbers or all True and False; "
                "in YAML put quotes around texts such as 'NO' or '1'"
            )
        if len(set(plain)) != len(plain):
            raise DomainError("Categorical values must differ from each other; list each once")
        if not all(is_storable(v) for v in plain if isinstance(v, str)):
            raise DomainError("Categorical texts must be valid Unicode; remove lone surrogates")
        _check_rules(null, outside, clamps=False)
        object.__setattr__(self, "values", plain)
        object.__setattr__(self, "null", null)
        object.__setattr__(self, "outside", outside)
        self._check_replacements()

    @property
    def declared(self) -> tuple[Label, ...]:
        return self.values

    def declared_code(self, value: object) -> int | None:
        plain = _plain(value)
        same_kind = isinstance(plain, bool) == isinstance(self.values[0], bool)
        return self._find(plain) if same_kind else None

    def _find(self, raw: object) -> int | None:
        if not isinstance(raw, (str, int, float)):
            return None
        if isinstance(raw, str) != isinstance(self.values[0], str):
            return None
        return next((code for code, value in enumerate(self.values) if value == raw), None)


@dataclass(frozen=True, slots=True)
class Boolean(_Attribute):
    """A true/false column; its codes are 0 for false and 1 for true."""

    null: Rule = "drop"
    outside: Rule = "drop"

    def __post_init__(self) -> None:
        _check_rules(self.null, self.outside, clamps=False)
        self._check_replacements()

    @property
    def declared(self) -> tuple[Label, ...]:
        return (False, True)

    def declared_code(self, value: object) -> int | None:
        return self._find(_plain(value))

    def _find(self, raw: object) -> int | None:
        if isinstance(raw, (bool, int, float)) and raw in (0, 1):
            return int(raw)
        return None

    def numbers(self) -> tuple[Fraction, ...]:
        return tuple(Fraction(n) for n in ((0, 1, 0) if self.has_bucket else (0, 1)))


@dataclass(frozen=True, slots=True)
class Integer(_Attribute):
    """A whole-number column between two public bounds, both included; fractions are floored."""

    low: int
    high: int
    null: Rule = "drop"
    outside: Rule = "clamp"

    def __post_init__(self) -> None:
        for name in ("low", "high"):
            bound = _plain(getattr(self, name))
            if type(bound) is not int:
                raise DomainError("Integer bounds must be whole numbers; use Binned for fractions")
            object.__setattr__(self, name, bound)
        if self.low > self.high:
            raise DomainError(
                f"Integer({self.low}, {self.high}): the lower bound is the larger; swap them"
            )
        if self.high - self.low >= 1_000_000:
            raise DomainError("an Integer may have at most 1,000,000 values; use Binned instead")
        if max(abs(self.low), abs(self.high)) >= _EXACT:
            raise DomainError("Integer bounds must be below 2**53 in magnitude; shift the column")
        _check_rules(self.null, self.outside, clamps=True)
        self._check_replacements()

    @property
    def declared(self) -> tuple[Label, ...]:
        return tuple(range(self.low, self.high + 1))

    @property
    def size(self) -> int:
        return self.high - self.low + 1 + self.has_bucket

    def declared_code(self, value: object) -> int | None:
        code = _Attribute.declared_code(self, value)
        return code if code is not None and value == self.low + code else None

    def _find(self, raw: object) -> int | None:
        if not isinstance(raw, (int, float, Fraction)) or not self.low <= raw < self.high + 1:
            return None
        return math.floor(raw) - self.low

    def _clamp(self, raw: object) -> int | None:
        below = isinstance(raw, (int, float, Fraction)) and raw < self.low
        return 0 if below else self.high - self.low

    def numbers(self) -> tuple[Fraction, ...]:
        values = [Fraction(v) for v in range(self.low, self.high + 1)]
        return tuple([*values, Fraction(0)] if self.has_bucket else values)


@dataclass(frozen=True, slots=True, init=False)
class Binned(_Attribute):
    """A numeric column cut at public edges: [e0, e1), [e1, e2), ..., the last bin closed."""

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
        _check_rules(null, outside, clamps=True)
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

    def label_text(self, code: int) -> str:
        label = self.labels[code]
        if not isinstance(label, tuple):
            return _BUCKET_TEXT
        closing = "]" if code == len(self.edges) - 2 else ")"
        return f"[{number_text(label[0])}, {number_text(label[1])}{closing}"


Attribute: TypeAlias = Categorical | Boolean | Integer | Binned


def plain_label(label: object) -> object:
    """A label as one value, for tables and files: a bin is a text with its two edges."""
    if not isinstance(label, tuple):
        return label
    return f"{number_text(label[0])} to {number_text(label[1])}"


def _edge(edge: object) -> float:
    plain = _plain(edge)
    if isinstance(plain, bool) or not isinstance(plain, (int, float)):
        raise DomainError(f"Binned edges must be numbers, not {type(plain).__name__}")
    if isinstance(plain, int):
        if abs(plain) >= _EXACT:
            raise DomainError(
                "whole-number edges must be below 2**53 in magnitude; write larger ones as 1e20"
            )
        return int(plain)
    if not math.isfinite(plain):
        raise DomainError("Binned edges must be finite; values beyond them follow `outside`")
    return plain
