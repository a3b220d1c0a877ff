"""SQL: questions as text, read into statements over queries. Text never reaches a data engine."""

from eke.sql.accuracy import Accuracy
from eke.sql.formula import (
    Aggregate,
    Constant,
    Formula,
    Key,
    Operation,
    Root,
    evaluate,
    formula_text,
    leaves,
)
from eke.sql.grouping import GroupKey
from eke.sql.grouping_sets import parse_grouping_sets
from eke.sql.outcome import Condition, Ordering, Row
from eke.sql.reader import parse
from eke.sql.statement import Block, OutputColumn, Partition, Statement

__all__ = [
    "Accuracy",
    "Aggregate",
    "Block",
    "Condition",
    "Constant",
    "Formula",
    "GroupKey",
    "Key",
    "Operation",
    "Ordering",
    "OutputColumn",
    "Partition",
    "Root",
    "Row",
    "Statement",
    "evaluate",
    "formula_text",
    "leaves",
    "parse",
    "parse_grouping_sets",
]
