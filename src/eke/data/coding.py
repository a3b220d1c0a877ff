"""Coding: for each attribute, the engine expression that turns any raw value into its code.

`Attribute.code` says in plain Python what the code of a raw value is; the expressions here compute
the same inside the engine, for every value of every column type. A NULL code means that the row is
not part of the protected table.

Privacy: The expressions are total. Every cast either cannot fail or is a TRY_CAST, every number is
brought between its bounds before it is converted, and the last branch takes whatever is left, so no
raw value can raise an error or change the shape of a result.

What a raw value is, by column type:

- booleans are 0 and 1, whole numbers (and DECIMAL without fraction digits) are exact;
- FLOAT and DOUBLE are themselves, and NaN is missing; a DECIMAL with fraction digits is the DOUBLE
  next to it;
- text is text, or, in a text file, the number or truth value that it spells (`spelled_number`);
- dates, times and texts are the moments that they name (`moments`), to attributes of such;
- anything else (lists, bytes, ..., and dates to other attributes) is a value outside every domain,
  like text in a column of numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import ibis

from eke.data.moments import (
    holds_moments,
    is_missing,
    step_number,
    step_of_told,
    told_moment,
)
from eke.data.sealed import Find
from eke.domain import Attribute
from eke.domain.fate import Fate
from eke.domain.placing import Cut, Floored, Listed, Placing, Stepped, TimeSteps
from eke.errors import DataError

NUMBER = (
    r"^[+-]?(([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
    r"|[iI][nN][fF]([iI][nN][iI][tT][yY])?|[nN][aA][nN])$"
)
TRUE_WORDS = ("true", "t", "yes", "y")
FALSE_WORDS = ("false", "f", "no", "n")
_EXACT = 2**53
_INT64 = (-(2**63), 2**63 - 1)
_LARGEST_DECIMAL = 10**38 - 1
_MANY = 256  # declared values: so many and more are looked up where the engine can
_LARGEST_WHOLE = 2**1023  # of the categories that a DOUBLE may hold; any larger one is never found


@dataclass(frozen=True, slots=True)
class _Raw:
    """One column as the three things an attribute may look at."""

    missing: Any  # boolean: NULL or NaN
    number: Any | None  # numeric, NULL where the value is not a number; None if it never is one
    text: Any | None  # string; None if the value never is text


@dataclass(frozen=True, slots=True)
class _Branch:
    """One case of a column: its condition, the code it leads to, and what the value is."""

    condition: Any
    code: Any
    fate: Any  # a `Fate`, or an expression of one


def code_expression(
    column: Any, attribute: Attribute, *, spelled: bool = False, find: Find | None = None
) -> Any:
    """An Ibis expression of the code of a raw column: `Attribute.code`, inside the engine.

    A `spelled` column holds what `spelled_number` has made of a text column. `find` finds the place
    of a text in `long_list`.
    """
    *branches, last = _branches(column, attribute, spelled=spelled, find=find)
    return ibis.cases(*((b.condition, b.code) for b in branches), else_=last.code)


def fate_expression(
    column: Any, attribute: Attribute, *, spelled: bool = False, find: Find | None = None
) -> Any:
    """An Ibis expression of the fate of a raw column: `Attribute.fate`, inside the engine.

    It has the conditions of `code_expression`, in the same order, so the two cannot disagree.
    """
    *branches, last = _branches(column, attribute, spelled=spelled, find=find)
    fates = [(b.condition, _code(b.fate) if isinstance(b.fate, Fate) else b.fate) for b in branches]
    return ibis.cases(*fates, else_=_code(last.fate))


def long_list(attribute: Attribute) -> tuple[str, ...]:
    """The texts that declared values are looked up by, where there are many; else none."""
    placing = attribute.placing
    if not isinstance(placing, Listed) or len(placing.values) < _MANY:
        return ()
    if not placing.is_text and any(not _INT64[0] <= int(v) <= _INT64[1] for v in placing.values):
        return ()
    return tuple(map(str, placing.values))


def _branches(
    column: Any, attribute: Attribute, *, spelled: bool, find: Find | None
) -> list[_Branch]:
    """All that a raw value can be, the first that holds; the last one takes whatever is left."""
    if spelled and isinstance(attribute.placing, TimeSteps):
        raw = _Raw(is_missing(column), None, None)
    else:
        raw = _Raw(column.isnan(), column, None) if spelled else _raw(column)
    # The slow twin itself says where each rule leads; object() is no declared value of anything.
    return [
        _Branch(raw.missing, _code(attribute.code(None)), Fate.MISSING),
        *_found(raw, column, attribute, spelled=spelled, find=find),
        _Branch(None, _code(attribute.code(object())), Fate.UNDECLARED),
    ]


def spelled_number(column: Any, attribute: Attribute) -> Any:
    """The DOUBLE that a text spells, NaN where it is missing, NULL where it spells none.

    Of an attribute of moments, what the text tells (`moments.told_moment`).

    The pattern keeps out what only the engine would take for a number, such as 1_000. Blanks are
    stripped only where there may be some, for that takes the engine longer than all the rest.
    """
    placing = attribute.placing
    if isinstance(placing, TimeSteps):
        return told_moment(column, placing)
    values = placing.values if isinstance(placing, Listed) else ()
    if any(abs(int(value)) >= _EXACT for value in values):
        raise DataError(
            "whole-number categories of 2**53 or more cannot be told apart in a text file; "
            "declare them as text: Categorical('9007199254740993', ...)"
        )
    text = column.strip()
    words = []
    if isinstance(placing, Listed) and placing.truth:
        words = [
            (text.lower().isin(TRUE_WORDS), _double(1.0)),
            (text.lower().isin(FALSE_WORDS), _double(0.0)),
        ]
    numbers = [(form.re_search(NUMBER), form.try_cast("float64")) for form in (column, text)]
    return ibis.cases((column.isnull(), _double(math.nan)), *numbers, *words)


def is_spelled(dtype: Any, attribute: Attribute, *, from_text: bool) -> bool:
    """True for a column of texts that `spelled_number` has something to read in."""
    if isinstance(attribute.placing, TimeSteps):
        return bool(dtype.is_string())
    return from_text and not takes_text(attribute) and bool(dtype.is_string())


def takes_text(attribute: Attribute) -> bool:
    """True when texts are looked at as they are, not as numbers or truth values that they spell."""
    return attribute.placing.is_text


def is_readable(dtype: Any, attribute: Attribute, *, from_text: bool) -> bool:
    """True unless no value of this column type could ever be a declared value."""
    from_text = from_text and bool(dtype.is_string())  # a view may have columns of other types
    if isinstance(attribute.placing, TimeSteps) and not from_text:
        return holds_moments(dtype, attribute.placing)
    if takes_text(attribute) or from_text:
        return bool(dtype.is_string())
    return bool(dtype.is_boolean() or dtype.is_numeric())


def _raw(column: Any) -> _Raw:
    dtype = column.type()
    missing = column.isnull()
    if dtype.is_string():
        return _Raw(missing, None, column)
    if dtype.is_boolean():
        return _Raw(missing, column.cast("int8"), None)
    if dtype.is_integer() or (dtype.is_decimal() and dtype.scale == 0):
        return _Raw(missing, column, None)
    if dtype.is_numeric():
        number = column.cast("float64")
        return _Raw(missing | number.isnan(), number, None)
    return _Raw(missing, None, None)


def _found(
    raw: _Raw, column: Any, attribute: Attribute, *, spelled: bool, find: Find | None
) -> list[_Branch]:
    """The branches of all values that have a place, or lie below or above all places."""
    beyond = _code(attribute.beyond[0]), _code(attribute.beyond[1])
    if isinstance(attribute.placing, TimeSteps):
        moments = attribute.placing
        number = (step_of_told if spelled else step_number)(column, moments)
        return [] if number is None else _whole_branches(number, moments.low, moments.high, beyond)
    if takes_text(attribute):
        texts = attribute.declared if raw.text is not None else ()
        if texts and find is not None:
            place = find(raw.text)
            return [_declared(place.notnull(), place)]
        return [_declared(raw.text == v, _code(n)) for n, v in enumerate(texts)]
    if raw.number is None:
        return []
    if find is not None and isinstance(attribute.placing, Listed):
        return [_listed(raw.number, [int(v) for v in attribute.placing.values], find)]
    return _number_branches(raw.number, attribute.placing, beyond)


def _listed(number: Any, values: Sequence[int], find: Find) -> _Branch:
    """The branch of all whole numbers in a long list, which are found by their digits."""
    least, most = min(values), max(values)
    inside = ~_is_below(number, least) & ~_is_above(number, most) & _is_whole(number)
    place = find(_whole_part(number, least, most).cast("string"))
    return _declared(inside & place.notnull(), place)


def _number_branches(number: Any, placing: Placing, beyond: tuple[Any, Any]) -> list[_Branch]:
    match placing:
        case Floored(low, high):
            return _whole_branches(number, low, high, beyond)
        case Stepped():
            return _step_branches(number, placing, beyond)
        case Cut(edges):
            return _bin_branches(number, edges, beyond)
        case Listed(values):
            return [_declared(_equals(number, int(v)), _code(n)) for n, v in enumerate(values)]
        case TimeSteps():
            raise TypeError("moments are found by `moments`")


def _declared(condition: Any, code: Any) -> _Branch:
    return _Branch(condition, code, Fate.DECLARED)


def _whole_branches(number: Any, low: int, high: int, beyond: tuple[Any, Any]) -> list[_Branch]:
    return [
        _Branch(_is_below(number, low), beyond[0], Fate.BEYOND),
        _Branch(~_is_below(number, high + 1), beyond[1], Fate.BEYOND),
        _rounded(number, _whole_part(number, low, high) - low, _is_whole(number)),
    ]


def _step_branches(number: Any, placing: Stepped, beyond: tuple[Any, Any]) -> list[_Branch]:
    low, high, step = placing.low, placing.high, placing.step
    # Brought between the bounds first, so that no cast can fail; then doubles, step by step.
    if not number.type().is_floating():
        least, most = (ibis.literal(end, "int64") for end in (math.floor(low), math.ceil(high)))
        between = ibis.least(ibis.greatest(number, least), most).cast("float64")
    else:
        between = number
    inside = ibis.least(ibis.greatest(between, _double(low)), _double(high))
    steps = (inside - _double(low)) / _double(step)
    place = (steps + _double(0.5)).floor()
    return [
        _Branch(_is_below(number, low), beyond[0], Fate.BEYOND),
        _Branch(_is_above(number, high), beyond[1], Fate.BEYOND),
        _rounded(number, place.cast("int64"), (steps - place).abs() <= _double(placing.rounding)),
    ]


def _rounded(number: Any, code: Any, exact: Any) -> _Branch:
    """The branch of all numbers between the bounds, of which some are not declared themselves."""
    fate = ibis.cases((exact, _code(Fate.DECLARED)), else_=_code(Fate.ROUNDED))
    return _Branch(number.notnull(), code, fate)


def _bin_branches(number: Any, edges: tuple[float, ...], beyond: tuple[Any, Any]) -> list[_Branch]:
    first, *inner, last = edges
    return [
        _Branch(_is_below(number, first), beyond[0], Fate.BEYOND),
        _Branch(_is_above(number, last), beyond[1], Fate.BEYOND),
        *(_declared(_is_below(number, edge), _code(n)) for n, edge in enumerate(inner)),
        _declared(number.notnull(), _code(len(inner))),
    ]


def _is_whole(number: Any) -> Any:
    return number == number.floor() if number.type().is_floating() else ibis.literal(True)


def _whole_part(number: Any, least: int, most: int) -> Any:
    """The number rounded down, brought between the bounds first so that the cast cannot fail."""
    floating = number.type().is_floating()
    low, high = (
        _double(float(bound)) if floating else ibis.literal(bound, "int64")
        for bound in (least, most)
    )
    between = ibis.least(ibis.greatest(number, low), high)
    return (between.floor() if floating else between).cast("int64")


def _is_below(number: Any, bound: float) -> Any:
    """True below a bound, exactly: it is a double, or a whole number that a double holds."""
    if number.type().is_floating():
        return number < _double(float(bound))
    return _compare_whole(number, math.ceil(bound), "below")


def _is_above(number: Any, bound: float) -> Any:
    """True above a bound, as exactly as in `_is_below`."""
    if number.type().is_floating():
        return number > _double(float(bound))
    return _compare_whole(number, math.floor(bound), "above")


def _equals(number: Any, value: int) -> Any:
    if number.type().is_floating():
        exact = abs(value) < _LARGEST_WHOLE and float(value) == value
        return number == _double(float(value)) if exact else ibis.literal(False)
    return _compare_whole(number, value, "equal")


def _compare_whole(number: Any, bound: int, how: str) -> Any:
    """A whole number compared with a bound that may lie beyond the range of its type."""
    dtype = number.type()
    least, most = -_LARGEST_DECIMAL, _LARGEST_DECIMAL
    if dtype.is_integer():
        least, most = int(dtype.bounds.lower), int(dtype.bounds.upper)
    if not least <= bound <= most:
        return ibis.literal(how != "equal" and (bound > most) == (how == "below"))
    narrow = _INT64[0] <= bound <= _INT64[1]
    at = ibis.literal(bound, "int64") if narrow else ibis.literal(Decimal(bound), "decimal(38, 0)")
    if how == "equal":
        return number == at
    return number < at if how == "below" else number > at


def _double(value: float) -> Any:
    return ibis.literal(value, "float64")


def _code(code: int | None) -> Any:
    return ibis.literal(None if code is None else int(code), "int64")
