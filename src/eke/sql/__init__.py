"""SQL: questions as text, read into questions over queries. Text never reaches a data engine."""

from eke.sql.accuracy import states_accuracy
from eke.sql.derived import check_functions, derived_values
from eke.sql.grouping_sets import parse_grouping_sets
from eke.sql.guard import asks_for_columns
from eke.sql.reader import parse
from eke.sql.vocabulary import AGGREGATE_NAMES

__all__ = [
    "AGGREGATE_NAMES",
    "asks_for_columns",
    "check_functions",
    "derived_values",
    "parse",
    "parse_grouping_sets",
    "states_accuracy",
]
