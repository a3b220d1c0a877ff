"""Features: the attributes of a table as numbers between 0 and 1, and the way back to labels.

A numeric attribute (Integer, Binned, Boolean) is one column, scaled by its declared bounds; any
other is one dummy column for each of its values (COMP §3.1). All numbers are whole multiples of
2^-16, rounded once and publicly, so that every sum over records is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.arrays import Codes, FloatArray
from eke.domain import Attribute, Domain
from eke.errors import DomainError, QueryError

FEATURE_BITS = 16
UNIT = Fraction(1, 2**FEATURE_BITS)
_ONE = 2**FEATURE_BITS


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """One attribute as columns: `table[code]` is what a record with that code has in them.

    table: (codes, columns), whole numbers in units of 2^-16 from 0 to 2^16. Codes from `listed` on
    are the bucket of a numeric attribute.
    """

    name: str
    numeric: bool
    first: int
    table: NDArray[np.int64]
    listed: int

    @property
    def columns(self) -> slice:
        """The places of its columns among those of all features."""
        return slice(self.first, self.first + self.table.shape[1])

    @property
    def is_binary(self) -> bool:
        """True when a square equals its number, so that second moments need no own measurement."""
        return bool(np.isin(self.table, (0, _ONE)).all())

    def decode(self, values: FloatArray) -> Codes:
        """The code nearest to each row of values, or that of the largest dummy (COMP §3.1).

        values: (rows, columns). Missing numbers are never made up: a bucket is not decoded to.
        """
        if not self.numeric:
            return np.asarray(values.argmax(axis=1), np.int64)
        levels, codes = self.levels
        nearest = np.searchsorted((levels[1:] + levels[:-1]) / 2.0, values[:, 0])
        return codes[nearest]

    @property
    def levels(self) -> tuple[FloatArray, Codes]:
        """The different numbers that a numeric feature can take, and the code of each."""
        numbers, codes = np.unique(self.table[: self.listed, 0], return_index=True)
        return numbers / _ONE, codes.astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Features:
    """All features of a publication, in the domain's order."""

    domain: Domain
    all: tuple[Feature, ...]

    @property
    def width(self) -> int:
        """The number of columns: p of the paper, dummies included."""
        return int(self.all[-1].columns.stop)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.all)

    def encode(self, codes: Codes) -> FloatArray:
        """The numbers of coded records; codes: (rows, features), result: (rows, columns)."""
        parts = [feature.table[codes[:, place]] for place, feature in enumerate(self.all)]
        return np.asarray(np.concatenate(parts, axis=1) / _ONE)

    def decode(self, values: FloatArray) -> Codes:
        """Coded records from numbers, each attribute by itself; (rows, columns) to codes."""
        columns = [feature.decode(values[:, feature.columns]) for feature in self.all]
        return np.stack(columns, axis=1)


def features_of(domain: Domain, names: Sequence[str]) -> Features:
    """The features of some attributes; refuses attributes that say nothing."""
    if not names:
        raise QueryError("there is no attribute to publish; name at least one in attributes=[...]")
    features, first = [], 0
    for name in domain.in_order(names):
        if domain[name].is_wide:
            raise QueryError(
                f"{name!r} has {domain[name].size:,} values, and publications list all of them; "
                "leave it out: attributes=[...], or declare a longer step"
            )
        table, numeric = _table(name, domain[name])
        listed = len(domain[name].declared) if numeric else len(table)
        features.append(Feature(name, numeric, first, table, listed))
        first += table.shape[1]
    return Features(domain, tuple(features))


def _table(name: str, attribute: Attribute) -> tuple[NDArray[np.int64], bool]:
    if len(attribute.declared) + attribute.has_bucket < 2:
        raise DomainError(
            f"attribute {name!r} has one declared value, so there is nothing to publish about it; "
            "leave it out: attributes=[...]"
        )
    three_valued = attribute.has_bucket and not attribute.is_ordered
    single = len(attribute.declared) < 2
    if not attribute.has_numbers or three_valued or single:
        return _ONE * np.eye(attribute.size, dtype=np.int64), False
    numbers = attribute.numbers()[: len(attribute.declared)]
    low, high = min(numbers), max(numbers)
    scaled = [round((number - low) / (high - low) * _ONE) for number in numbers]
    if attribute.has_bucket:
        scaled.append(_ONE // 2)  # a missing number counts as one in the middle of its bounds
    return np.array(scaled, np.int64)[:, np.newaxis], True
