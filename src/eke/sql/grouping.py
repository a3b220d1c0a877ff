"""Grouping: the keys of GROUP BY, exactly the declared ones, whatever the data.

A key is a column, with its declared values, or an expression with few different values (CASE, a
condition, FLOOR(age / 10)), which parts the cells of the domain into labelled groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

from eke.query import Query, Term
from eke.query.pieces import TooLarge
from eke.query.runs import WIDE, Runs
from eke.question.calendar import label_text
from eke.question.groupings import Following, Groupings
from eke.question.groups import GroupKey, grouped
from eke.sql.diagram import Branch, Diagram, Leaf
from eke.sql.logic import if_true, same_as
from eke.sql.polynomial import MOST_TERMS
from eke.sql.stepwise import labels_of
from eke.sql.value import Missing, Moment, Number, Reading, Value, is_constant_key, weighted_boxes

MOST_GROUPS = 131_072
MOST_LABELS = 1_024
_MOST_TABLED = 4_096  # combinations of columns in one expression
_TOO_MANY_VALUES = (
    f"the expression has more than {MOST_LABELS:,} different values; use wider groups"
)
_STEPS_A_GROUPING = 100
_MOST_LOOKED_AT = 400  # groups times the boxes of a condition


def group_key(reading: Reading, node: exp.Expr, name: str, value: Value) -> GroupKey:
    """The key that a value of GROUP BY means."""
    attribute = plain_attribute(value)
    if attribute is not None:
        declared = reading.domain[attribute]
        if declared.size > MOST_GROUPS:
            raise reading.error(
                node,
                f"{attribute!r} has {declared.size:,} values and at most {MOST_GROUPS:,} groups "
                "are made; group by CASE or FLOOR(… / …)",
            )
        return GroupKey(name, attribute, declared.labels)
    diagram = labelled(reading, node, value)
    labels = _in_order(reading, value, diagram)
    if len(labels) > MOST_LABELS:
        raise reading.error(
            node,
            f"the expression has {len(labels):,} different values and at most {MOST_LABELS:,} "
            "groups are made of one; use wider groups",
        )
    told = tuple(None if v is None else _shown(value, v) for v in labels)
    renamed = _renamed_column(reading, diagram, labels)
    if renamed is not None:
        return GroupKey(name, renamed, told)
    try:
        parts = _parts(reading, diagram, labels)
    except TooLarge as problem:
        raise reading.error(node, str(problem)) from None
    return GroupKey(name, None, told, parts)


def possible_rows(reading: Reading, kept: Diagram, groups: Groupings) -> tuple[int, ...] | None:
    """The rows that a condition leaves, by their numbers; None for all of them."""
    each = []
    spans = groups.spans()
    for grouping, (start, stop) in enumerate(spans):
        keys = groups.keys_of(grouping)
        following = groups.each[grouping].following
        each.append(_possible(reading, kept, keys, following) if keys else None)
        if len(spans) > 1:
            reading.effort.spend((stop - start) // 10 + _STEPS_A_GROUPING)
    if all(one is None for one in each):
        return None
    return tuple(
        row
        for (start, stop), rows in zip(spans, each, strict=True)
        for row in (range(start, stop) if rows is None else [start + one for one in rows])
    )


def _possible(
    reading: Reading, kept: Diagram, keys: Sequence[GroupKey], following: Sequence[Following]
) -> tuple[int, ...] | None:
    """The same of one grouping."""
    shape = [len(key.labels) for key in keys]
    left = [_by_columns(reading, keys), _by_condition(reading, kept, keys)]
    masks = [mask for mask in left if mask is not None]
    masks += [one.reached(shape) for one in following]
    possible = np.logical_and.reduce(masks) if masks else None
    if possible is None or possible.all():
        return None
    return tuple(int(place) for place in np.flatnonzero(possible))


def _by_columns(reading: Reading, keys: Sequence[GroupKey]) -> NDArray[np.bool_] | None:
    """The groups that there are where keys are of one column, as year and month of a day."""
    of_one: dict[str, dict[int, NDArray[np.int64]]] = {}
    for axis, key in enumerate(keys if len(keys) > 1 else ()):
        followed = key.places(reading.domain)
        if followed is not None and len(followed[0]) == 1:
            reading.effort.spend(followed[1].size // 10 + 10)
            of_one.setdefault(followed[0][0], {})[axis] = followed[1]
    masks = [_reached(keys, places) for places in of_one.values() if len(places) > 1]
    return np.logical_and.reduce(masks) if masks else None


def _reached(keys: Sequence[GroupKey], places: dict[int, NDArray[np.int64]]) -> NDArray[np.bool_]:
    """The groups with labels that are at these places together, by the axes of their keys."""
    axes = sorted(places)
    each = np.stack([places[axis] for axis in axes])
    here = np.zeros([len(keys[axis].labels) for axis in axes], bool)
    here[tuple(each[:, (each >= 0).all(axis=0)])] = True
    whole = np.zeros([len(key.labels) for key in keys], bool)
    whole |= np.expand_dims(here, [axis for axis in range(len(keys)) if axis not in places])
    return whole


def _by_condition(
    reading: Reading, kept: Diagram, keys: Sequence[GroupKey]
) -> NDArray[np.bool_] | None:
    """The groups that a condition leaves; None for all.

    Groups that are not simply columns are looked at one by one, where that takes no time; else
    all of them are there, as if some record could be in each.
    """
    diagrams = reading.diagrams
    cells = diagrams.mapped(same_as, kept, True)
    if cells is diagrams.true or diagrams.paths(cells, True) > MOST_TERMS:
        return None
    shape = tuple(len(key.labels) for key in keys)
    possible = np.zeros(shape, bool)
    if all(key.attribute is not None for key in keys):
        for box in diagrams.boxes(cells, True):
            here = [
                np.asarray(box.get(key.attribute or "", [1] * n))
                for key, n in zip(keys, shape, strict=True)
            ]
            possible |= reduce(np.multiply.outer, [codes > 0 for codes in here])
    else:
        terms = [
            Term(Fraction(w), tuple(box.items())) for w, box in weighted_boxes(diagrams, cells)
        ]
        if possible.size * len(terms) > _MOST_LOOKED_AT:
            return None
        block = grouped(Query.of(reading.domain, terms), keys)
        possible.reshape(-1)[:] = [not one.is_zero for one in block.queries()]
    return possible


def plain_attribute(value: Value) -> str | None:
    """The column that a value is, if it is one and nothing else."""
    return None if isinstance(value, Missing) else value.attribute


def labelled(reading: Reading, node: exp.Expr, value: Value) -> Diagram:
    """The value of each cell as a label; equal keys have the same diagram."""
    if isinstance(value, Missing) or is_constant_key(value):
        raise reading.error(node, "a constant makes only one group; leave it out")
    if isinstance(value, Moment):
        return labelled(reading, node, value.number)
    if not isinstance(value, Number):
        return value.labels
    if value.steps is not None:
        return value.steps
    polynomial = value.polynomial(reading.diagrams)
    names = reading.domain.in_order(polynomial.attributes)
    few = math.prod(reading.domain.sizes(names)) <= _MOST_TABLED
    if not names or value.midpoints or (len(names) > 1 and not few):
        raise reading.error(
            node,
            "groups are made by columns, by CASE, and by expressions of one column, or of few with "
            "few values, that are not binned, such as FLOOR(age / 10)",
        )
    if len(names) == 1 and reading.domain[names[0]].is_wide:
        return _labelled_stretches(reading, node, value, names[0])
    unit, table = polynomial.table(reading.domain, names)
    whole = table.reshape(-1)
    is_machine_sized = whole.dtype != object
    reading.effort.spend(len(whole) // (50 if is_machine_sized else 5) + 10)
    # Sorted, not hashed: NumPy's hashes of squares collide.
    distinct = np.sort(whole) if is_machine_sized else np.array(sorted(set(whole)), object)
    numbers = distinct[np.append(True, distinct[1:] != distinct[:-1])]
    if len(numbers) > MOST_LABELS:
        raise reading.error(node, _TOO_MANY_VALUES)
    leaves = [reading.diagrams.leaf(unit * number) for number in numbers.tolist()]
    codes = np.searchsorted(numbers, whole).reshape(table.shape)
    diagram = reading.diagrams.from_table(names, leaves, codes)
    return reading.diagrams.joined(if_true, value.known, diagram)


def _labelled_stretches(reading: Reading, node: exp.Expr, value: Number, name: str) -> Diagram:
    """The same for numbers of a wide column, which are equal on stretches of it."""
    unit, pieces = value.polynomial(reading.diagrams).pieces(reading.domain, name)
    stretches = labels_of(pieces, MOST_LABELS)
    if stretches is None:
        raise reading.error(node, _TOO_MANY_VALUES)
    reading.effort.spend(10 * len(stretches))
    targets = [reading.diagrams.leaf(unit * number) for number, _ in stretches]
    diagram = reading.diagrams.on_stretches(name, [stop for _, stop in stretches], targets)
    return reading.diagrams.joined(if_true, value.known, diagram)


def _in_order(reading: Reading, value: Value, diagram: Diagram) -> list[Any]:
    """The labels in declared order: as CASE lists them, else from small to large; NULL last."""
    reached = reading.diagrams.labels(diagram)
    written = None if isinstance(value, Missing) else value.order
    known = list(written) if written else sorted(v for v in reached if v is not None)
    return [*known, None] if None in reached else known


def _renamed_column(reading: Reading, diagram: Diagram, labels: list[Any]) -> str | None:
    """The column whose values a key has under other names, such as days of one year by number."""
    if not isinstance(diagram, Branch) or len(diagram.stops) != diagram.stops[-1]:
        return None
    leaves = [target.label for target in diagram.targets if isinstance(target, Leaf)]
    if len(leaves) < len(diagram.targets) or leaves != labels:
        return None
    return reading.domain.names[diagram.level]


def _parts(reading: Reading, diagram: Diagram, labels: list[Any]) -> tuple[Query, ...]:
    if isinstance(diagram, Branch) and all(isinstance(t, Leaf) for t in diagram.targets):
        return _parts_of_column(reading, diagram, labels)
    alone = reading.diagrams.single_boxes(diagram, _MOST_TABLED)
    parts = []
    for label in labels:
        box = alone.get(label)
        boxes = weighted_boxes(reading.diagrams, diagram, label) if box is None else [(1, box)]
        reading.effort.spend(250 + 100 * len(boxes))
        terms = [Term(Fraction(weight), tuple(box.items())) for weight, box in boxes]
        parts.append(Query.of(reading.domain, terms))
    return tuple(parts)


def _parts_of_column(reading: Reading, diagram: Branch, labels: list[Any]) -> tuple[Query, ...]:
    """The same for a function of one column, such as a weekday, which has a box a label."""
    leaves = [reading.diagrams.leaf(label) for label in labels]
    place: dict[Diagram, int] = {leaf: at for at, leaf in enumerate(leaves)}
    name = reading.domain.names[diagram.level]
    if diagram.stops[-1] > WIDE:
        return _parts_in_runs(reading, name, diagram, leaves)
    runs = np.diff(np.array((0, *diagram.stops)))
    codes = np.repeat([place.get(target, -1) for target in diagram.targets], runs)
    parts = []
    for at in range(len(labels)):
        reading.effort.spend(150 + len(codes) // 30)
        chosen = (codes == at).astype(np.int64)
        terms = [Term(Fraction(1), ((name, chosen),))] if chosen.any() else []
        parts.append(Query.of(reading.domain, terms))
    return tuple(parts)


def _parts_in_runs(
    reading: Reading, name: str, diagram: Branch, leaves: list[Leaf]
) -> tuple[Query, ...]:
    """The same for a column of very many values, of which a label has a few stretches."""
    stretches: dict[Diagram, list[tuple[int, int]]] = {leaf: [] for leaf in leaves}
    for start, stop, target in zip(
        (0, *diagram.stops), diagram.stops, diagram.targets, strict=False
    ):
        if target in stretches:
            stretches[target].append((start, stop))
    parts = []
    for mine in stretches.values():
        reading.effort.spend(150 + 20 * len(mine))
        ends = [end for start, stop in mine for end in ((0, start), (1, stop))]
        chosen = Runs.of_stretches([*ends, (0, diagram.stops[-1])])
        terms = [Term(Fraction(1), ((name, chosen),))] if mine else []
        parts.append(Query.of(reading.domain, terms))
    return tuple(parts)


def _shown(value: Value, label: Any) -> Any:
    if isinstance(value, Moment):
        return label_text(label, value.kind)
    if isinstance(label, Fraction):
        return int(label) if label.denominator == 1 else float(label)
    return label
