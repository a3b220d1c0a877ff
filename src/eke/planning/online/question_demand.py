"""QuestionDemand: a question and how accurate each of its columns must be."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from eke.errors import AccuracyError, QueryError
from eke.inference import FormulaPosterior, Inference, Joint, table_weight
from eke.planning.online.requirement import Demand, Requirement
from eke.query import Block
from eke.question import AskedBlock, Formula, Question
from eke.question.ladder import Ladder

MOST_ROWS = 4096
MOST_TABLE_ROWS = 131_072
"""Of a plain table of counts, which stays a table however many cells it has."""
MOST_PARTITION_ROWS = 512
MOST_RECORDS = 10**15
"""Of a group, for `groups_of`."""


@dataclass(frozen=True, slots=True)
class QuestionDemand:
    """A question with the accuracy of each column, in the order of its columns; None for keys."""

    question: Question
    within: tuple[float | None, ...]
    confidence: float
    relative: tuple[int, ...] = ()
    """The columns whose half-width is a share of the value itself, such as 0.02."""
    groups_of: int | None = None
    """Formulas must be so accurate where a group has this many records; None: in every group."""

    @property
    def columns(self) -> list[tuple[Formula, float]]:
        """The formulas that must be accurate, with their half-widths."""
        pairs = zip(self.question.columns, self.within, strict=True)
        return [(column.formula, within) for column, within in pairs if within is not None]

    @property
    def relative_places(self) -> frozenset[int]:
        """The same as `relative`, counted among the columns of values."""
        values = [place for place, within in enumerate(self.within) if within is not None]
        return frozenset(values.index(place) for place in self.relative)

    @property
    def curved(self) -> list[tuple[Formula, float]]:
        """Those of them that are not linear; quantiles are not among them."""
        return [(f, w) for f, w in self.columns if f.scale() is None and f.ladder is None]

    @property
    def quantiles(self) -> list[tuple[int, int, Ladder, float]]:
        """(column, block of its records, steps, half-width) of the quantiles."""
        return [
            (column, one.formula.aggregates()[0], one.formula.ladder, within)
            for column, (one, within) in enumerate(
                zip(self.question.columns, self.within, strict=True)
            )
            if within is not None and one.formula.ladder is not None
        ]

    def without_quantiles(self) -> QuestionDemand:
        """The same question, if nothing is to be known about its quantiles."""
        left_out = {column for column, *_ in self.quantiles}
        within = tuple(None if at in left_out else one for at, one in enumerate(self.within))
        relative = tuple(at for at in self.relative if at not in left_out)
        return replace(self, within=within, relative=relative)

    def asking(self, widths: Iterable[float]) -> QuestionDemand:
        """The same question with other half-widths for its columns of values, none a share."""
        new = iter(widths)
        within = tuple(None if one is None else next(new) for one in self.within)
        return replace(self, within=within, relative=())

    @property
    def table(self) -> Block | None:
        """The plain table, counts of all records by columns, if that is all that is asked."""
        first, *others = self.question.blocks
        table = first.by_columns
        return None if others or table is None or table_weight(table) is None else table

    def is_curved(self, column: int) -> bool:
        """True for a column whose formula is not linear."""
        formula = self.question.columns[column].formula
        return formula.scale() is None and formula.ladder is None

    def curved_blocks(self) -> list[int]:
        """The blocks behind the columns that are not linear."""
        return sorted({place for formula, _ in self.curved for place in formula.aggregates()})

    def records(self) -> list[int]:
        """The blocks that count the records that formulas are averaged over."""
        fragile = {
            k for formula, _ in self.curved for part in formula.fragile() for k in part.aggregates()
        }
        return sorted(k for k in fragile if self.question.counts_records(k))

    def posterior(self, column: int, row: int, inference: Inference) -> FormulaPosterior | None:
        """What is known about a cell of the result; None when history leaves it undetermined.

        Whoever decides and whoever answers look at this one, so that they agree on its width. Its
        draws are the same for everyone who asks the same.
        """
        formula = self.question.columns[column].formula
        places = formula.aggregates()
        queries = [self.question.query(i, row) for i in places]
        over, bounds = formula.over(places), self.question.bounds(formula)
        seed = int(self.question.query(0, row).digest[:12], 16) ^ (column << 48)

        def made() -> FormulaPosterior | None:
            joint = Joint.of(inference, queries)
            return None if joint is None else FormulaPosterior(over, joint, seed, bounds)

        key = ("formula", over, bounds, seed, *(query.digest for query in queries))
        return inference.memo.get(key, made, lambda one: 0 if one is None else one.numbers)


def checked(demand: QuestionDemand) -> QuestionDemand:
    """The demand, if it can be carried out."""
    question = demand.question
    limit = MOST_TABLE_ROWS if demand.table else MOST_ROWS
    if any(part.grouped is None for block in question.blocks for part in block.parts):
        limit = MOST_PARTITION_ROWS
    if len(question.places) > limit:
        counts = f" ({MOST_TABLE_ROWS:,} where only COUNT(*) of all records by columns is asked)"
        raise QueryError(
            f"the result has {len(question.places):,} groups and at most {limit:,} can be asked at "
            f"once{'' if demand.table else counts}; group by fewer or coarser keys"
            f"{_instead(demand)}"
        )
    selected = {i for formula, _ in demand.columns for i in formula.aggregates()}
    if len(selected) < len(question.blocks):
        raise QueryError(
            "HAVING, ORDER BY or RANK use an aggregate that is not selected; select it as well, so "
            "that its accuracy is stated"
        )
    for formula, within in demand.columns:
        if not formula.aggregates():
            raise QueryError("a column is a constant; leave it out")
        places = formula.aggregates()
        ratio = formula.over(places).ratio(len(places))
        if ratio is not None and not ratio[1].any():
            raise QueryError("division by zero; divide by something else")
        Requirement(within, demand.confidence)
    if not all(question.counts_records(place) for _, place, _, _ in demand.quantiles):
        raise QueryError("a quantile is one of some records; give it the number of them")
    _check_groups_of(demand)
    return demand


def _instead(demand: QuestionDemand) -> str:
    """What gives the same where too many sums or counts under a condition are asked for.

    Their sums and counts follow from the plain table by all columns that they look at, which may
    be large enough to be asked for: tables of counts stay whole in the history.
    """
    question = demand.question
    tables = [block.by_columns for block in question.blocks]
    if demand.table is not None or any(table is None for table in tables):
        return ""
    looked = {name for table in tables if table for name in (table.grouped or ())}
    more = {name for block in question.blocks for name in block.inside.attributes} - looked
    names = question.domain.in_order(looked | more)
    cells = math.prod(question.domain.sizes(names))
    if not more or cells > MOST_TABLE_ROWS:
        return ", or choose some of the groups with WHERE"
    return (
        f", or ask for COUNT(*) alone by {', '.join(names)} ({cells:,} groups), from which the "
        "rest can be added up"
    )


def _check_groups_of(demand: QuestionDemand) -> None:
    size = demand.groups_of
    if size is None:
        return
    if isinstance(size, bool) or not isinstance(size, int) or not 0 < size <= MOST_RECORDS:
        raise AccuracyError(
            "groups_of must be a whole number above 0: how many records a group must have to be "
            "as accurate as you ask for, for example groups_of=1000"
        )
    if demand.without_quantiles().relative:
        _check_sized(demand.without_quantiles())
    elif not demand.curved and not demand.quantiles:
        raise AccuracyError(
            "groups_of is for averages, ratios, variances and quantiles; counts and sums are as "
            "accurate in small groups as in large ones, so leave it out"
        )
    counted = set(demand.records())
    blocks = demand.question.blocks
    for formula, _ in demand.curved:
        if len({blocks[place].inside.people for place in formula.aggregates()}) > 1:
            raise AccuracyError(
                "groups_of is so many records, or so many people, and this formula is made of "
                "both; leave it out"
            )
    for formula, _ in demand.curved:
        if not counted & set(formula.aggregates()):
            raise AccuracyError(
                "groups_of needs a number of records in each denominator, as AVG has; this formula "
                "divides by something else, so leave it out"
            )


def _check_sized(demand: QuestionDemand) -> None:
    """Raise where a share of a sum is asked for, which may be anything in a group of some size."""
    for place in demand.relative:
        scaled = demand.question.columns[place].formula.scale()
        if scaled is not None and not demand.question.counts_records(scaled[0]):
            raise AccuracyError(
                "groups_of says nothing about how large a sum is; give its half-width as a number, "
                "or leave groups_of out"
            )


def demands_of(block: AskedBlock, requirement: Requirement) -> list[Demand]:
    """The demand that every answer of a block is this accurate."""
    return [Demand(one, requirement) for one in block.measurable()]


def linear_demands(demand: QuestionDemand) -> list[Demand]:
    """The linear columns as demands on their questions; the tighter one where two meet."""
    tightest: dict[int, float] = {}
    for formula, within in demand.columns:
        scaled = formula.scale()
        if scaled is not None:
            index, scale = scaled
            half_width = within / abs(scale)
            tightest[index] = min(half_width, tightest.get(index, half_width))
    return [
        one
        for index, within in tightest.items()
        for one in demands_of(demand.question.blocks[index], Requirement(within, demand.confidence))
    ]
