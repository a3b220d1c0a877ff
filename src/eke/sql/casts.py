"""Casts: CAST(x AS type) and x::type between numbers, texts and truth values, and to dates."""

from __future__ import annotations

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
from sqlglot import exp

from eke.query.pieces import TooLarge
from eke.question.calendar import label_text, written_number
from eke.question.groups import MomentKind
from eke.sql import numeric
from eke.sql.diagram import Diagram, Leaf
from eke.sql.grouping import labelled
from eke.sql.moments import (
    as_moment,
    clock_of,
    day_of,
    literal_moment,
)
from eke.sql.place import echo
from eke.sql.stepwise import has_remainder
from eke.sql.texts import short
from eke.sql.value import (
    Missing,
    Moment,
    Number,
    Reading,
    Text,
    Truth,
    Value,
    is_literal,
    known_part,
    literal_number,
    written,
)

_INTEGERS = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT", "INT128"})
_REALS = frozenset({"FLOAT", "DOUBLE"})
TEXTS = frozenset({"TEXT", "VARCHAR", "CHAR", "NCHAR", "NVARCHAR", "BPCHAR"})
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,2})?"
)
_TRUTHS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}
_MOST_DIGITS = 20
_MOMENTS: dict[str, MomentKind] = {
    "DATE": "day",
    "TIME": "clock",
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMPNTZ", "DATETIME"), "moment"),
}
_ZONED = (
    "timestamps are told by the clocks of the declared zone and have none of their own; write "
    "TIMESTAMP"
)
_NO_DATES = (
    "dates become no other type here; take a part, as in EXTRACT(month FROM d), or a number of "
    "days, as in d - DATE '2013-01-01'"
)


class _NotANumber(Exception):
    """A text that is no number; its label."""


def cast(reading: Reading, node: exp.Expr, value: Value) -> Value:
    """CAST, TRY_CAST and ::, which gives NULL where a text is not of that type if it tries."""
    name = type_name(node)
    if isinstance(value, Missing):
        return value
    if name in ("TIMESTAMPTZ", "TIMESTAMPLTZ", "TIMETZ"):
        raise reading.error(node, _ZONED)
    if name in _MOMENTS or isinstance(value, Moment):
        return _as_moment(reading, node, value)
    if name in TEXTS:
        return as_text(reading, node, value)
    if name == "BOOLEAN":
        return _as_truth(reading, node, value)
    return _as_number(reading, node, name, value)


def _as_number(reading: Reading, node: exp.Expr, name: str, value: Value) -> Number:
    """The value as a number of a type."""
    if name not in _INTEGERS | _REALS | {"DECIMAL"}:
        raise reading.error(
            node,
            f"CAST to {echo(name)} is not supported; the types are INTEGER, DOUBLE, DECIMAL, "
            "VARCHAR, BOOLEAN, DATE, TIMESTAMP and TIME",
        )
    number = _as_plain_number(reading, node, value)
    if name in _REALS:
        return replace(number, whole=False)
    if name == "DECIMAL":
        digits = decimal_digits(reading, node)
        return replace(numeric.mapped(reading, node, numeric.ROUND, number, digits), whole=False)
    return _as_integer(reading, node, number, from_text=isinstance(value, Text))


def as_text(reading: Reading, node: exp.Expr, value: Value) -> Value:
    """The value as it is spelled."""
    if isinstance(value, (Text, Missing)):
        return value
    if isinstance(value, Moment):
        raise reading.error(node, _NO_DATES)
    if isinstance(value, Truth):
        return Text(reading.diagrams.mapped(_spelled_truth, value.labels))
    if not value.whole:
        raise reading.error(
            node,
            "only whole numbers become texts here, for others have many spellings; write "
            "CAST(ROUND(…) AS INTEGER) first",
        )
    steps = value.steps if value.steps is not None else labelled(reading, node, value)
    reading.effort.spend(5 * len(reading.diagrams.labels(steps)))
    return Text(reading.diagrams.mapped(_spelled_number, steps))


def _as_moment(reading: Reading, node: exp.Expr, value: Value) -> Value:
    """A date or a time as another of them, or the one that a text in quotation marks spells."""
    kind = _MOMENTS.get(type_name(node))
    if kind is None:
        raise reading.error(node, _NO_DATES)
    if isinstance(value, Moment) and value.kind == "moment" and kind != "moment":
        return (day_of if kind == "day" else clock_of)(reading, node, value)
    if isinstance(node, exp.TryCast) and isinstance(value, Text) and is_literal(value):
        text = written(value)
        if not isinstance(text, str) or written_number(text, kind) is None:
            return Missing()
    return as_moment(reading, node, value, kind)


def _as_truth(reading: Reading, node: exp.Expr, value: Value) -> Value:
    diagrams = reading.diagrams
    if isinstance(value, Truth):
        return value
    if isinstance(value, Text):
        texts = [t for t in diagrams.labels(value.labels) if t is not None]
        strange = [t for t in texts if t.strip().lower() not in _TRUTHS]
        if strange and not isinstance(node, exp.TryCast):
            raise reading.error(
                node, f"{echo(strange[0])!r} is not a truth value; compare the texts themselves"
            )
        return Truth(diagrams.mapped(_read_truth, value.labels))
    raise reading.error(node, "a number is not a truth value; write … <> 0")


def _as_plain_number(reading: Reading, node: exp.Expr, value: Value) -> Number:
    """The value as a number, with all its digits."""
    diagrams = reading.diagrams
    if isinstance(value, Number):
        return replace(value, attribute=None, category=None) if value.category else value
    if isinstance(value, Truth):
        return Number(
            None, known_part(reading, value), diagrams.mapped(_counted, value.labels), whole=True
        )
    labels = value.labels if isinstance(value, Text) else diagrams.unknown
    reading.effort.spend(5 * len(diagrams.labels(labels)))
    try:
        is_try = isinstance(node, exp.TryCast)
        steps: Diagram = diagrams.mapped(_tried_number if is_try else _read_number, labels)
    except _NotANumber as problem:
        raise reading.error(
            node,
            f"{echo(str(problem))!r} is not a number; write TRY_CAST, which makes it NULL",
        ) from None
    if isinstance(steps, Leaf) and steps.label is not None:
        return literal_number(reading, steps.label)
    known = diagrams.mapped(_is_known, steps)
    return Number(None, known, steps)


def _as_integer(reading: Reading, node: exp.Expr, number: Number, *, from_text: bool) -> Number:
    """The nearest whole number; halves, which types round differently, are refused."""
    if number.whole:
        return number
    if number.midpoints:
        raise reading.error(node, numeric.cuts_through_bins("CAST", number))
    if not from_text and _has_halves(reading, number):
        raise reading.error(
            node,
            "CAST rounds halves away from zero or to even numbers, depending on the type; write "
            "ROUND, FLOOR or CEIL within it",
        )
    return replace(numeric.mapped(reading, node, numeric.ROUND, number, Fraction(0)), whole=True)


def _has_halves(reading: Reading, number: Number) -> bool:
    if number.steps is not None:
        labels = reading.diagrams.labels(number.steps)
        return any(label is not None and label.denominator == 2 for label in labels)
    domain = reading.domain
    polynomial = number.polynomial(reading.diagrams)
    names = domain.in_order(polynomial.attributes)
    if len(names) != 1:  # `mapped` refuses what is too large; the others have few cells
        size = int(np.prod([domain[name].size for name in names], dtype=float))
        if size > 2**16:
            raise TooLarge("CAST takes one column, or few small ones")
        reading.effort.spend(size // 10)
    if len(names) == 1 and domain[names[0]].is_wide:
        unit, pieces = polynomial.pieces(domain, names[0])
        half, odd = divmod(unit.denominator, 2)
        return not odd and has_remainder(pieces, unit.denominator, half, reading.effort)
    unit, whole = polynomial.table(domain, names)
    reading.effort.spend(whole.size // 20)
    divisor = unit.denominator
    if divisor % 2 or divisor >= 2**62:
        return divisor % 2 == 0
    return bool((whole % divisor == divisor // 2).any())


def written_label(reading: Reading, node: exp.Expr) -> str | None:
    """The label of DATE '2013-01-31' and the like, however it is written; None for others."""
    kind = _MOMENTS.get(type_name(node)) if isinstance(node, exp.Cast) else None
    inner = node.this
    if kind is None or not isinstance(inner, exp.Literal) or not inner.args.get("is_string"):
        return None
    return label_of(reading, node, str(inner.this), kind)


def label_of(reading: Reading, node: exp.Expr, text: str, kind: MomentKind) -> str:
    """The label of what a text spells."""
    (number,) = reading.diagrams.labels(
        literal_moment(reading, node, text, kind).number.steps or reading.diagrams.unknown
    )
    return label_text(number, kind)


def moment_type(node: exp.Expr) -> MomentKind | None:
    """The kind of dates or times that a cast makes; None for others and for what is no cast."""
    is_cast = isinstance(node, (exp.Cast, exp.TryCast))
    return _MOMENTS.get(type_name(node)) if is_cast else None


def type_name(node: exp.Expr) -> str:
    """The type that a cast names."""
    kind = node.args["to"].this
    return str(getattr(kind, "value", kind)).upper()


def decimal_digits(reading: Reading, node: exp.Expr) -> Fraction:
    """The digits after the point of a DECIMAL."""
    spelled = [str(one.this.this) for one in node.args["to"].args.get("expressions") or ()]
    if not all(s.isdecimal() and s.isascii() and int(s[:4]) <= 38 for s in spelled):
        raise reading.error(node, "DECIMAL has whole numbers of digits, as in DECIMAL(18, 3)")
    digits = int(spelled[1][:4]) if len(spelled) > 1 else 0 if spelled else 3
    if digits > _MOST_DIGITS:
        raise reading.error(node, f"at most {_MOST_DIGITS} digits after the point are kept here")
    return Fraction(digits)


def _spelled_truth(truth: bool | None, _: object) -> str | None:
    return None if truth is None else "true" if truth else "false"


def _spelled_number(number: Fraction | None, _: object) -> str | None:
    return None if number is None else short(str(number))


def _counted(truth: bool | None, _: object) -> Fraction | None:
    return None if truth is None else Fraction(int(truth))


def _read_truth(text: str | None, _: object) -> bool | None:
    return None if text is None else _TRUTHS.get(text.strip().lower())


def _read_number(text: str | None, _: object) -> Fraction | None:
    if text is None:
        return None
    plain = text.strip(" ")
    if not _NUMBER.fullmatch(plain):
        raise _NotANumber(text)
    return Fraction(plain)


def _tried_number(text: str | None, _: object) -> Fraction | None:
    try:
        return _read_number(text, _)
    except _NotANumber:
        return None


def _is_known(number: Fraction | None, _: object) -> bool:
    return number is not None
