"""Linear queries in product form: the one kind of question eke knows."""

from eke.query.askable import Askable
from eke.query.canonical import Term
from eke.query.condition import selection
from eke.query.dependency import breaking
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
from eke.query.kinds import block_from_document, is_known
from eke.query.kronecker import Kronecker
from eke.query.linear import Block, Query
from eke.query.marginal import Marginal
from eke.query.sensitivity import Neighbours, check_neighbours, sensitivity

__all__ = [
    "Askable",
    "Block",
    "Expression",
    "Kronecker",
    "Marginal",
    "MarginalExpression",
    "Neighbours",
    "Prior",
    "Query",
    "Term",
    "TermStack",
    "block_from_document",
    "breaking",
    "check_neighbours",
    "constant",
    "count",
    "gram",
    "inner",
    "is_known",
    "marginal",
    "moment",
    "selection",
    "sensitivity",
    "table",
    "total",
]
