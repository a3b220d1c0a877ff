"""Choice: CASE WHEN … THEN … ELSE … END as a value over cells."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from eke.query.blur import NO_BLUR, widest
from eke.question.logic import both, either
from eke.sql.diagram import Diagram, Label
from eke.sql.logic import otherwise, same_as, taken
from eke.sql.moments import joined_grids, of_one_kind
from eke.sql.polynomial import constant, summed
from eke.sql.value import (
    Missing,
    Moment,
    Number,
    Order,
    Reading,
    Text,
    Truth,
    Value,
    is_literal,
    weighted_boxes,
)

Branches = Sequence[tuple[Diagram, Value]]


def choose(reading: Reading, node: exp.Expr, branches: Branches, default: Value) -> Value:
    """The result of the first branch whose condition is true, else the default."""
    results = [result for _, result in branches] + [default]
    kinds = {type(result) for result in results} - {Missing}
    if not kinds:
        raise reading.error(node, "all results of CASE are NULL; give it numbers or texts")
    if len(kinds) > 1:
        raise reading.error(
            node,
            "the results of CASE must be of one kind: all numbers, all texts, all dates or "
            "all TRUE",
        )
    if kinds == {Moment}:
        return _moments(reading, node, branches, default)
    if kinds == {Number}:
        numbers = [_number(reading, result) for result in results]
        conditions = [condition for condition, _ in branches]
        return _numbers(reading, conditions, numbers, _order(reading, results))
    labels = [_labels(reading, result) for result in results]
    chosen = _labelled(reading, [c for c, _ in branches], labels)
    order = _order(reading, results)
    return Text(chosen, order=order) if kinds == {Text} else Truth(chosen, order=order)


def _moments(reading: Reading, node: exp.Expr, branches: Branches, default: Value) -> Value:
    given = [value for value in (*(v for _, v in branches), default) if isinstance(value, Moment)]
    moments = of_one_kind(reading, node, given)
    alike = dict(zip(map(id, given), moments, strict=True))
    numbers = {key: moment.number for key, moment in alike.items()}
    numbered = [(c, numbers.get(id(value), value)) for c, value in branches]
    chosen = choose(reading, node, numbered, numbers.get(id(default), default))
    if not isinstance(chosen, Number):
        return chosen
    return Moment(chosen, moments[0].kind, joined_grids(moments))


def _order(reading: Reading, results: Sequence[Value]) -> Order:
    """The labels of all results in the order in which they are written; None if some have none."""
    written: dict[Label, None] = {}
    for result in results:
        if isinstance(result, Missing):
            continue
        if result.order is not None:
            written.update(dict.fromkeys(result.order))
        elif is_literal(result):
            diagram = (
                result.labels if isinstance(result, (Text, Truth)) else _number_of(result).steps
            )
            written.update(dict.fromkeys(reading.diagrams.labels(diagram) if diagram else []))
        else:
            return None
    return tuple(written)


def _labelled(
    reading: Reading, conditions: Sequence[Diagram], results: Sequence[Diagram]
) -> Diagram:
    diagrams, labels = reading.diagrams, results[-1]
    for condition, result in reversed(list(zip(conditions, results, strict=False))):
        here = diagrams.joined(taken, condition, result)
        labels = diagrams.joined(otherwise, here, labels)
    return labels


def _numbers(
    reading: Reading, conditions: Sequence[Diagram], results: Sequence[Number], order: Order
) -> Number:
    diagrams = reading.diagrams
    known: Diagram
    steps = [result.steps for result in results if result.steps is not None]
    if len(steps) == len(results):
        chosen = _labelled(reading, conditions, steps)
        missing = diagrams.mapped(same_as, chosen, None)
        category = next((r.category for r in results if r.category), None)
        known = diagrams.mapped(same_as, missing, False)
        whole = all(result.whole for result in results)
        return Number(None, known, chosen, category=category, order=order, whole=whole)
    open_yet: Diagram = diagrams.true
    known = diagrams.false
    parts = []
    midpoints: frozenset[str] = frozenset()
    blur = NO_BLUR
    for condition, result in zip([*conditions, diagrams.true], results, strict=True):
        met = diagrams.mapped(same_as, condition, True)  # an unknown condition is not met
        here = diagrams.joined(both, open_yet, met)
        open_yet = diagrams.joined(both, open_yet, diagrams.mapped(same_as, met, False))
        known = diagrams.joined(either, known, diagrams.joined(both, here, result.known))
        part = result.polynomial(diagrams).within(weighted_boxes(diagrams, here))
        reading.effort.spend(60 * len(part.products) + 20)
        parts.append(part)
        midpoints |= result.midpoints
        blur = widest(blur, result.blur)
    whole = all(result.whole for result in results)
    return Number(summed(parts), known, midpoints=midpoints, blur=blur, whole=whole)


def _number(reading: Reading, value: Value) -> Number:
    if isinstance(value, Number):
        return value
    diagrams = reading.diagrams
    return Number(constant(Fraction(0)), diagrams.false, diagrams.unknown, whole=True)


def _number_of(value: Number | Moment) -> Number:
    return value.number if isinstance(value, Moment) else value


def _labels(reading: Reading, value: Value) -> Diagram:
    return value.labels if isinstance(value, (Text, Truth)) else reading.diagrams.unknown
