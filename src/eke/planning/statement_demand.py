"""StatementDemand: a SQL statement and how accurate each of its columns must be."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from eke.errors import QueryError
from eke.inference import FormulaPosterior, Inference, Joint, linear_ratio
from eke.planning.blocks import inside_of
from eke.planning.requirement import Requirement
from eke.query import Query
from eke.sql import Aggregate, Constant, Formula, Operation, Partition, Root, Statement, leaves

MOST_ROWS = 4096
MOST_PARTITION_ROWS = 512


@dataclass(frozen=True, slots=True)
class StatementDemand:
    """A statement with the accuracy of each column, in the order of its columns; None for keys."""

    statement: Statement
    within: tuple[float | None, ...]
    confidence: float

    @property
    def columns(self) -> list[tuple[Formula, float]]:
        """The formulas that must be accurate, with their half-widths."""
        pairs = zip(self.statement.columns, self.within, strict=True)
        return [(column.formula, within) for column, within in pairs if within is not None]

    @property
    def curved(self) -> list[tuple[Formula, float]]:
        """Those of them that are not linear."""
        return [(f, w) for f, w in self.columns if scale_of(f) is None]

    def is_curved(self, column: int) -> bool:
        """True for a column whose formula is not linear."""
        return scale_of(self.statement.columns[column].formula) is None

    def bounds(self, formula: Formula) -> tuple[float, float]:
        """What a formula lies between whatever the data, if it is an average; else no bounds."""
        match formula:
            case Operation("/", Aggregate(top), Aggregate(bottom)):
                blocks = self.statement.aggregates
                return average_bounds(inside_of(blocks[top]), inside_of(blocks[bottom]))
        return -math.inf, math.inf

    def posterior(self, column: int, row: int, inference: Inference) -> FormulaPosterior | None:
        """What is known about a cell of the result; None when history leaves it undetermined.

        Whoever decides and whoever answers look at this one, so that they agree on its width. Its
        draws are the same for everyone who asks the same.
        """
        formula = self.statement.columns[column].formula
        places = sorted(set(used_aggregates(formula)))
        joint = Joint.of(inference, [self.statement.query(i, row) for i in places])
        if joint is None:
            return None
        seed = int(self.statement.query(0, row).digest[:12], 16) ^ (column << 48)
        return FormulaPosterior(renumbered(formula, places), joint, seed, self.bounds(formula))


def checked(demand: StatementDemand) -> StatementDemand:
    """The demand, if it can be carried out."""
    statement = demand.statement
    limit = MOST_ROWS
    if any(isinstance(block, Partition) for block in statement.aggregates):
        limit = MOST_PARTITION_ROWS
    if statement.rows > limit:
        raise QueryError(
            f"the result has {statement.rows:,} groups and at most {limit:,} can be asked at "
            "once; group by fewer or coarser keys"
        )
    selected = {i for column in statement.columns for i in used_aggregates(column.formula)}
    if len(selected) < len(statement.aggregates):
        raise QueryError(
            "HAVING and ORDER BY use an aggregate that is not selected; select it as well, so "
            "that its accuracy is stated"
        )
    for formula, within in demand.columns:
        if isinstance(formula, Constant):
            raise QueryError("a column is a constant; leave it out")
        Requirement(within, demand.confidence)
    return demand


def average_bounds(total: Query, rows: Query) -> tuple[float, float]:
    """The least and the largest value that a total over some rows, divided by them, can have."""
    counted = set(rows.extremes()) <= {Fraction(0), Fraction(1)}
    plain = not total.constant and not rows.constant
    if counted and plain and total.pointwise(rows) == total:
        low, high = total.extremes()
        return float(low), float(high)
    return -math.inf, math.inf


def scale_of(formula: Formula) -> tuple[int, float] | None:
    """(aggregate, factor) of a column that is one aggregate, scaled and shifted."""
    places = sorted(set(used_aggregates(formula)))
    if len(places) != 1:
        return None
    ratio = linear_ratio(renumbered(formula, places), 1)
    if ratio is None or ratio[1][0] != 0.0 or ratio[0][0] == 0.0:
        return None
    return places[0], float(ratio[0][0] / ratio[1][1])


def renumbered(formula: Formula, places: Sequence[int]) -> Formula:
    """The same formula over the aggregates at some places only."""
    match formula:
        case Aggregate(index):
            return Aggregate(places.index(index))
        case Root(of):
            return Root(renumbered(of, places))
        case Operation(sign, left, right):
            return Operation(sign, renumbered(left, places), renumbered(right, places))
    return formula


def curved_aggregates(demand: StatementDemand) -> list[int]:
    """The aggregates behind the columns that are not linear."""
    return sorted({i for formula, _ in demand.curved for i in used_aggregates(formula)})


def used_aggregates(formula: Formula) -> Iterator[int]:
    """The aggregates of a formula."""
    return (leaf.index for leaf in leaves(formula) if isinstance(leaf, Aggregate))
