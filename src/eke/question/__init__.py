"""Questions: what is asked, however it was written: columns that are formulas over blocks."""

from eke.question.accuracy import Accuracy
from eke.question.caveat import bias, caveats, row_caveats, table_caveats
from eke.question.combination import Combination
from eke.question.document import formula_from_document
from eke.question.expression import (
    FormulaExpression,
    deviation,
    mean,
    median,
    people,
    quantile,
    ratio,
    root,
    variance,
)
from eke.question.formula import (
    Aggregate,
    Constant,
    Formula,
    Key,
    Operation,
    evaluated,
)
from eke.question.groupings import Grouping, Groupings
from eke.question.groups import GroupKey, Partition, grouped
from eke.question.lowered import formula_question
from eke.question.outcome import Condition, Ordering, ResultRow
from eke.question.per_row import PerRow
from eke.question.quantile import Quantile
from eke.question.question import VALUE, Column, Question
from eke.question.square_root import Root
from eke.question.stacked import AskedBlock, Stacked

__all__ = [
    "VALUE",
    "Accuracy",
    "Aggregate",
    "AskedBlock",
    "Column",
    "Combination",
    "Condition",
    "Constant",
    "Formula",
    "FormulaExpression",
    "GroupKey",
    "Grouping",
    "Groupings",
    "Key",
    "Operation",
    "Ordering",
    "Partition",
    "PerRow",
    "Quantile",
    "Question",
    "ResultRow",
    "Root",
    "Stacked",
    "bias",
    "caveats",
    "deviation",
    "evaluated",
    "formula_from_document",
    "formula_question",
    "grouped",
    "mean",
    "median",
    "people",
    "quantile",
    "ratio",
    "root",
    "row_caveats",
    "table_caveats",
    "variance",
]
