"""Values: what a scalar expression is in every cell of the domain.

A column, a literal, arithmetic and CASE all become one of `Number`, `Text`, `Truth`,
`Moment` or `Missing`.
Each knows where it is NULL, so that sums skip and comparisons propagate NULLs as SQL does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from sqlglot import exp

from eke.domain import Attribute, Domain
from eke.domain.placing import Floored
from eke.domain.wide import is_wide
from eke.errors import SqlError
from eke.query.blur import NO_BLUR, Blur
from eke.query.numbers import whole_pieces, whole_vector
from eke.query.pieces import Pieces, TooLarge
from eke.question.groups import MomentKind
from eke.sql.diagram import Box, Diagram, Diagrams, Label, Leaf
from eke.sql.effort import Effort
from eke.sql.logic import same_as
from eke.sql.place import SqlText
from eke.sql.polynomial import MOST_TERMS, Polynomial, column, constant, summed

Order: TypeAlias = tuple[Label, ...] | None
"""The labels (without NULL) as CASE lists them, when all its results are literals."""


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """One statement being read: its text, the domain, and the diagrams made so far."""

    text: SqlText
    domain: Domain
    diagrams: Diagrams
    effort: Effort
    unit: str | None = None
    """The id whose values are protected, if not the single record is: only counted, never read."""
    columns: set[str] = field(default_factory=set)
    """The columns that were read so far, even where the result does not depend on them."""

    def error(self, node: exp.Expr, message: str) -> SqlError:
        return self.text.error(node, message)


@dataclass(frozen=True, slots=True)
class Line:
    """slope · column + intercept; without a column, the intercept alone."""

    attribute: str | None
    slope: Fraction
    intercept: Fraction

    def plus(self, other: Line) -> Line | None:
        names = {self.attribute, other.attribute} - {None}
        if len(names) > 1:
            return None
        name = self.attribute or other.attribute
        return Line(name, self.slope + other.slope, self.intercept + other.intercept)

    def along(self, domain: Domain) -> tuple[Fraction, Fraction] | None:
        """(value at the first code, from each code to the next); None unless evenly spaced."""
        spaced = None if self.attribute is None else domain[self.attribute].progression
        if spaced is None:
            return None
        return self.slope * spaced[0] + self.intercept, self.slope * spaced[1]

    def times(self, factor: Fraction) -> Line:
        return Line(self.attribute, factor * self.slope, factor * self.intercept)


@dataclass(frozen=True, slots=True, eq=False)
class Number:
    """A number in every cell, or NULL where `known` is not True.

    `steps` is set when there are few different numbers (literals, CASE of literals, whole-number
    categories); then `value` may be left to be worked out when it is needed.
    """

    value: Polynomial | None
    known: Diagram
    steps: Diagram | None = None
    line: Line | None = None
    midpoints: frozenset[str] = frozenset()  # binned columns that enter by their midpoints
    blur: Blur = field(
        default_factory=lambda: NO_BLUR
    )  # of the columns that enter by their numbers
    attribute: str | None = None  # the column, when the value is one and nothing else
    category: str | None = None  # the column, when its numbers are names and cannot be summed
    order: Order = None
    whole: bool = False  # of a type of whole numbers, which have no point when they become texts

    def polynomial(self, diagrams: Diagrams) -> Polynomial:
        """The number as a sum of products; anything where it is NULL."""
        if self.value is not None:
            return self.value
        if self.steps is None:
            raise TypeError("a number has a value or steps")
        return summed(
            [
                constant(label).within(weighted_boxes(diagrams, self.steps, label))
                for label in diagrams.labels(self.steps)
                if label
            ]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A text in every cell; the label None is NULL."""

    labels: Diagram
    attribute: str | None = None
    order: Order = None


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """A truth value in every cell; the label None is NULL."""

    labels: Diagram
    attribute: str | None = None
    order: Order = None


@dataclass(frozen=True, slots=True)
class Grid:
    """The steps that moments of a column are known by, by the numbers at which they begin."""

    step: int
    first: int
    last: int


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """A date, a timestamp or a time of day in every cell, or NULL where its number is.

    The number counts days since 1970, seconds since 1970, or seconds since midnight. `grids` are
    set where it is only the beginning of the step that the table's own moment is in.
    """

    number: Number
    kind: MomentKind
    grids: frozenset[Grid] = frozenset()

    @property
    def attribute(self) -> str | None:
        return self.number.attribute

    @property
    def order(self) -> Order:
        return self.number.order


@dataclass(frozen=True, slots=True, eq=False)
class Missing:
    """The literal NULL."""


Value: TypeAlias = Number | Text | Truth | Moment | Missing


def literal_number(reading: Reading, number: Fraction, *, whole: bool = False) -> Number:
    """The same number in every cell."""
    diagrams = reading.diagrams
    line = Line(None, Fraction(0), number)
    return Number(constant(number), diagrams.true, diagrams.leaf(number), line, whole=whole)


def as_number(reading: Reading, node: exp.Expr, value: Value) -> Number:
    """The value, if it is a number one can calculate with."""
    if isinstance(value, Number):
        if value.category is not None:
            raise reading.error(
                node,
                f"the numbers of {value.category!r} are names of categories; compare them, or "
                "declare the column as Integer to calculate with it",
            )
        return value
    if isinstance(value, Truth):
        raise reading.error(
            node, "a truth value is not a number; write CASE WHEN … THEN 1 ELSE 0 END"
        )
    if isinstance(value, Text):
        named = f"the column {value.attribute!r} holds texts" if value.attribute else "this is text"
        raise reading.error(node, f"{named}; calculate with numbers only")
    if isinstance(value, Moment):
        raise reading.error(node, _NO_SUMS[value.kind])
    raise reading.error(node, "nothing can be calculated with NULL; leave it out")


def column_value(reading: Reading, name: str) -> Value:
    """What a column holds in each cell: declared values, midpoints of bins, NULL in the bucket."""
    attribute, diagrams = reading.domain[name], reading.diagrams
    reading.columns.add(name)
    size = attribute.size
    reading.effort.spend(5 if attribute.is_wide else size // 50 + 5)
    stretches = {size: diagrams.false, size - attribute.has_bucket: diagrams.true}
    known = diagrams.on_stretches(
        name, sorted(stretches), [stretches[s] for s in sorted(stretches)]
    )
    if attribute.sql_kind in ("number", "midpoint"):
        line = Line(name, Fraction(1), Fraction(0))
        middles = frozenset({name}) if attribute.sql_kind == "midpoint" else frozenset()
        whole_numbers = whole_pieces if attribute.is_wide else whole_vector
        numbers = column(name, *whole_numbers(attribute))
        blur = {name: attribute.widest_half()}
        whole = isinstance(attribute.placing, Floored)
        return Number(
            numbers, known, line=line, midpoints=middles, blur=blur, attribute=name, whole=whole
        )
    if attribute.sql_kind in ("day", "moment", "clock"):
        return _moment(name, attribute, known)
    is_category = attribute.sql_kind == "category"
    labels = [Fraction(v) if is_category else v for v in attribute.declared]  # type: ignore[arg-type]
    leaves = [diagrams.leaf(label) for label in labels]
    if attribute.has_bucket:
        leaves.append(diagrams.unknown)
    diagram = diagrams.over(name, leaves, np.arange(size))
    if is_category:
        return Number(None, known, diagram, attribute=name, category=name, whole=True)
    if attribute.sql_kind == "truth":
        return Truth(diagram, name)
    return Text(diagram, name)


def _moment(name: str, attribute: Attribute, known: Diagram) -> Moment:
    numbers, step = attribute.step_numbers()
    if attribute.sql_kind == "day":
        return Moment(Number(column(name, numbers), known, attribute=name, whole=True), "day")
    seconds = [step * number for number in numbers]
    grid = Grid(step, seconds[0], seconds[attribute.size - attribute.has_bucket - 1])
    number = Number(column(name, seconds), known, attribute=name, whole=True)
    return Moment(
        number, "moment" if attribute.sql_kind == "moment" else "clock", frozenset([grid])
    )


def known_part(reading: Reading, value: Value) -> Diagram:
    """True where a value is not NULL, False elsewhere."""
    diagrams = reading.diagrams
    if isinstance(value, Moment):
        return value.number.known
    if isinstance(value, Number):
        return value.known
    if isinstance(value, Missing):
        return diagrams.false
    missing = diagrams.mapped(same_as, value.labels, None)
    return diagrams.mapped(same_as, missing, False)


def weighted_boxes(
    diagrams: Diagrams, diagram: Diagram, label: object = True
) -> list[tuple[int, Box]]:
    """The cells with a label as a sum of boxes: theirs, or everything minus the others'.

    Whichever is shorter, so it depends on the set of cells only, never on how it was written.
    """
    cells = diagrams.mapped(same_as, diagram, label)
    inside, outside = diagrams.paths(cells, True), diagrams.paths(cells, False)
    if min(inside, outside + 1) > MOST_TERMS:
        raise TooLarge(
            f"the condition falls into more than {MOST_TERMS} boxes; use fewer columns in it or "
            "ask for its parts one by one"
        )
    if inside <= outside + 1:
        return [(1, box) for box in diagrams.boxes(cells, True)]
    return [(1, {}), *((-1, box) for box in diagrams.boxes(cells, False))]


def reached_codes(diagrams: Diagrams, cells: Diagram, name: str, codes: int) -> list[int]:
    """The first so many codes of a column that occur in cells with the label True.

    Of a wide column the first and the last of them alone.
    """
    many = diagrams.paths(cells, True) > MOST_TERMS
    if is_wide(codes):
        boxes = [] if many else list(diagrams.boxes(cells, True))
        held = [box[name] for box in boxes if name in box]
        if many or len(held) < len(boxes):
            return [0, codes - 1]
        ends = [
            code
            for pieces in held
            if isinstance(pieces, Pieces)
            for start, stop, inside in pieces.stretches
            if any(inside)
            for code in (start, stop - 1)
        ]
        return [min(ends), max(ends)] if ends else []
    if many:
        return list(range(codes))
    is_reached = np.zeros(codes, bool)
    for box in diagrams.boxes(cells, True):
        is_reached |= np.asarray(box[name][:codes], bool) if name in box else True
    return np.flatnonzero(is_reached).tolist()


def is_constant_key(value: Value) -> bool:
    """True for a value that makes one group only; unreachable labels of CASE are groups, too."""
    order = None if isinstance(value, Missing) else value.order
    return is_literal(value) and not (order is not None and len(order) > 1)


def written(value: Value) -> object:
    """What a literal says, a text or a number; None where it is none, or NULL in every cell."""
    if isinstance(value, Moment):
        return written(value.number)
    labels = value.steps if isinstance(value, Number) else getattr(value, "labels", None)
    return labels.label if isinstance(labels, Leaf) else None


def is_literal(value: Value) -> bool:
    """True for a value that is the same in every cell."""
    if isinstance(value, Moment):
        return is_literal(value.number)
    if isinstance(value, Number):
        return isinstance(value.steps, Leaf)
    return isinstance(value, Missing) or isinstance(value.labels, Leaf)


_NO_SUMS = {
    "day": "a date is no number to be summed or averaged; take MEDIAN(d), a part, as in "
    "AVG(EXTRACT(month FROM d)), or a number of days, as in AVG(d - DATE '2013-01-01')",
    "moment": "a timestamp is no number to be summed or averaged; take MEDIAN(t), a part, as in "
    "AVG(EXTRACT(hour FROM t)), or a number of days, as in AVG(CAST(t AS DATE) - DATE "
    "'2013-01-01')",
    "clock": "a time of day is no number to be summed or averaged; take MEDIAN(t), or a part, as "
    "in AVG(EXTRACT(hour FROM t))",
}
