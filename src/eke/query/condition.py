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
from typing import Any

import numpy as np

from eke.domain import Attribute
from eke.errors import QueryError
from eke.query.vector import IntVector


def selection(attribute: Attribute, condition: Any) -> IntVector:
    """The 0/1 vector over an attribute's codes of the values that meet a condition."""
    chosen = np.zeros(attribute.size, np.int64)
    if isinstance(condition, tuple):
        chosen[_range_codes(attribute, condition)] = 1
    elif isinstance(condition, (list, set, frozenset)):
        if not condition:
            raise QueryError("an empty list of values selects nothing; leave the condition out")
        for value in condition:
            chosen[_value_code(attribute, value)] = 1
    else:
        chosen[_value_code(attribute, condition)] = 1
    return chosen


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
