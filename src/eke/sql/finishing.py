"""Finishing: functions around aggregates, which are applied to the noisy answers.

ROUND(AVG(age), 1) or COALESCE(AVG(age), 0) is no other question than AVG(age): they are taken off
here, from the outside inwards, and put on again when the answer is shown.
"""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from eke.question.finish import AS_TEXT, Finish
from eke.question.formula import Formula
from eke.sql.casts import TEXTS, decimal_digits, moment_type, type_name
from eke.sql.draft import NO_OTHER_TYPE
from eke.sql.scalar import AGGREGATES, literal_fraction
from eke.sql.value import Reading
from eke.sql.vocabulary import ARGUMENTS

_WORDS: dict[type[exp.Expr], str] = {
    exp.Round: "round",
    exp.Trunc: "trunc",
    exp.Floor: "floor",
    exp.Ceil: "ceil",
    exp.Abs: "abs",
    exp.Sign: "sign",
    exp.Least: "least",
    exp.Greatest: "greatest",
    exp.Coalesce: "coalesce",
}
_MOST_DIGITS = 20
_MOST_FINISHES = 20
_MOST_POWER = 8
FUNCTIONS: tuple[type[exp.Expr], ...] = tuple(ARGUMENTS)
_NO_FUNCTION = (
    "a quantile of dates or times is one of them, and nothing is done to it here; leave the "
    "function out, or cut the column, as in MEDIAN(date_trunc('month', d))"
)


def has_aggregate(node: exp.Expr) -> bool:
    """True for an expression with an aggregate in it, or with a query in parentheses."""
    return any(isinstance(one, (*AGGREGATES, exp.Subquery)) for one in node.walk())


def taken_off(reading: Reading, node: exp.Expr) -> tuple[exp.Expr, tuple[Finish, ...]]:
    """What is within the functions around aggregates, and these functions, the innermost first."""
    finishes_inwards: list[Finish] = []
    while True:
        while isinstance(node, exp.Paren):
            node = node.this
        if not isinstance(node, FUNCTIONS):
            return node, tuple(reversed(finishes_inwards))
        if isinstance(node, (exp.Pow, exp.Nullif)) or moment_type(node) is not None:
            return node, tuple(reversed(finishes_inwards))
        inner, finishes = _one(reading, node)
        if finishes_inwards and AS_TEXT in finishes:
            raise reading.error(node, "a text of a number is no number; leave the cast out")
        finishes_inwards += finishes
        if len(finishes_inwards) > _MOST_FINISHES:
            raise reading.error(node, f"at most {_MOST_FINISHES} functions around an aggregate")
        node = inner


def checked_finishes(
    reading: Reading, node: exp.Expr, formula: Formula, finishes: tuple[Finish, ...]
) -> tuple[Finish, ...]:
    """The functions around an aggregate, if they can be applied to what it is."""
    if finishes and formula.calendar is not None:
        raise reading.error(node, _NO_FUNCTION)
    return finishes


def power_of(reading: Reading, node: exp.Expr) -> int:
    """How often the base of a power of aggregates is multiplied with itself."""
    around = node.this.walk(prune=lambda one: isinstance(one, AGGREGATES))
    if any(isinstance(one, exp.Pow) for one in around):
        raise reading.error(node, "a POWER of a POWER is not supported; write one with the product")
    power = constant_of(reading, node.args["expression"])
    if power is None or power.denominator != 1 or not 1 <= power <= _MOST_POWER:
        raise reading.error(
            node,
            f"POWER of an aggregate takes a whole number from 1 to {_MOST_POWER}; write SQRT for a "
            "root, and 1 / x for an inverse",
        )
    return int(power)


def constant_of(reading: Reading, node: exp.Expr) -> Fraction | None:
    """The number that a literal is, with or without a sign; None for other expressions."""
    sign = 1
    while isinstance(node, (exp.Paren, exp.Neg)):
        sign *= -1 if isinstance(node, exp.Neg) else 1
        node = node.this
    if not isinstance(node, exp.Literal) or node.args.get("is_string"):
        return None
    return sign * literal_fraction(reading, node)


def is_guarded(reading: Reading, node: exp.Expr) -> bool:
    """True for NULLIF(x, 0) of aggregates: dividing by zero is NULL here as it is."""
    node = unwrapped(node)
    return isinstance(node, exp.Nullif) and constant_of(reading, node.args["expression"]) == 0


def unwrapped(node: exp.Expr) -> exp.Expr:
    """An expression without parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def advice(reading: Reading, node: exp.Expr) -> Exception:
    """The refusal of a function in the midst of arithmetic on aggregates."""
    word = node.sql_name() if isinstance(node, exp.Func) else type(node).__name__.upper()
    if type(node) in _WORDS:
        return reading.error(
            node,
            f"{word} stands around all of a column here, for only then its interval is known: "
            f"write {word}(100 * COUNT(*) / …) and not 100 * {word}(…)",
        )
    if isinstance(node, exp.Nullif):
        return reading.error(
            node,
            "NULLIF of an aggregate is for divisors, as in SUM(age) / NULLIF(COUNT(*), 0); a noisy "
            "value hardly ever equals another, leave it out",
        )
    return reading.error(
        node,
        f"{word} cannot be applied to a noisy number: its interval would not be known; select the "
        "aggregate, and calculate with the answer",
    )


def _one(reading: Reading, node: exp.Expr) -> tuple[exp.Expr, list[Finish]]:
    """What is within one function, and the finishes that it is, the outermost first."""
    if isinstance(node, (exp.Cast, exp.TryCast)):
        return node.this, _cast(reading, node)
    word = _WORDS.get(type(node))
    if word is None:
        raise advice(reading, node)
    if word in ("round", "trunc"):
        digits = node.args.get("decimals")
        number = Fraction(0) if digits is None else constant_of(reading, digits)
        if number is None or number.denominator != 1 or abs(number) > _MOST_DIGITS:
            raise reading.error(
                node, f"{word.upper()} takes a whole number of digits, at most {_MOST_DIGITS}"
            )
        return node.this, [Finish(word, number)]
    if word in ("least", "greatest", "coalesce"):
        return _with_numbers(reading, node, word)
    return node.this, [Finish(word)]


def _with_numbers(reading: Reading, node: exp.Expr, word: str) -> tuple[exp.Expr, list[Finish]]:
    operands = [node.this, *(node.args.get("expressions") or ())]
    constants = [constant_of(reading, one) for one in operands]
    inner = [one for one, number in zip(operands, constants, strict=True) if number is None]
    numbers = [number for number in constants if number is not None]
    in_order = word != "coalesce" or constants[0] is None
    if len(inner) != 1 or not in_order or not numbers:
        raise reading.error(
            node,
            f"{word.upper()} takes one aggregate and plain numbers besides it, as in "
            f"{word.upper()}(AVG(age), 0)",
        )
    if word == "coalesce":
        return inner[0], [Finish(word, numbers[0])]
    return inner[0], [Finish(word, min(numbers) if word == "least" else max(numbers))]


def _cast(reading: Reading, node: exp.Expr) -> list[Finish]:
    name = type_name(node)
    if name in ("FLOAT", "DOUBLE"):
        return []
    if name == "DECIMAL":
        return [Finish("round", decimal_digits(reading, node))]
    if name in ("SMALLINT", "INT", "BIGINT", "INT128"):
        return [Finish("round")]
    if name in TEXTS:
        return [AS_TEXT]
    raise reading.error(
        node,
        NO_OTHER_TYPE,
    )
