"""Known cells: what history says about the blocks of a question, whole tables at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

from eke.errors import EstimateError
from eke.inference import ExactPosterior, Inference, KnownTable, QuantilePosterior, Survey
from eke.inference.resting import resting_on
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


def entries_used(question: Question, inference: Inference) -> dict[str, list[int]]:
    """The part of a stored answer that says which facts and outside tables it rests on."""
    if not inference.outside:
        return {}
    if any(column.formula.ladder is not None for column in question.columns):
        used = inference.outside  # a quantile looks at many counts, some of which may follow
    else:
        used = resting_on(inference, chain.from_iterable(b.queries() for b in question.blocks))
    return {"outside": [item.sequence for item in used]} if used else {}


def exact_posterior(query: Query, inference: Inference) -> ExactPosterior:
    """What history says about a question that it determines."""
    known = inference.linear(query)
    if known is None:
        raise EstimateError("history does not determine this question")
    return ExactPosterior(*known)
