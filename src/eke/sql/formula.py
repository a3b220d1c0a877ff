"""Formulas: what a column of the result is, as arithmetic on noisy aggregates.

A linear question is one `Aggregate`. AVG, ratios, variances, products and roots are trees over
several. `evaluate` works on Fractions (exactly, but for roots) and on floats; None is NULL: a
division by zero or the root of a negative number, which noise can bring about.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

Sign: TypeAlias = Literal["+", "-", "*", "/"]


@dataclass(frozen=True, slots=True)
class Constant:
    """A public number; in HAVING and ORDER BY also a text or a truth value."""

    value: Fraction | str | bool


@dataclass(frozen=True, slots=True)
class Aggregate:
    """The answer to `statement.aggregates[index]` (in this row's cell)."""

    index: int


@dataclass(frozen=True, slots=True)
class Key:
    """The label of this row in `statement.group_by[index]`."""

    index: int


@dataclass(frozen=True, slots=True)
class Operation:
    """Two formulas joined by + - * or /."""

    sign: Sign
    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Root:
    """The square root."""

    of: Formula


Formula: TypeAlias = Constant | Aggregate | Key | Operation | Root


def evaluate(formula: Formula, values: Sequence[Any], keys: Sequence[Any] = ()) -> Any:
    """The formula's value in a row with these aggregates and keys; None where it has none.

    A bin stands for its midpoint.
    """
    match formula:
        case Constant(value):
            return value
        case Aggregate(index):
            return values[index]
        case Key(index):
            label = keys[index]
            return (label[0] + label[1]) / 2 if isinstance(label, tuple) else label
        case Root(of):
            inner = evaluate(of, values, keys)
            return None if inner is None or inner < 0 else math.sqrt(inner)
        case Operation(sign, left, right):
            return _operated(sign, evaluate(left, values, keys), evaluate(right, values, keys))


def _operated(sign: Sign, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if sign == "+":
        return left + right
    if sign == "-":
        return left - right
    if sign == "*":
        return left * right
    return None if right == 0 else left / right


def leaves(formula: Formula) -> Iterator[Constant | Aggregate | Key]:
    """The constants, aggregates and keys of a formula, from left to right."""
    waiting: list[Formula] = [formula]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Operation):
            waiting += [one.right, one.left]
        elif isinstance(one, Root):
            waiting.append(one.of)
        else:
            yield one


def is_linear(formula: Formula) -> bool:
    """True when the column is one aggregate, possibly scaled and shifted by constants."""
    match formula:
        case Aggregate():
            return True
        case Operation("+" | "-" | "*", Constant(), right):
            return is_linear(right)
        case Operation(_, left, Constant()):
            return is_linear(left)
    return False


def formula_text(formula: Formula) -> str:
    """The formula as people write it, with a0, a1, … for aggregates and k0, k1, … for keys."""
    match formula:
        case Constant(value):
            return repr(value) if isinstance(value, str) else str(value)
        case Aggregate(index):
            return f"a{index}"
        case Key(index):
            return f"k{index}"
        case Root(of):
            return f"sqrt({formula_text(of)})"
        case Operation(sign, left, right):
            return f"({formula_text(left)} {sign} {formula_text(right)})"
