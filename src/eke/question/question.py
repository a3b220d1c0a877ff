"""Question: what is asked, however it was written.

`blocks` are what must be answered; each is one query, or one for each group. The columns of the
result are formulas over them, and HAVING, ORDER BY and LIMIT act on the noisy rows. SQL, Python
expressions, HTTP and DB-API all come to this one form.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from eke.domain import Domain
from eke.query import Marginal, Query
from eke.question.accuracy import Accuracy
from eke.question.combination import Combination
from eke.question.finish import AS_TEXT, Finish, finished
from eke.question.formula import Aggregate, Formula, Key
from eke.question.groupings import Groupings
from eke.question.groups import GroupKey
from eke.question.outcome import Condition, Ordering, ResultRow, kept, ordered
from eke.question.rank import Ranking, RankOf, with_ranks
from eke.question.stacked import AskedBlock

VALUE = "value"
"""The name of the one value of a question that names none."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the result: a key, a linear question, or a formula over several."""

    name: str
    formula: Formula
    finishes: tuple[Finish, ...] = ()  # what is done to its values at last, the innermost first

    @property
    def finished(self) -> Formula:
        """The formula of what is shown."""
        return finished(self.formula, self.finishes)

    @property
    def is_key(self) -> bool:
        return self.formula.key is not None

    @property
    def is_text(self) -> bool:
        """True for a number that is shown as a text."""
        return AS_TEXT in self.finishes

    @property
    def rank(self) -> int | None:
        """Where a ranked row holds it, if it is a rank, which has no accuracy of its own."""
        return self.formula.index if isinstance(self.formula, RankOf) else None

    @property
    def is_linear(self) -> bool:
        """True when its interval follows from one block's by scaling and shifting."""
        return self.formula.scale() is not None


@dataclass(frozen=True, slots=True)
class Question:
    """Named columns over blocks with keys, ready to be asked.

    `identity` is what a stored answer belongs to: the request's own words, as a document.
    """

    text: str
    identity: Mapping[str, Any]
    domain: Domain
    columns: tuple[Column, ...]
    blocks: tuple[AskedBlock, ...]
    group_by: tuple[GroupKey, ...] = ()
    having: Condition | None = None
    order_by: tuple[Ordering, ...] = ()
    limit: int | None = None
    offset: int = 0
    requirement: Accuracy | None = None
    is_named: bool = field(default=True, kw_only=True)  # False where the value has no name
    is_block: bool = field(default=False, kw_only=True)  # a query or a marginal as it is
    reads: frozenset[str] = field(default=frozenset(), kw_only=True)
    """Columns that were named besides those that the blocks depend on."""
    possible: tuple[int, ...] | None = field(default=None, kw_only=True)
    """The rows that the condition leaves, whatever the data; None for all."""
    groupings: Groupings | None = field(default=None, kw_only=True)
    """Of ROLLUP, CUBE and GROUPING SETS; None for one grouping, by all keys."""
    ranks: tuple[Ranking, ...] = field(default=(), kw_only=True)
    """What RANK and its relatives rank by."""
    combination: Combination | None = field(default=None, kw_only=True)
    """Of UNION and its relatives; the last key is then the number of the branch."""

    @staticmethod
    def of_block(block: Query | Marginal) -> Question:
        """The question that a query or a marginal is: its answers, one for each cell."""
        keys = tuple(GroupKey.of_column(block.domain, name) for name in block.grouped)
        shown = [Column(key.name, Key(place)) for place, key in enumerate(keys)]
        return Question(
            block.description,
            {"query": block.to_document()},
            block.domain,
            (*shown, Column(VALUE, Aggregate(0))),
            (block,),
            keys,
            is_named=False,
            is_block=True,
        )

    @property
    def is_number(self) -> bool:
        """True when the result is one value."""
        return not self.group_by and self.rows == 1 and len(self.columns) == 1

    @property
    def groups(self) -> Groupings:
        """The rows before HAVING and LIMIT, by their keys."""
        return self.groupings or Groupings.of_all(self.group_by)

    @property
    def about(self) -> frozenset[str]:
        """Every column that the answers depend on, or that was named."""
        groups, insides = self.groups, [block.inside for block in self.blocks]
        by = [key for place in range(len(groups.each)) for key in groups.keys_of(place)]
        return self.reads.union(
            *(inside.attributes for inside in insides),
            *(query.attributes for key in by for query in key.parts),
            (key.attribute for key in by if key.attribute is not None),
            (one.formula.ladder.attribute for one in self.columns if one.formula.ladder),
        )

    @property
    def rows(self) -> int:
        """The number of rows before HAVING and LIMIT; 1 without keys."""
        return self.groups.rows

    @property
    def places(self) -> Sequence[int]:
        """The rows that there can be: no record is in any of the others."""
        return range(self.rows) if self.possible is None else self.possible

    def ranked(self, rows: Sequence[ResultRow]) -> list[ResultRow]:
        """The rows with what RANK and its relatives say of them, after their keys."""
        return with_ranks(self.ranks, rows)

    def keys(self) -> list[tuple[Any, ...]]:
        """The keys of each row, the last one changing fastest."""
        return self.groups.labels()

    def shown_keys(self) -> list[tuple[Any, ...]]:
        """The keys of each row without the number of a branch."""
        last = None if self.combination is None else -1
        return [labels[:last] for labels in self.keys()]

    def group(self, row: int) -> str:
        """The keys of a row in words."""
        labels = self.shown_keys()[row]
        named = zip(self.group_by, labels, strict=False)
        return ", ".join(f"{key.name} = {label}" for key, label in named)

    def cells(self) -> list[int]:
        """The cell of each row within every block: blocks follow the domain's order of columns."""
        return self.groups.cells(self.domain)

    def cell(self, row: int) -> int:
        """The cell of one row within every block."""
        return self.groups.cell(self.domain, row)

    def query(self, block: int, row: int) -> Query:
        """The query behind one block of one row."""
        return self.blocks[block].cell(self.cell(row))

    def is_null(self, block: int, row: int) -> bool:
        """True where a block has no value in a row whatever the data, as LAG in the first one."""
        asked = self.blocks[block]
        return asked.common is None and not asked.has_value(self.cell(row))

    def has_value(self, formula: Formula, row: int) -> bool:
        """False where a formula has no value in a row whatever the data.

        As an average of men has none among the women: what it divides by counts nobody there.
        """
        places = formula.aggregates()
        if any(self.is_null(block, row) for block in places):
            return False
        if not any(True for _ in formula.fragile()):
            return True
        if formula.ladder is not None:
            return not any(self.query(place, row).is_zero for place in places)
        # Any numbers do for what can be other than 0; these are no sums of each other.
        answers = [Fraction(0)] * len(self.blocks)
        for place in places:
            if not self.query(place, row).is_zero:
                answers[place] = Fraction(1_000_003**place % 10_007 + 1, 7)
        return formula.value(answers) is not None or all(map(answers.__getitem__, places))

    def mixed(self, blocks: Sequence[int], weights: Sequence[Fraction]) -> AskedBlock:
        """The weighted sum of some blocks, row by row."""
        insides = [self.blocks[block].common for block in blocks]
        everywhere = [inside for inside in insides if inside is not None]
        if len(everywhere) == len(insides):
            return self.groups.block(_added(everywhere, weights))
        cells: list[Query | None] = [None] * self.rows
        for row in self.places:
            if not any(self.is_null(block, row) for block in blocks):
                queries = [self.query(block, row) for block in blocks]
                cells[self.cell(row)] = _added(queries, weights)
        return self.groups.listed(self.domain, cells)

    def counts_records(self, block: int) -> bool:
        """True for a block that counts records, each of them once."""
        inside = self.blocks[block].inside
        return not inside.constant and set(inside.extremes()) <= {Fraction(0), Fraction(1)}

    def bounds(self, formula: Formula) -> tuple[float, float]:
        """What a formula lies between whatever the data; infinite where nothing is known.

        An average lies between its values, and so do sums, differences and multiples of averages,
        as percentages are.
        """
        windowed = any(self.blocks[at].common is None for at in formula.aggregates())
        return formula.bounds(self.is_average, self._spread if windowed else self._extremes)

    def _extremes(self, block: int) -> tuple[float, float]:
        low, high = self.blocks[block].inside.extremes()
        return float(low), float(high)

    def _spread(self, block: int) -> tuple[float, float]:
        """The same where a record may be outside of a row that is compared with a window."""
        ends = [self.query(block, row).extremes() for row in self.places]
        return float(min((low for low, _ in ends), default=0)), float(
            max((high for _, high in ends), default=0)
        )

    def is_average(self, top: int, bottom: int) -> bool:
        """Whether one block adds something up over the records that another one counts."""
        total, records = self.blocks[top].common, self.blocks[bottom].common
        if total is not None and records is not None:
            return _is_average(total, records)
        return all(
            _is_average(self.query(top, row), self.query(bottom, row))
            for row in self.places
            if not (self.is_null(top, row) or self.is_null(bottom, row))
        )

    def result(self, rows: Sequence[ResultRow]) -> list[int]:
        """The places of the rows that are shown, in order, after HAVING, ORDER BY and LIMIT."""
        ranked = self.ranked(rows)
        places = kept(ranked, self.having)
        if self.combination is not None and not self.combination.keeps_all:
            branches: dict[int, list[int]] = defaultdict(list)
            for place in places:
                branches[ranked[place].keys[-1]].append(place)
            shown = {place: self.shown(ranked[place]) for place in places}
            places = self.combination.rows(branches, shown)
        end = None if self.limit is None else self.offset + self.limit
        return ordered(ranked, places, self.order_by)[self.offset : end]

    @property
    def chooses_rows(self) -> bool:
        """True when HAVING or a set operation chooses rows by their noisy values."""
        combined = self.combination is not None and not self.combination.keeps_all
        return combined or self.having is not None

    @property
    def keeps_all(self) -> bool:
        """True when every row is shown, in its declared order."""
        bounded = self.limit is not None or self.offset
        return not (self.chooses_rows or self.order_by or bounded)

    def shown(self, row: ResultRow) -> tuple[Any, ...]:
        """The values of the columns in one row; a key is shown by its label."""
        return tuple(
            column.finished.value(row.values, row.keys)
            if column.formula.key is None
            else row.keys[column.formula.key]
            for column in self.columns
        )


def _is_average(total: Query, records: Query) -> bool:
    """Whether one query adds something up over the records that another one counts."""
    counted = set(records.extremes()) <= {Fraction(0), Fraction(1)}
    counted &= total.people == records.people  # else somebody adds several records
    plain = not total.constant and not records.constant
    return counted and plain and total.pointwise(records) == total


def _added(queries: Sequence[Query], weights: Sequence[Fraction]) -> Query:
    """The weighted sum of some queries, without constants."""
    total = weights[0] * queries[0]
    for weight, query in zip(weights[1:], queries[1:], strict=True):
        total += weight * query
    return total.without_constant()
