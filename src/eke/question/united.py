"""United: the questions of several branches as one, with the rows of one below those of another.

    SELECT carrier, COUNT(*) FROM flights GROUP BY carrier
    UNION ALL SELECT 'all', COUNT(*) FROM flights

One question has one plan: what is measured for a branch tells about the others, and an accuracy
holds in all of them. So a column is of one kind in every branch: a key or a public value, or the
same formula of whatever the branches ask.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeAlias, TypeVar

from eke.errors import QueryError
from eke.query import Query
from eke.question.combination import Combination
from eke.question.formula import Aggregate, Formula, Key
from eke.question.groupings import Grouping, Groupings
from eke.question.groups import GroupedBlock, GroupKey
from eke.question.outcome import BranchRows, InBranches
from eke.question.per_row import PerRow
from eke.question.question import Column, Question
from eke.question.stacked import Stacked

T = TypeVar("T")
Sources: TypeAlias = tuple[Formula | None, ...]
"""What a key or a block is in each branch: one of its own, a constant, or nothing."""
BRANCH = "branch"
"""The name of the last key, which says of which branch a row is."""
MOST_LISTED = 512
"""Rows whose questions are written out one by one, where their factors differ."""
_KINDS = {str: "a text", bool: "a truth value", tuple: "a bin"}


def united(branches: Sequence[Question], combination: Combination) -> Question:
    """The question whose rows are those of the branches, combined in some way."""
    return _Union(branches).question(combination)


class _Union:
    def __init__(self, branches: Sequence[Question]) -> None:
        self._branches = branches
        self._keys: dict[Sources, str] = {}  # with their names
        self._blocks: dict[Sources, None] = {}

    def question(self, combination: Combination) -> Question:
        first = self._branches[0]
        for number, other in enumerate(self._branches[1:], start=2):
            if len(other.columns) != len(first.columns):
                raise QueryError(
                    f"the first SELECT has {len(first.columns)} columns and number {number} has "
                    f"{len(other.columns)}; select as many in each"
                )
        together = zip(*(branch.columns for branch in self._branches), strict=True)
        columns = tuple(map(self._column, together))
        views = tuple(self._view(number) for number in range(len(self._branches)))
        groupings = Groupings(self._named_keys(), tuple(self._groupings(views)))
        is_filtered = any(view.having is not None for view in views)
        return replace(
            first,
            columns=columns,
            blocks=tuple(map(self._block, self._blocks)),
            group_by=groupings.keys,
            groupings=groupings,
            having=InBranches(views) if is_filtered else None,
            reads=frozenset[str]().union(*(branch.reads for branch in self._branches)),
            possible=self._possible(),
            combination=combination,
        )

    def _column(self, columns: tuple[Column, ...]) -> Column:
        """A column of the result, of one kind in all branches."""
        name, formulas = columns[0].name, tuple(column.formula for column in columns)
        if all(one.key is not None or _is_number(one) for one in formulas):
            self._keys.setdefault(formulas, name)
            return Column(name, Key(list(self._keys).index(formulas)))
        finishes = {one.finishes for one in columns if not _is_number(one.formula)}
        formula = self._merged(formulas) or self._linear(formulas)
        if formula is None or len(finishes) > 1:
            raise QueryError(
                f"the column {name!r} is not of one kind in every SELECT; select a key in each, or "
                "the same kind of aggregate with the same arithmetic, or ask one by one"
            )
        return Column(name, formula, *finishes)

    def _merged(self, formulas: tuple[Formula, ...]) -> Formula | None:
        """The formula that all are, each of its own answers; None where they are of other kinds."""
        if all(one.answer is not None for one in formulas):
            return self._answer(formulas)
        inner = [formula.parts for formula in formulas]
        if any(one.answer is not None for one in formulas) or len(set(map(len, inner))) > 1:
            return None
        before = self._blocks.copy()
        merged = map(self._merged, zip(*inner, strict=True))
        parts = [part for part in merged if part is not None]
        if len(parts) == len(inner[0]):
            alike = {formula.with_parts(*parts) for formula in formulas}
            if len(alike) == 1:
                return alike.pop()
        self._blocks = before
        return None

    def _linear(self, formulas: tuple[Formula, ...]) -> Formula | None:
        """Multiples of answers, whatever the factors, and public numbers, as one answer."""
        linear = (one.scale() is not None or _is_number(one) for one in formulas)
        few = sum(branch.rows for branch in self._branches) <= MOST_LISTED
        return self._answer(formulas) if few and all(linear) else None

    def _answer(self, sources: Sources) -> Formula:
        self._blocks.setdefault(sources)
        return Aggregate(list(self._blocks).index(sources))

    def _view(self, number: int) -> BranchRows:
        """Where a branch finds all of its keys, and the blocks that its HAVING looks at."""
        branch = self._branches[number]
        keys = []
        for place, key in enumerate(branch.group_by):
            keys.append(self._place(self._keys, number, Key(place), key.name))
            places = sum(sources[number] == Key(place) for sources in self._keys)
            if places > 1 and any(one.has(place) for one in branch.groups.each):
                raise QueryError(f"select {key.name!r} once in each SELECT")
        needed = range(len(branch.blocks) if branch.having is not None else 0)
        values = [self._place(self._blocks, number, Aggregate(place), None) for place in needed]
        return BranchRows(tuple(keys), tuple(values), branch.having)

    def _place(self, table: dict[Sources, T], number: int, wanted: Formula, new: T) -> int:
        """Where a branch finds one of its own, which the others lack if it is not there yet."""
        for place, sources in enumerate(table):
            if sources[number] == wanted:
                return place
        others: Sources = (None,) * len(self._branches)
        table[(*others[:number], wanted, *others[number + 1 :])] = new
        return len(table) - 1

    def _groupings(self, views: Sequence[BranchRows]) -> list[Grouping]:
        """Those of each branch, with its keys where the result has them."""
        groupings = []
        for number, (branch, view) in enumerate(zip(self._branches, views, strict=True)):
            for place, grouping in enumerate(branch.groups.each):
                shown = [_shown(sources[number], grouping.shown) for sources in self._keys]
                by = tuple(view.keys[key] for key in grouping.by)
                keys = branch.groups.keys_of(place)
                following = tuple(
                    replace(one, key=view.keys[one.key]) for one in grouping.following
                )
                groupings.append(Grouping(by, (*shown, number), keys, following))
        return groupings

    def _named_keys(self) -> tuple[GroupKey, ...]:
        keys = []
        for sources, name in self._keys.items():
            labels: dict[Any, None] = {}
            for branch, source in zip(self._branches, sources, strict=True):
                if source is not None and source.key is not None:
                    labels |= dict.fromkeys(branch.group_by[source.key].labels)
                elif source is not None:
                    labels[_shown(source, ())] = None
            kinds = sorted(
                {_KINDS.get(type(label), "a number") for label in labels if label is not None}
            )
            if len(kinds) > 1:
                raise QueryError(
                    f"the column {name!r} is {kinds[0]} in one SELECT and {kinds[1]} in another; "
                    "select values of one kind"
                )
            keys.append(GroupKey(name, None, tuple(labels)))
        return (*keys, GroupKey(BRANCH, None, tuple(range(len(self._branches)))))

    def _block(self, sources: Sources) -> Stacked:
        """What the branches ask, one below the other."""
        parts: list[GroupedBlock | PerRow] = []
        for branch, source in zip(self._branches, sources, strict=True):
            if source is not None and source.answer is not None:
                parts += branch.blocks[source.answer].parts
                continue
            cells = [None] * branch.rows if source is None else _cells(branch, source)
            parts += branch.groups.listed(branch.domain, cells).parts
        return Stacked(tuple(parts))

    def _possible(self) -> tuple[int, ...] | None:
        """The rows that the conditions leave, whatever the data."""
        if all(branch.possible is None for branch in self._branches):
            return None
        places: list[int] = []
        before = 0
        for branch in self._branches:
            places += [before + place for place in branch.places]
            before += branch.rows
        return tuple(places)


def _is_number(formula: Formula) -> bool:
    """True for a public number."""
    return formula.key is None and not formula.aggregates()


def _cells(branch: Question, source: Formula) -> list[Query | None]:
    """What a branch asks in each cell for a multiple of an answer, or a public number."""
    places = source.aggregates()
    answer = source.over(places)
    start = Fraction(answer.value([Fraction(0)]))
    slope = Fraction(answer.value([Fraction(1)])) - start
    if not places:
        return [Query.of(branch.domain, [], start)] * branch.rows
    block = branch.blocks[places[0]]
    shift = Query.of(branch.domain, [], start)
    return [
        slope * query + shift if block.has_value(cell) else None
        for cell, query in enumerate(block.queries())
    ]


def _shown(source: Formula | None, shown: Sequence[Any]) -> Any:
    """What a key shows in all rows of a grouping that is not by it."""
    if source is None:
        return None
    if source.key is not None:
        return shown[source.key]
    number = source.value(())
    if not isinstance(number, Fraction):
        return number
    return int(number) if number.denominator == 1 else float(number)
