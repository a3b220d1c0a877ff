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
from fractions import Fraction
from typing import Any

import numpy as np

from eke.domain import Attribute, Binned, Integer
from eke.domain.attribute import number_text
from eke.errors import QueryError
from eke.query.vector import IntVector

_SHOWN = 12


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
    if isinstance(attribute, Binned):
        return _bin_code(attribute, value)
    code = attribute.declared_code(value)
    if code is None:
        raise QueryError(f"{value!r} is not a declared value; {_declared_text(attribute)}")
    return code


def _bin_code(attribute: Binned, value: object) -> int:
    if isinstance(value, tuple) and value in attribute.declared:
        return attribute.declared.index(value)
    raise QueryError(
        f"a binned attribute is selected by a range between edges, e.g. {attribute.declared[0]}"
    )


def _declared_text(attribute: Attribute) -> str:
    if isinstance(attribute, Integer):
        return f"the declared range is {attribute.low} to {attribute.high}"
    shown = ", ".join(repr(value) for value in attribute.declared[:_SHOWN])
    more = len(attribute.declared) - _SHOWN
    return f"declared are {shown}" + (f" and {more} more" if more > 0 else "")


def _range_codes(attribute: Attribute, ends: tuple[Any, ...]) -> slice:
    if len(ends) != 2:
        raise QueryError("a range is a pair (low, high); for a choice of values use a list")
    low, high = _end(ends[0]), _end(ends[1])
    if low is not None and high is not None and low > high:
        raise QueryError(
            f"the range {_text(low)} to {_text(high)} is empty; its ends are in the wrong order"
        )
    # An infinity on its own side is an open end.
    low = None if low == -math.inf else low
    high = None if high == math.inf else high
    if isinstance(attribute, Integer):
        return _integer_codes(attribute, low, high)
    if isinstance(attribute, Binned):
        start = 0 if low is None else _edge_place(attribute, low)
        stop = len(attribute.edges) - 1 if high is None else _edge_place(attribute, high)
        if start >= stop:
            raise QueryError(
                f"the range from {_text(ends[0])} to {_text(ends[1])} is empty; "
                "it needs two different edges"
            )
        return slice(start, stop)
    raise QueryError(
        "ranges need an Integer or Binned attribute; list the values instead: "
        + _declared_text(attribute)
    )


def _integer_codes(
    attribute: Integer, low: float | Fraction | None, high: float | Fraction | None
) -> slice:
    least, most = attribute.low, attribute.high
    # Ends beyond the declared range are clipped before they are rounded: they may be infinite.
    first = least if low is None else math.ceil(min(max(low, least), most + 1))
    last = most if high is None else math.floor(max(min(high, most), least - 1))
    if first > last:
        raise QueryError(
            f"no declared value lies between {_text(low)} and {_text(high)}; "
            + _declared_text(attribute)
        )
    return slice(first - least, last - least + 1)


def _edge_place(attribute: Binned, end: float | Fraction) -> int:
    if end in attribute.edges:
        return attribute.edges.index(float(end))
    below = [e for e in attribute.edges if e < end]
    above = [e for e in attribute.edges if e > end]
    nearest = " and ".join(number_text(e) for e in (below[-1:] + above[:1]))
    if not below or not above:
        raise QueryError(f"{_text(end)} lies beyond the bins; the nearest edge is {nearest}")
    raise QueryError(f"{_text(end)} cuts through a bin; the nearest edges are {nearest}")


def _end(end: Any) -> float | Fraction | None:
    if isinstance(end, np.generic):
        end = end.item()
    if end is None:
        return None
    if isinstance(end, (int, Fraction)) and not isinstance(end, bool):
        return end
    if isinstance(end, float) and not math.isnan(end):
        return end
    raise QueryError("the ends of a range must be numbers or None, not text, True or NaN")


def _text(end: float | Fraction | None) -> str:
    if end is None:
        return "an open end"
    if isinstance(end, (int, Fraction)) or math.isinf(end):
        return str(end)
    return number_text(end)
