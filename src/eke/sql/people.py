"""People: COUNT(DISTINCT id), where the table protects ids.

The id of a unit is no column: nothing may be compared with it, and nobody is grouped by it. All
that is read of it is how many different ids have records that meet a condition.
"""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from eke.question.logic import both
from eke.sql.diagram import Diagram
from eke.sql.place import echo
from eke.sql.refusal import count_distinct
from eke.sql.scalar import condition_of
from eke.sql.scope import Relation, behind, matching
from eke.sql.value import Reading

DISTINCT: Mapping[type[exp.Expr], frozenset[str]] = {exp.Distinct: frozenset({"expressions"})}
"""What may stand in a tree beside all else, where there are people to be counted."""


def with_people(reading: Reading, relation: Relation, node: exp.Distinct, kept: Diagram) -> Diagram:
    """The records whose different ids are counted: those kept, and those that CASE chooses.

    COUNT(DISTINCT CASE WHEN age > 60 THEN id END) leaves out the others' ids, which are NULL.
    """
    (counted, *more) = node.expressions
    while isinstance(counted, exp.Paren):
        counted = counted.this
    chosen = _chosen(counted)
    if chosen is not None:
        condition, counted = chosen
        kept = reading.diagrams.joined(both, kept, condition_of(reading, relation, condition))
    if more or not _is_id(reading, relation, counted):
        raise reading.error(counted, count_distinct(reading.unit))
    return kept


def passed_on(reading: Reading, relation: Relation, item: exp.Expr) -> str | None:
    """The name under which a projecting SELECT hands the id on; None if it is not about it."""
    column = item.this if isinstance(item, exp.Alias) else item
    if not _is_id(reading, relation, column):
        return None
    return str(item.args["alias"].this if isinstance(item, exp.Alias) else column.this.this)


def _chosen(node: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
    """The condition and the result of a CASE or an IF that gives NULL otherwise."""
    if isinstance(node, exp.Case) and node.this is None and len(node.args["ifs"]) == 1:
        otherwise, (branch,) = node.args.get("default"), node.args["ifs"]
    elif isinstance(node, exp.If):
        otherwise, branch = node.args.get("false"), node
    else:
        return None
    is_null = otherwise is None or isinstance(otherwise, exp.Null)
    return (branch.this, branch.args["true"]) if is_null else None


def _is_id(reading: Reading, relation: Relation, node: exp.Expr) -> bool:
    if not isinstance(node, exp.Column) or isinstance(node.this, exp.Star):
        return False
    written, quoted = str(node.this.this), bool(node.this.args.get("quoted"))
    if not matching(relation.people, written, quoted=quoted):
        return False
    if node.args.get("table") is not None:
        behind(reading, relation, node)  # an error if nothing is called like that
        return str(node.args["table"].this).casefold() in relation.carriers
    lookups = {name for name in relation.tables if name not in relation.carriers}
    others = [name for name in lookups if matching(relation.tables[name], written, quoted=False)]
    if others:
        ways = " or ".join(f"{name}.{written}" for name in (*relation.carriers, *others))
        raise reading.error(
            node, f"several tables have a column {echo(written)!r}; write {echo(ways)}"
        )
    return True
