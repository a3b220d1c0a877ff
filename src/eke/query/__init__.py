"""Linear queries in product form: the one kind of question eke knows."""

from eke.query.block import Marginal
from eke.query.canonical import Term
from eke.query.condition import selection
from eke.query.describe import describe
from eke.query.expression import (
    Expression,
    MarginalExpression,
    constant,
    count,
    marginal,
    moment,
    table,
    total,
)
from eke.query.kernel import Prior, TermStack, gram, inner
from eke.query.kronecker import Kronecker, Measurable
from eke.query.linear import Query
from eke.query.sensitivity import Neighbours, check_neighbours, sensitivity

__all__ = [
    "Expression",
    "Kronecker",
    "Marginal",
    "MarginalExpression",
    "Measurable",
    "Neighbours",
    "Prior",
    "Query",
    "Term",
    "TermStack",
    "check_neighbours",
    "constant",
    "count",
    "describe",
    "gram",
    "inner",
    "marginal",
    "moment",
    "selection",
    "sensitivity",
    "table",
    "total",
]
