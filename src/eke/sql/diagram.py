"""Diagrams: functions from cells to labels, without ever listing the cells.

A diagram asks for one attribute after the other, in the domain's order, and ends in a leaf with a
label: True, False or None (unknown) for conditions, texts or numbers for CASE. Equal functions are
the same object, whatever expression they were made from, so two spellings of one condition meet
here. The paths to a leaf are disjoint boxes, which is the product form that queries need; a
disjunction of n columns has n of them, where inclusion–exclusion would have 2^n.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.domain.wide import is_wide
from eke.query.pieces import Pieces
from eke.sql.effort import Effort

Label: TypeAlias = str | bool | Fraction | None
Box: TypeAlias = dict[str, Any]  # attribute -> 0/1 over its codes: an array, of wide ones `Pieces`
_STEPS_A_RUN = 5
_ANY = object()


@dataclass(frozen=True, slots=True, eq=False)
class Leaf:
    """The label of all cells that end here."""

    label: Any


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A question for one attribute: codes below stops[0] go to targets[0], and so on."""

    level: int
    stops: tuple[int, ...]  # increasing; the last is the attribute's size
    targets: tuple[Diagram, ...]  # neighbours differ


Diagram: TypeAlias = Leaf | Branch
Operation: TypeAlias = Callable[[Any, Any], Any]


class Diagrams:
    """All diagrams of one statement; equal ones are the same object."""

    def __init__(self, domain: Domain, effort: Effort) -> None:
        self.domain = domain
        self.effort = effort
        self._level = {name: place for place, name in enumerate(domain.names)}
        self._leaves: dict[tuple[type, object], Leaf] = {}
        self._branches: dict[tuple[Any, ...], Branch] = {}
        self._joined: dict[tuple[Operation, Diagram, Diagram], Diagram] = {}
        self.true = self.leaf(True)
        self.false = self.leaf(False)
        self.unknown = self.leaf(None)

    # -- making --------------------------------------------------------------------------------

    def leaf(self, label: object) -> Leaf:
        # With its type: True and 1 are equal in Python, but not in SQL.
        return self._leaves.setdefault((type(label), label), Leaf(label))

    def over(self, name: str, targets: Sequence[Diagram], codes: NDArray[Any]) -> Diagram:
        """The diagram that sends code c of an attribute to targets[codes[c]]."""
        self.effort.spend(len(codes) // 100 + 1)
        changes = np.flatnonzero(codes[1:] != codes[:-1]) + 1
        stops = [*changes.tolist(), len(codes)]
        starts = [0, *changes.tolist()]
        chosen = [targets[int(codes[s])] for s in starts]
        return self._branch(self._level[name], stops, chosen, steps_a_run=1)

    def on_stretches(self, name: str, stops: Sequence[int], targets: Sequence[Diagram]) -> Diagram:
        """The diagram that sends the codes of each stretch of an attribute to its target."""
        return self._branch(self._level[name], stops, targets, steps_a_run=1)

    def where(self, name: str, chosen: NDArray[np.bool_]) -> Diagram:
        """True for the chosen codes of an attribute, False for the others."""
        return self.over(name, (self.false, self.true), chosen.astype(np.int8))

    def from_table(
        self, names: Sequence[str], targets: Sequence[Diagram], table: NDArray[Any]
    ) -> Diagram:
        """The diagram of a small table over attributes in the domain's order."""
        if not names:
            return targets[int(table)]
        if len(names) == 1:
            return self.over(names[0], targets, table)
        self.effort.spend(table.size // 20 + 1)
        slices = [self.from_table(names[1:], targets, part) for part in table]
        return self._branch(self._level[names[0]], range(1, len(slices) + 1), slices)

    def _branch(
        self,
        level: int,
        stops: Sequence[int],
        targets: Sequence[Diagram],
        steps_a_run: int = _STEPS_A_RUN,
    ) -> Diagram:
        kept_stops: list[int] = []
        kept_targets: list[Diagram] = []
        for stop, target in zip(stops, targets, strict=True):
            if kept_targets and kept_targets[-1] is target:
                kept_stops[-1] = stop
            else:
                kept_stops.append(stop)
                kept_targets.append(target)
        self.effort.spend(steps_a_run * len(stops))
        if len(kept_targets) == 1:
            return kept_targets[0]
        key = (level, *kept_stops, *kept_targets)
        return self._branches.setdefault(key, Branch(level, tuple(kept_stops), tuple(kept_targets)))

    # -- combining -----------------------------------------------------------------------------

    def joined(self, operation: Operation, first: Diagram, second: Diagram) -> Diagram:
        """The diagram whose label is operation(label of first, label of second) everywhere.

        Operations are module-level functions: their identity is the key of what is remembered.
        """
        if isinstance(first, Leaf) and isinstance(second, Leaf):
            return self.leaf(operation(first.label, second.label))
        key = (operation, first, second)
        if key not in self._joined:
            self._joined[key] = self._join(operation, first, second)
        return self._joined[key]

    def mapped(self, operation: Operation, first: Diagram, extra: object = None) -> Diagram:
        """The diagram whose label is operation(label, extra)."""
        return self.joined(operation, first, self.leaf(extra))

    def _join(self, operation: Operation, first: Diagram, second: Diagram) -> Diagram:
        if isinstance(first, Branch) and isinstance(second, Branch) and first.level == second.level:
            return self._zip(operation, first, second)
        if not isinstance(second, Branch) or (
            isinstance(first, Branch) and first.level < second.level
        ):
            first = cast("Branch", first)  # two leaves are joined without coming here
            if isinstance(second, Leaf) and all(isinstance(one, Leaf) for one in first.targets):
                return self._relabelled(operation, first, second.label)
            targets = [self.joined(operation, target, second) for target in first.targets]
            return self._branch(first.level, first.stops, targets)
        targets = [self.joined(operation, first, target) for target in second.targets]
        return self._branch(second.level, second.stops, targets)

    def _relabelled(self, operation: Operation, first: Branch, extra: object) -> Diagram:
        """A question for one attribute with other labels: a list of many values is often mapped."""
        self.effort.spend(len(first.targets))
        labels = [operation(cast("Leaf", leaf).label, extra) for leaf in first.targets]
        targets = [self.leaf(label) for label in labels]
        return self._branch(first.level, first.stops, targets, steps_a_run=0)

    def _zip(self, operation: Operation, first: Branch, second: Branch) -> Diagram:
        """Two questions for the same attribute, run by run."""
        stops: list[int] = []
        targets: list[Diagram] = []
        i = j = 0
        while i < len(first.stops):
            targets.append(self.joined(operation, first.targets[i], second.targets[j]))
            end, other = first.stops[i], second.stops[j]
            stops.append(min(end, other))
            i += end <= other
            j += other <= end
        return self._branch(first.level, stops, targets)

    # -- reading -------------------------------------------------------------------------------

    def labels(self, diagram: Diagram) -> list[Any]:
        """The labels that some cell has, in the order in which they are first met."""
        leaves: dict[Leaf, None] = {}
        seen = {diagram}
        waiting: list[Diagram] = [diagram]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Leaf):
                leaves[node] = None
                continue
            for target in reversed(node.targets):
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
        return [leaf.label for leaf in leaves]

    def paths(self, diagram: Diagram, label: object = _ANY) -> int:
        """How many disjoint boxes the cells with a label, or with any, fall into."""
        wanted = None if label is _ANY else self.leaf(label)
        counted: dict[Diagram, int] = {}

        def count(node: Diagram) -> int:
            if isinstance(node, Leaf):
                return int(wanted is None or node is wanted)
            if node not in counted:
                counted[node] = sum(count(target) for target in set(node.targets))
            return counted[node]

        return count(diagram)

    def boxes(self, diagram: Diagram, label: object) -> Iterator[Box]:
        """Disjoint boxes that together are the cells with a label, in a fixed order."""
        wanted = self.leaf(label)
        leads: dict[Diagram, bool] = {}

        def reaches(node: Diagram) -> bool:
            if isinstance(node, Leaf):
                return node is wanted
            if node not in leads:
                leads[node] = any(reaches(target) for target in node.targets)
            return leads[node]

        def walk(node: Diagram) -> Iterator[Box]:
            if isinstance(node, Leaf):
                yield {}
                return
            name = self.domain.names[node.level]
            for target in dict.fromkeys(node.targets):
                if reaches(target):
                    chosen = self._codes(node, target)
                    for box in walk(target):
                        yield {name: chosen, **box}

        return walk(diagram) if reaches(diagram) else iter(())

    def single_boxes(self, diagram: Diagram, most: int) -> dict[object, Box]:
        """The box of each label whose cells are one; none if there are more than so many paths."""
        boxes: dict[object, Box] = {}
        several: set[object] = set()

        def walk(node: Diagram, box: Box) -> None:
            if isinstance(node, Leaf):
                several.update({node.label} & set(boxes))
                boxes[node.label] = box
                return
            name = self.domain.names[node.level]
            for target in dict.fromkeys(node.targets):
                walk(target, {**box, name: self._codes(node, target)})

        if self.paths(diagram) > most:
            return {}
        walk(diagram, {})
        return {label: box for label, box in boxes.items() if label not in several}

    def _codes(self, branch: Branch, target: Diagram) -> NDArray[np.int64] | Pieces:
        if is_wide(branch.stops[-1]):
            self.effort.spend(5 * len(branch.stops))
            pairs = zip(branch.stops, branch.targets, strict=True)
            return Pieces.of_stretches([(int(there is target), stop) for stop, there in pairs])
        self.effort.spend(branch.stops[-1] // 100 + len(branch.stops))
        chosen = np.zeros(branch.stops[-1], np.int64)
        start = 0
        for stop, there in zip(branch.stops, branch.targets, strict=True):
            if there is target:
                chosen[start:stop] = 1
            start = stop
        return chosen

    def attributes(self, diagram: Diagram) -> tuple[str, ...]:
        """The attributes that a diagram asks for, in the domain's order."""
        levels: set[int] = set()
        seen: set[Diagram] = set()
        waiting: list[Diagram] = [diagram]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Branch) and node not in seen:
                seen.add(node)
                levels.add(node.level)
                waiting += node.targets
        return tuple(self.domain.names[level] for level in sorted(levels))

    def chosen(
        self, diagram: Diagram, codes: Mapping[str, NDArray[np.int64]], rows: int
    ) -> NDArray[Any]:
        """The label of each of some rows, which are given by the codes of attributes."""
        chosen = np.empty(rows, object)

        def walk(node: Diagram, places: NDArray[np.int64]) -> None:
            if isinstance(node, Leaf):
                chosen[places] = node.label
                return
            name = self.domain.names[node.level]
            run = np.searchsorted(np.array(node.stops), codes[name][places], side="right")
            if all(isinstance(target, Leaf) for target in node.targets):
                labels = np.empty(len(node.targets), object)
                labels[:] = [cast("Leaf", target).label for target in node.targets]
                chosen[places] = labels[run]
                return
            order = np.argsort(run, kind="stable")
            ends = np.flatnonzero(np.diff(run[order])) + 1
            for part in np.split(order, ends):
                if len(part):
                    walk(node.targets[int(run[part[0]])], places[part])

        walk(diagram, np.arange(rows))
        return chosen
