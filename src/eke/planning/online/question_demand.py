"""QuestionDemand: a question and how accurate each of its columns must be."""

from __future__ import annotations

from dataclasses import dataclass

from eke.errors import QueryError
from eke.inference import FormulaPosterior, Inference, Joint, table_weight
from eke.planning.online.requirement import Demand, Requirement
from eke.query import Marginal
from eke.question import AskedBlock, Constant, Formula, Partition, Question

MOST_ROWS = 4096
MOST_TABLE_ROWS = 131_072
"""Of a plain table of counts, which stays a table however many cells it has."""
MOST_PARTITION_ROWS = 512


@dataclass(frozen=True, slots=True)
class QuestionDemand:
    """A question with the accuracy of each column, in the order of its columns; None for keys."""

    question: Question
    within: tuple[float | None, ...]
    confidence: float

    @property
    def columns(self) -> list[tuple[Formula, float]]:
        """The formulas that must be accurate, with their half-widths."""
        pairs = zip(self.question.columns, self.within, strict=True)
        return [(column.formula, within) for column, within in pairs if within is not None]

    @property
    def curved(self) -> list[tuple[Formula, float]]:
        """Those of them that are not linear."""
        return [(f, w) for f, w in self.columns if f.scale() is None]

    @property
    def is_table(self) -> bool:
        """True when all that is asked is one plain table: counts of all records by columns."""
        blocks = self.question.blocks
        return (
            len(blocks) == 1
            and isinstance(blocks[0], Marginal)
            and table_weight(blocks[0]) is not None
        )

    def is_curved(self, column: int) -> bool:
        """True for a column whose formula is not linear."""
        return self.question.columns[column].formula.scale() is None

    def curved_blocks(self) -> list[int]:
        """The blocks behind the columns that are not linear."""
        return sorted({place for formula, _ in self.curved for place in formula.aggregates()})

    def posterior(self, column: int, row: int, inference: Inference) -> FormulaPosterior | None:
        """What is known about a cell of the result; None when history leaves it undetermined.

        Whoever decides and whoever answers look at this one, so that they agree on its width. Its
        draws are the same for everyone who asks the same.
        """
        formula = self.question.columns[column].formula
        places = formula.aggregates()
        joint = Joint.of(inference, [self.question.query(i, row) for i in places])
        if joint is None:
            return None
        seed = int(self.question.query(0, row).digest[:12], 16) ^ (column << 48)
        return FormulaPosterior(formula.over(places), joint, seed, self.question.bounds(formula))


def checked(demand: QuestionDemand) -> QuestionDemand:
    """The demand, if it can be carried out."""
    question = demand.question
    limit = MOST_TABLE_ROWS if demand.is_table else MOST_ROWS
    if any(block.grouped is None for block in question.blocks):
        limit = MOST_PARTITION_ROWS
    if len(question.places) > limit:
        counts = f" ({MOST_TABLE_ROWS:,} where only COUNT(*) of all records by columns is asked)"
        raise QueryError(
            f"the result has {len(question.places):,} groups and at most {limit:,} can be asked at "
            f"once{'' if demand.is_table else counts}; group by fewer or coarser keys"
        )
    selected = {i for column in question.columns for i in column.formula.aggregates()}
    if len(selected) < len(question.blocks):
        raise QueryError(
            "HAVING and ORDER BY use an aggregate that is not selected; select it as well, so "
            "that its accuracy is stated"
        )
    for formula, within in demand.columns:
        if isinstance(formula, Constant):
            raise QueryError("a column is a constant; leave it out")
        Requirement(within, demand.confidence)
    return demand


def demands_of(block: AskedBlock, requirement: Requirement) -> list[Demand]:
    """The demand that every answer of a block is this accurate.

    Groups made by CASE are no block of the engine's: they are demanded one by one, and since no
    record is in two of them, they cost as little.
    """
    if isinstance(block, Partition):
        return [Demand(one, requirement) for one in block.queries() if not one.is_zero]
    return [Demand(block, requirement)]
