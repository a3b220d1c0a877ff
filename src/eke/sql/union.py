"""Unions: UNION, INTERSECT and EXCEPT between the noisy results of several SELECTs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from sqlglot import exp

from eke.errors import QueryError
from eke.question.combination import Combination, Word
from eke.question.outcome import Ordering
from eke.question.question import Column, Question
from eke.question.united import united
from eke.sql.grouping import MOST_GROUPS
from eke.sql.noisy import check_order, ordering_of, whole_number
from eke.sql.place import echo
from eke.sql.scope import matching
from eke.sql.tree import SET_OPERATIONS
from eke.sql.value import Reading

MOST_BRANCHES = 32
_WORDS: dict[type[exp.Expr], Word] = {
    exp.Union: "union",
    exp.Intersect: "intersect",
    exp.Except: "except",
}
_AT_THE_END = (
    "WITH stands before all SELECTs, and ORDER BY, LIMIT and OFFSET, which act on the rows of all, "
    "after them; write each once"
)


def union_of(reading: Reading, root: exp.Expr, read: Callable[[exp.Select], Question]) -> Question:
    """The question that several SELECTs ask together; `read` says what each of them asks."""
    branches: list[exp.Select] = []
    if len(list(root.find_all(*SET_OPERATIONS))) >= MOST_BRANCHES:
        raise reading.error(
            root, f"at most {MOST_BRANCHES} SELECTs fit in one statement; ask for fewer at a time"
        )
    combination = _operation(reading, root, branches)
    questions = [read(select) for select in branches]
    if any(question.ranks for question in questions):
        raise reading.error(root, "RANK ranks the rows of one SELECT; ask for it without UNION")
    rows = sum(question.rows for question in questions)
    if rows > MOST_GROUPS:
        raise reading.error(
            root,
            f"there are {rows:,} rows and at most {MOST_GROUPS:,} are made; group by fewer or "
            "coarser keys",
        )
    try:
        whole = united(questions, combination)
    except QueryError as problem:
        raise reading.error(root, str(problem)) from None
    return replace(
        whole,
        order_by=_order_by(reading, root.args.get("order"), whole.columns),
        limit=whole_number(reading, root.args.get("limit")),
        offset=whole_number(reading, root.args.get("offset")) or 0,
    )


def unwrapped(node: exp.Expr) -> exp.Expr:
    """What stands within parentheses."""
    while isinstance(node, exp.Subquery) and node.args.get("alias") is None:
        node = node.this
    return node


def _operation(reading: Reading, node: exp.Expr, branches: list[exp.Select]) -> Combination:
    """How the rows of branches are combined, which are collected on the way."""
    if type(node) not in _WORDS:
        raise reading.error(node, "a question is a SELECT; write SELECT COUNT(*) FROM …")
    left, right = (
        _operand(reading, unwrapped(part), branches)
        for part in (node.this, node.args["expression"])
    )
    return Combination(_WORDS[type(node)], not node.args.get("distinct"), left, right)


def _operand(reading: Reading, node: exp.Expr, branches: list[exp.Select]) -> Combination | int:
    for clause in ("order", "limit", "offset", "with_"):
        if node.args.get(clause) is not None:
            raise reading.error(node.args[clause], _AT_THE_END)
    if not isinstance(node, exp.Select):
        return _operation(reading, node, branches)
    branches.append(node)
    return len(branches) - 1


def _order_by(
    reading: Reading, clause: exp.Expr | None, columns: Sequence[Column]
) -> tuple[Ordering, ...]:
    """The criteria of ORDER BY, which names columns of the result or counts them."""
    names = [column.name for column in columns]
    orderings = []
    for item in clause.args["expressions"] if clause is not None else ():
        node, place = item.this, None
        if isinstance(node, exp.Column) and node.args.get("table") is None:
            quoted = bool(node.this.args.get("quoted"))
            named = matching(names, str(node.this.this), quoted=quoted)
            place = names.index(named) if named else None
        elif isinstance(node, exp.Literal) and str(node.this).isdecimal():
            place = int(str(node.this)[:6]) - 1
        if place is None or not 0 <= place < len(columns):
            raise reading.error(
                node,
                "after UNION and its like, ORDER BY names columns of the first SELECT, or counts "
                f"them from 1; they are {echo(', '.join(names))}",
            )
        check_order(reading, node, columns[place].finishes)
        orderings.append(ordering_of(item, columns[place].finished))
    return tuple(orderings)
