"""Known cells: what history says about the blocks of a question, whole tables at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eke.errors import EstimateError
from eke.inference import ExactPosterior, Inference, KnownTable
from eke.query import Query
from eke.question import Question


@dataclass(frozen=True, slots=True, eq=False)
class KnownCells:
    """The posteriors of the answers behind each row; of a table of counts all were computed."""

    question: Question
    inference: Inference
    tables: Mapping[int, KnownTable]  # by the place of the block
    cells: Sequence[int]  # of each row within a table

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


def exact_posterior(query: Query, inference: Inference) -> ExactPosterior:
    """What history says about a question that it determines."""
    known = inference.linear(query)
    if known is None:
        raise EstimateError("history does not determine this question")
    return ExactPosterior(*known)
