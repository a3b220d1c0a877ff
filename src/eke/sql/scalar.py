"""Scalar expressions: from the syntax tree to values over cells.

Columns, literals, arithmetic, CASE, conditions and functions. What a node means is decided in
`value`, `arithmetic`, `comparison`, `choice`, `logic`, `functions` and `moments`; this file only
walks the tree.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from eke.errors import SqlError
from eke.query.pieces import TooLarge
from eke.question.logic import both, either
from eke.sql import arithmetic, moments
from eke.sql.choice import choose
from eke.sql.comparison import COMPARISONS, compare, contained, like
from eke.sql.diagram import Diagram
from eke.sql.functions import applied
from eke.sql.logic import folded, negated, same_as
from eke.sql.place import echo
from eke.sql.scope import Relation, find_column
from eke.sql.tree import left_chain
from eke.sql.value import (
    Missing,
    Moment,
    Number,
    Reading,
    Text,
    Truth,
    Value,
    as_number,
    known_part,
    literal_number,
)
from eke.sql.vocabulary import ARGUMENTS, DATE_PARTS, NAMED_PARTS, PAIRS, QUANTILES, operands

_LONGEST_NUMBER = 40
_LARGEST_EXPONENT = 40
AGGREGATES: tuple[type[exp.Expr], ...] = (
    exp.Count,
    exp.Sum,
    exp.Avg,
    exp.Variance,
    exp.VariancePop,
    exp.Stddev,
    exp.StddevPop,
    exp.StddevSamp,
    exp.CountIf,
    *PAIRS,
    *QUANTILES,
    exp.Filter,
)


def value_of(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    """The value of an expression in every cell."""
    reading.effort.turn_to(node)
    reading.effort.spend(5)
    for kinds, rule in _RULES:
        if isinstance(node, kinds):
            try:
                return rule(reading, relation, node)
            except TooLarge as problem:
                raise reading.error(node, str(problem)) from None
    if isinstance(node, AGGREGATES):
        raise reading.error(
            node,
            "an aggregate cannot stand inside a row's expression; aggregates belong after SELECT, "
            "in HAVING and in ORDER BY",
        )
    if isinstance(node, exp.Subquery):
        raise reading.error(
            node,
            "the answer to a query is a noisy number, and which records are counted cannot depend "
            "on one; ask for the number first, and write it here, as in age > 38.6",
        )
    raise reading.error(
        node,
        f"{type(node).__name__.upper()} cannot be used here; write a column, a number or CASE WHEN",
    )


def condition_of(reading: Reading, relation: Relation, node: exp.Expr) -> Diagram:
    """Where a condition is true, false and unknown."""
    value = value_of(reading, relation, node)
    if isinstance(value, Truth):
        return value.labels
    if isinstance(value, Missing):
        raise reading.error(node, "NULL is not a condition; write … IS NULL")
    raise reading.error(node, "this is not a condition; compare it, as in age > 30")


def number_of(reading: Reading, relation: Relation, node: exp.Expr) -> Number:
    """The value of an expression that must be a number one can calculate with."""
    return as_number(reading, node, value_of(reading, relation, node))


def literal_fraction(reading: Reading, node: exp.Expr) -> Fraction:
    """The exact number that a literal spells."""
    spelled = str(node.this)
    if len(spelled) > _LONGEST_NUMBER:
        raise reading.error(node, f"numbers have at most {_LONGEST_NUMBER} digits here; round it")
    exponent = spelled.lower().partition("e")[2]
    try:
        if exponent and abs(int(exponent)) > _LARGEST_EXPONENT:
            raise reading.error(
                node, f"numbers lie between 1e-{_LARGEST_EXPONENT} and 1e{_LARGEST_EXPONENT} here"
            )
        return Fraction(spelled)
    except SqlError:
        raise
    except ValueError:
        raise reading.error(node, f"{echo(spelled)!r} is not a number; write 1.5 or 30") from None


def _paren(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    return value_of(reading, relation, node.this)


def _column(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    return find_column(reading, relation, node)


def _literal(reading: Reading, _: Relation, node: exp.Expr) -> Value:
    if node.args.get("is_string"):
        return Text(reading.diagrams.leaf(str(node.this)))
    whole = str(node.this).isdecimal()
    return literal_number(reading, literal_fraction(reading, node), whole=whole)


def _truth(reading: Reading, _: Relation, node: exp.Expr) -> Value:
    return Truth(reading.diagrams.leaf(bool(node.this)))


def _missing(_: Reading, __: Relation, ___: exp.Expr) -> Value:
    return Missing()


def _negative(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    minus = literal_number(reading, Fraction(-1), whole=True)
    return arithmetic.multiply(reading, minus, number_of(reading, relation, node.this))


def _chain(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    first, rest = left_chain(node)
    minus = literal_number(reading, Fraction(-1), whole=True)
    total = value_of(reading, relation, first)
    for operator, operand in rest:
        sign = -1 if operator is exp.Sub else 1
        if isinstance(operand, exp.Interval):
            total = moments.shifted(reading, operand, total, operand, sign)
            continue
        value = value_of(reading, relation, operand)
        reading.effort.turn_to(operand)
        if operator in (exp.Add, exp.Sub) and Moment in (type(total), type(value)):
            total = moments.combined(reading, operand, total, value, sign)
            continue
        before, number = as_number(reading, first, total), as_number(reading, operand, value)
        if operator is exp.Mul:
            total = arithmetic.multiply(reading, before, number)
        elif operator is exp.Div:
            total = arithmetic.divide(reading, operand, before, number)
        elif operator is exp.Sub:
            total = arithmetic.add(reading, before, arithmetic.multiply(reading, minus, number))
        else:
            total = arithmetic.add(reading, before, number)
    return total


def _function(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    values = [value_of(reading, relation, operand) for operand in operands(node)]
    reading.effort.turn_to(node)
    return applied(reading, node, values)


def _part(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    if isinstance(node, exp.Extract):
        part, operand = str(node.this.this), node.args["expression"]
    elif isinstance(node, exp.Anonymous):
        *named, operand = node.args["expressions"]
        part = NAMED_PARTS[str(node.this).lower()] or str(named[0].this)
    else:
        part, operand = DATE_PARTS[type(node)], node.this
    return moments.part_of(reading, node, part, value_of(reading, relation, operand))


def _truncated(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    value = value_of(reading, relation, node.this)
    return moments.truncated(reading, node, str(node.args["unit"].this), value)


def _connective(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    first, rest = left_chain(node)
    operands = [first, *(operand for _, operand in rest)]
    parts = [condition_of(reading, relation, operand) for operand in operands]
    operation = both if isinstance(node, exp.And) else either
    reading.effort.turn_to(node)
    return Truth(folded(reading.diagrams, operation, parts))


def _not(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    return Truth(negated(reading.diagrams, condition_of(reading, relation, node.this)))


def _comparison(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    first = value_of(reading, relation, node.this)
    second = value_of(reading, relation, node.args["expression"])
    return Truth(compare(reading, node, COMPARISONS[type(node)], first, second))


def _between(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    value = value_of(reading, relation, node.this)
    low, high = (value_of(reading, relation, node.args[end]) for end in ("low", "high"))
    above = compare(reading, node, COMPARISONS[exp.GTE], value, low)
    below = compare(reading, node, COMPARISONS[exp.LTE], value, high)
    return Truth(reading.diagrams.joined(both, above, below))


def _in(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    value = value_of(reading, relation, node.this)
    choices = [value_of(reading, relation, choice) for choice in node.args["expressions"]]
    reading.effort.turn_to(node)
    return Truth(contained(reading, node, value, choices))


def _like(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    value = value_of(reading, relation, node.this)
    pattern = value_of(reading, relation, node.args["expression"])
    matches = like(reading, node, value, pattern)
    return Truth(negated(reading.diagrams, matches) if node.args.get("negate") else matches)


def _is(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    value, wanted = value_of(reading, relation, node.this), node.args["expression"]
    diagrams = reading.diagrams
    if isinstance(wanted, exp.Null):
        return Truth(diagrams.mapped(same_as, known_part(reading, value), False))
    if isinstance(wanted, exp.Boolean) and isinstance(value, Truth):
        return Truth(diagrams.mapped(same_as, value.labels, bool(wanted.this)))
    raise reading.error(node, "IS is followed by NULL, or by TRUE or FALSE after a condition")


def _case(reading: Reading, relation: Relation, node: exp.Expr) -> Value:
    operand = node.args.get("this")
    subject = None if operand is None else value_of(reading, relation, operand)
    branches = []
    for branch in node.args["ifs"]:
        if subject is None:
            condition = condition_of(reading, relation, branch.this)
        else:
            tested = value_of(reading, relation, branch.this)
            condition = compare(reading, branch, COMPARISONS[exp.EQ], subject, tested)
        branches.append((condition, value_of(reading, relation, branch.args["true"])))
    last = node.args.get("default")
    default = Missing() if last is None else value_of(reading, relation, last)
    reading.effort.turn_to(node)
    return choose(reading, node, branches, default)


_Rule = Callable[[Reading, Relation, exp.Expr], Value]
_RULES: tuple[tuple[tuple[type[exp.Expr], ...], _Rule], ...] = (
    ((exp.Paren,), _paren),
    ((exp.Column,), _column),
    ((exp.Literal,), _literal),
    ((exp.Boolean,), _truth),
    ((exp.Null,), _missing),
    ((exp.Neg,), _negative),
    ((exp.Add, exp.Sub, exp.Mul, exp.Div), _chain),
    ((exp.And, exp.Or), _connective),
    ((exp.Not,), _not),
    (tuple(COMPARISONS), _comparison),
    ((exp.Between,), _between),
    ((exp.In,), _in),
    ((exp.Like,), _like),
    ((exp.Is,), _is),
    ((exp.Case,), _case),
    (tuple(ARGUMENTS), _function),
    ((exp.Extract, exp.Anonymous, *DATE_PARTS), _part),
    ((exp.TimestampTrunc, exp.DateTrunc), _truncated),
)
