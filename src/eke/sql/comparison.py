"""Comparisons: =, <>, <, <=, >, >=, IN and LIKE as conditions over cells.

A comparison of one column becomes a set of its codes, one of a few columns a small table. A bin is
either wholly inside or wholly outside: a comparison that cuts through one is refused.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from sqlglot import exp

from eke.query.canonical import DENSE_CELLS
from eke.query.pieces import Pieces
from eke.question.logic import either
from eke.sql.bins import cut_message, line_codes
from eke.sql.diagram import Diagram
from eke.sql.logic import folded, if_true
from eke.sql.moments import compared
from eke.sql.place import echo, listing, suggestion
from eke.sql.polynomial import constant
from eke.sql.value import (
    Line,
    Missing,
    Moment,
    Number,
    Reading,
    Text,
    Truth,
    Value,
    is_literal,
    written,
)

Labels = Callable[[Any, Any], bool | None]


def _lifted(plain: Callable[[Any, Any], Any]) -> Labels:
    """The comparison of labels: unknown where either is."""

    def on_labels(first: Any, second: Any) -> bool | None:
        return None if first is None or second is None else bool(plain(first, second))

    return on_labels


@dataclass(frozen=True, slots=True)
class Comparison:
    """An operator as it is written, on plain numbers and on labels."""

    sign: str
    plain: Callable[[Any, Any], Any]
    labels: Labels


_EQUAL = Comparison("=", operator.eq, _lifted(operator.eq))
COMPARISONS: dict[type[exp.Expr], Comparison] = {
    exp.EQ: _EQUAL,
    exp.NEQ: Comparison("<>", operator.ne, _lifted(operator.ne)),
    exp.LT: Comparison("<", operator.lt, _lifted(operator.lt)),
    exp.LTE: Comparison("<=", operator.le, _lifted(operator.le)),
    exp.GT: Comparison(">", operator.gt, _lifted(operator.gt)),
    exp.GTE: Comparison(">=", operator.ge, _lifted(operator.ge)),
}


def compare(
    reading: Reading, node: exp.Expr, how: Comparison, first: Value, second: Value
) -> Diagram:
    """Where a comparison is true, false and unknown."""
    if isinstance(first, Missing) or isinstance(second, Missing):
        raise reading.error(node, "a comparison with NULL is never true; write IS NULL")
    if isinstance(first, Moment) or isinstance(second, Moment):
        first, second = (one.number for one in compared(reading, node, (first, second)))
    if isinstance(first, Number) and isinstance(second, Number):
        return _numbers(reading, node, how, first, second)
    if isinstance(first, Text) and isinstance(second, Text):
        if how.sign in ("=", "<>"):
            for one, other in ((first, second), (second, first)):
                if written(one) is not None:
                    _check_declared(reading, node, other, [one])
        return reading.diagrams.joined(how.labels, first.labels, second.labels)
    if isinstance(first, Truth) and isinstance(second, Truth):
        if how.sign not in ("=", "<>"):
            raise reading.error(node, f"{how.sign} compares numbers or texts; write = TRUE instead")
        return reading.diagrams.joined(how.labels, first.labels, second.labels)
    raise reading.error(node, _mixed(how, first, second))


def contained(reading: Reading, node: exp.Expr, value: Value, choices: Sequence[Value]) -> Diagram:
    """Where a value is one of a list, as IN says."""
    if any(isinstance(choice, Missing) for choice in choices):
        raise reading.error(node, "NULL in a list matches nothing; write OR … IS NULL instead")
    if isinstance(value, Moment):
        value, *choices = (one.number for one in compared(reading, node, (value, *choices)))
    numbers = [c for c in choices if isinstance(c, Number) and written(c) is not None]
    if isinstance(value, Number) and value.value is not None and not value.midpoints:
        names = tuple(value.value.attributes)
        if len(names) == 1 and len(numbers) == len(choices):
            return _among(reading, names[0], value, numbers)
    texts = [c for c in choices if isinstance(c, Text) and written(c) is not None]
    if isinstance(value, Text) and len(texts) == len(choices):
        return _among_texts(reading, node, value, texts)
    parts = [compare(reading, node, _EQUAL, value, choice) for choice in choices]
    return folded(reading.diagrams, either, parts)


def _among_texts(reading: Reading, node: exp.Expr, value: Text, choices: Sequence[Text]) -> Diagram:
    """Where a text is one of some: one look at each, however many there are."""
    diagrams = reading.diagrams
    _check_declared(reading, node, value, choices)
    wanted = frozenset(map(written, choices))
    return diagrams.mapped(_in_labels, value.labels, wanted)


def _in_labels(text: str | None, wanted: frozenset[object]) -> bool | None:
    return None if text is None else text in wanted


def like(reading: Reading, node: exp.Expr, value: Value, pattern: Value) -> Diagram:
    """Where a text fits a pattern with % and _."""
    wanted = written(pattern)
    if not isinstance(value, Text) or not isinstance(wanted, str):
        raise reading.error(
            node, "LIKE compares a column of texts with a pattern such as 'Married%'"
        )
    texts = [t for t in reading.diagrams.labels(value.labels) if t is not None]
    reading.effort.spend(effort_of(texts, wanted))
    if not any(fits(t, wanted) for t in texts):
        raise reading.error(
            node, f"no declared value is LIKE {echo(wanted)!r}; there is {listing(texts)}"
        )
    return reading.diagrams.mapped(_like_labels, value.labels, wanted)


def effort_of(texts: Sequence[str], pattern: str) -> int:
    """How much work it is to compare texts with a pattern."""
    longest = max(len(piece) for piece in pattern.split("%"))
    return sum(len(text) for text in texts) // 4 * (1 + longest // 8) + len(pattern)


def _like_labels(text: str | None, pattern: str) -> bool | None:
    return None if text is None else fits(text, pattern)


def fits(text: str, pattern: str) -> bool:
    """Greedy matching with one place to come back to: never slower than text × pattern."""
    at = place = 0
    back: tuple[int, int] | None = None
    while at < len(text):
        if place < len(pattern) and pattern[place] == "%":
            back = (at, place)
            place += 1
        elif place < len(pattern) and pattern[place] in ("_", text[at]):
            at, place = at + 1, place + 1
        elif back is not None:
            back = (back[0] + 1, back[1])
            at, place = back[0], back[1] + 1
        else:
            return False
    return all(letter == "%" for letter in pattern[place:])


def _numbers(
    reading: Reading, node: exp.Expr, how: Comparison, first: Number, second: Number
) -> Diagram:
    diagrams, domain = reading.diagrams, reading.domain
    if first.steps is not None and second.steps is not None:
        return diagrams.joined(how.labels, first.steps, second.steps)
    known = diagrams.joined(if_true, first.known, second.known)
    straight = _on_a_line(reading, how, first, second)
    if straight is not None:
        return diagrams.joined(if_true, known, straight)
    difference = first.polynomial(diagrams) + second.polynomial(diagrams).scaled(Fraction(-1))
    names = domain.in_order(difference.attributes)
    if first.midpoints | second.midpoints:
        diagram = _binned(reading, node, how, first, second)
    elif len(names) == 1 and domain[names[0]].is_wide:
        _, pieces = difference.pieces(domain, names[0])
        signs = list(pieces.signs())
        reading.effort.spend(20 * len(signs))
        targets = [diagrams.leaf(bool(how.plain(sign, 0))) for sign, _ in signs]
        diagram = diagrams.on_stretches(names[0], [stop for _, stop in signs], targets)
    elif math.prod(domain.sizes(names)) <= DENSE_CELLS or len(names) == 1:
        _, table = difference.table(domain, names)
        reading.effort.spend(table.size // (20 if len(names) > 1 else 100) + 10)
        chosen = np.asarray(how.plain(table, 0), np.int8)
        diagram = diagrams.from_table(names, (diagrams.false, diagrams.true), chosen)
    else:
        raise reading.error(
            node,
            f"a comparison across {' and '.join(names)} has {math.prod(domain.sizes(names)):,} "
            f"combinations and at most {DENSE_CELLS:,} are worked out; compare each column with "
            "numbers",
        )
    return diagrams.joined(if_true, known, diagram)


def _on_a_line(reading: Reading, how: Comparison, first: Number, second: Number) -> Diagram | None:
    """The same where slope · column + intercept is compared with 0; None for anything else.

    The numbers of a column are evenly spaced: one place tells those below from those above.
    """
    if first.line is None or second.line is None or first.midpoints | second.midpoints:
        return None
    other = second.line
    line = first.line.plus(Line(other.attribute, -other.slope, -other.intercept))
    along = None if line is None else line.along(reading.domain)
    if line is None or line.attribute is None or along is None or not along[1]:
        return None
    attribute = reading.domain[line.attribute]
    crossing = -along[0] / along[1]
    side = 1 if along[1] > 0 else -1
    ends = [0, math.ceil(crossing), math.floor(crossing) + 1, attribute.size]
    stops, targets = [], []
    for sign, (start, stop) in zip((-side, 0, side), pairwise(ends), strict=True):
        if max(start, 0) < min(stop, attribute.size):
            stops.append(min(stop, attribute.size))
            targets.append(reading.diagrams.leaf(bool(how.plain(sign, 0))))
    return reading.diagrams.on_stretches(line.attribute, stops, targets)


def _binned(
    reading: Reading, node: exp.Expr, how: Comparison, first: Number, second: Number
) -> Diagram:
    """A comparison in which a binned column takes part: slope · column + intercept against 0."""
    line = None
    if first.line is not None and second.line is not None:
        line = first.line.plus(second.line.times(Fraction(-1)))
    names = " and ".join(sorted(first.midpoints | second.midpoints))
    if line is None:
        raise reading.error(
            node,
            f"{names} is known by its bins only, so it can be compared with numbers but not with "
            f"other columns or in products; write a condition on {names} alone",
        )
    diagrams = reading.diagrams
    if line.attribute is None or line.slope == 0:
        return diagrams.leaf(bool(how.plain(line.intercept, 0)))
    codes = line_codes(reading.domain, line, how.sign)
    if codes is None:
        raise reading.error(node, cut_message(reading.domain, line, how.sign))
    return diagrams.where(line.attribute, codes)


def _among(reading: Reading, name: str, value: Number, choices: Sequence[Number]) -> Diagram:
    polynomial = value.value or constant(Fraction(0))
    labels = [label for c in choices if isinstance(label := written(c), Fraction)]
    if reading.domain[name].is_wide:
        unit, pieces = polynomial.pieces(reading.domain, name)
        wanted = {int(label / unit) for label in labels if (label / unit).denominator == 1}
        is_chosen = _at_numbers(reading, name, pieces, wanted)
        return reading.diagrams.joined(if_true, value.known, is_chosen)
    unit, whole = polynomial.vector(reading.domain, name)
    wanted = {int(label / unit) for label in labels if (label / unit).denominator == 1}
    reading.effort.spend(len(whole) // 10 + 2 * len(choices))
    fitting = [w for w in wanted if abs(w) < 2**63]
    chosen = (
        np.array([v in wanted for v in whole])
        if whole.dtype == object
        else np.isin(whole, np.array(fitting, np.int64))
    )
    is_chosen = reading.diagrams.where(name, chosen)
    return reading.diagrams.joined(if_true, value.known, is_chosen)


def _at_numbers(reading: Reading, name: str, pieces: Pieces, wanted: set[int]) -> Diagram:
    """Where a function of a wide column is one of some numbers."""
    reading.effort.spend(20 * len(wanted) * len(pieces.parts))
    places: list[tuple[int, int]] = []
    for number in wanted:
        start = 0
        for sign, stop in (pieces - Pieces.constant(pieces.size, number)).signs():
            if not sign:
                places.append((start, stop))
            start = stop
    stops: list[int] = []
    targets: list[Diagram] = []
    for start, stop in [*sorted(places), (pieces.size, pieces.size)]:
        before = stops[-1] if stops else 0
        for end, inside in ((start, False), (stop, True)):
            if end > before:
                stops.append(end)
                targets.append(reading.diagrams.leaf(inside))
                before = end
    return reading.diagrams.on_stretches(name, stops, targets)


def _check_declared(
    reading: Reading, node: exp.Expr, value: Text, literals: Sequence[Text]
) -> None:
    """Raise when a text is compared for equality that no cell has: it is nearly always a slip."""
    if is_literal(value):
        return
    declared = dict.fromkeys(t for t in reading.diagrams.labels(value.labels) if t is not None)
    for wanted in map(str, map(written, literals)):
        if wanted not in declared:
            column = f" of {value.attribute}" if value.attribute else ""
            raise reading.error(
                node,
                f"{echo(wanted)!r} is not a declared value{column}; "
                + suggestion(wanted, declared),
            )


def _mixed(how: Comparison, first: Value, second: Value) -> str:
    kinds = {Number: "a number", Text: "a text", Truth: "a truth value"}
    left, right = (kinds.get(type(v), "NULL") for v in (first, second))
    advice = {
        ("a number", "a text"): "write numbers without quotation marks",
        ("a text", "a number"): "write texts in single quotation marks",
    }.get((left, right), "compare values of one kind; truth values with = TRUE or = FALSE")
    return f"{how.sign} compares {left} with {right}; {advice}"
