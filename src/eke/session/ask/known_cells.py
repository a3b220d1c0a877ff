"""Known cells: what history says about the blocks of a question, whole tables at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from eke.errors import EstimateError
from eke.inference import ExactPosterior, Inference, KnownTable, QuantilePosterior, Survey
from eke.query import Query
from eke.question import Question
from eke.question.ladder import Ladder


@dataclass(frozen=True, slots=True, eq=False)
class KnownCells:
    """The posteriors of the answers behind each row; of a table of counts all were computed."""

    question: Question
    inference: Inference
    tables: Mapping[int, KnownTable]  # by the place of the block
    cells: Sequence[int]  # of each row within a table
    _surveys: dict[int, Survey] = field(default_factory=dict, init=False, repr=False)

    @staticmethod
    def of(question: Question, inference: Inference) -> KnownCells:
        """What history says about a question that it determines."""
        tables = {}
        for place, block in enumerate(question.blocks):
            table = block.by_columns
            known = None if table is None else inference.table(table)
            if known is not None:
                tables[place] = known
        return KnownCells(question, inference, tables, question.cells() if tables else ())

    def posterior(self, block: int, row: int) -> ExactPosterior:
        """What is known about one block in one row."""
        table = self.tables.get(block)
        if table is not None:
            return table.posterior(self.cells[row])
        return exact_posterior(self.question.query(block, row), self.inference)

    def value(self, block: int, row: int) -> float:
        """The estimate of one block in one row, without the noise in it."""
        table = self.tables.get(block)
        return self.posterior(block, row).value if table is None else table.value(self.cells[row])

    def quantile(self, ladder: Ladder, block: int, row: int) -> QuantilePosterior:
        """What is known about a quantile of the records that a block counts in one row."""
        if id(ladder) not in self._surveys:
            self._surveys[id(ladder)] = Survey(self.inference, ladder)
        return self._surveys[id(ladder)].posterior(self.question.query(block, row))


def exact_posterior(query: Query, inference: Inference) -> ExactPosterior:
    """What history says about a question that it determines."""
    known = inference.linear(query)
    if known is None:
        raise EstimateError("history does not determine this question")
    return ExactPosterior(*known)
