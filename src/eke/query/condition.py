"""Conditions: which values of one attribute a question is about.

A condition is

- a value: ``sex="Female"``, ``age=42``, ``married=True``;
- a pair (low, high), both ends included; None or an infinity leaves an end open. On a binned
  attribute the ends must be edges and the range is [low, high), as the bins are;
- a list or set of values (on a binned attribute, of bins);
- None for the bucket of missing values.

A condition that no declared value can meet is an error rather than a question with answer 0: it is
nearly always a slip, and the declared values are public.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from eke.domain import Attribute, Domain
from eke.errors import QueryError
from eke.query.pieces import Pieces
from eke.query.runs import Vector


def check_names(domain: Domain, names: Iterable[object]) -> None:
    """Raise unless all are attributes of the domain."""
    for name in names:
        if name not in domain:
            raise QueryError(domain.unknown(name))


def selection(attribute: Attribute, condition: Any) -> Vector:
    """The 0/1 vector over an attribute's codes of the values that meet a condition."""
    chosen = _chosen(attribute, condition)
    if attribute.is_wide:
        ends = [end for one in chosen for end in ((0, one.start), (1, one.stop))]
        return Pieces.of_stretches([*ends, (0, attribute.size)]).runs()
    vector = np.zeros(attribute.size, np.int64)
    for codes in chosen:
        vector[codes] = 1
    return vector


def _chosen(attribute: Attribute, condition: Any) -> list[slice]:
    """The codes that meet a condition, in stretches one after the other."""
    if isinstance(condition, tuple):
        return [_range_codes(attribute, condition)]
    values = condition if isinstance(condition, (list, set, frozenset)) else [condition]
    if not values:
        raise QueryError("an empty list of values selects nothing; leave the condition out")
    return [slice(c, c + 1) for c in sorted({_value_code(attribute, value) for value in values})]


def _value_code(attribute: Attribute, value: object) -> int:
    if value is None:
        if not attribute.has_bucket:
            raise QueryError("no bucket is declared for missing values, so None selects nothing")
        return attribute.size - 1
    return attribute.chosen_code(value)


def _range_codes(attribute: Attribute, ends: tuple[Any, ...]) -> slice:
    if len(ends) != 2:
        raise QueryError("a range is a pair (low, high); for a choice of values use a list")
    low, high = attribute.range_end(ends[0]), attribute.last_end(ends[1])
    if low is not None and high is not None and low > high:
        raise QueryError(
            f"the range {attribute.end_text(low)} to {attribute.end_text(high)} is empty; "
            "its ends are in the wrong order"
        )
    # An infinity on its own side is an open end.
    low = None if low == -math.inf else low
    high = None if high == math.inf else high
    return attribute.codes_between(low, high)
