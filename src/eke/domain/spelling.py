"""Decimal and Real: the names that people know for columns of numbers; each makes a `Numeric`.

    eke.Decimal(0, 9999.99, scale=2)      # NUMERIC(6, 2) of a database: hundredths
    eke.Real(-40, 60, step=0.5)           # measurements, rounded to halves

They are names and no kinds: a domain that is read holds a `Numeric`, and writes it as one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from eke.domain.numeric import Numeric
from eke.domain.rule import Rule, plain
from eke.errors import DomainError

_MOST_DIGITS = 15


def Decimal(  # noqa: N802 - it stands where the classes of columns stand
    low: float,
    high: float,
    scale: int = 2,
    null: Rule = "drop",
    outside: Rule = "clamp",
) -> Numeric:
    """A column of decimals with so many digits after the point, such as amounts of money.

    It is a `Numeric` with steps of 0.1, 0.01, 0.001 …, and shows itself as that.

    Args:
        low: the smallest value.
        high: the largest; there may be at most 2^40, about 10^12, values.
        scale: the digits after the point, from 0 to 15.
        null: the rule for NULL and NaN; under "clamp" for texts, too, which have no nearest bound.
        outside: the rule for numbers beyond; "clamp" moves them to the nearest bound. With "never"
            averages know that nothing is rounded.

    Raises:
        DomainError: when a bound has more digits, or there are too many values.

    Example:
        >>> eke.Decimal(0, 99.99, 2) == eke.Numeric(0, 99.99, step=0.01)
        True
    """
    digits = plain(scale)
    if type(digits) is not int or not 0 <= digits <= _MOST_DIGITS:
        raise DomainError(
            f"the scale of a Decimal is a whole number of digits, from 0 to {_MOST_DIGITS}"
        )
    return Numeric(low, high, float(f"1e-{digits}") if digits else 1, null, outside)


def Real(  # noqa: N802 - it stands where the classes of columns stand
    low: float,
    high: float,
    step: float,
    null: Rule = "drop",
    outside: Rule = "clamp",
) -> Numeric:
    """A column of measurements, rounded to a step: a `Numeric` by another name.

    Args:
        low: the smallest value.
        high: the largest, a whole number of steps away; there may be at most 2^40, about 10^12,
            values.
        step: the distance between two values; the table's own are at most half of it away.
        null: the rule for NULL and NaN; under "clamp" for texts, too, which have no nearest bound.
        outside: the rule for numbers beyond; "clamp" moves them to the nearest bound.

    Example:
        >>> eke.Real(-40, 60, step=0.5).size
        201
    """
    return Numeric(low, high, step, null, outside)


SPELLINGS: Mapping[str, Callable[..., Numeric]] = {"decimal": Decimal, "real": Real}
"""What files may name as a type, and what it makes of the fields beside it."""


def decimal_fields(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields of an attribute as a draft writes them: steps of 0.01 are two digits."""
    step = str(fields.get("step"))
    digits = _DIGITS_OF.get(step) if fields.get("type") == "numeric" else None
    if digits is None:
        return fields
    rest = {name: value for name, value in fields.items() if name not in ("type", "step")}
    low, high = (rest.pop(name) for name in ("low", "high"))
    return {"type": "decimal", "low": low, "high": high, "scale": digits, **rest}


_DIGITS_OF = {str(float(f"1e-{digits}")): digits for digits in range(1, _MOST_DIGITS + 1)}
