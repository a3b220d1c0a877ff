"""Tree: the syntax tree of a text, made of nothing but allow-listed nodes.

sqlglot reads far more than eke answers, so the tree is compared with a table of node types and of
the arguments each may carry. What is not in the table is refused by name: a construct that
sqlglot learns tomorrow is refused until somebody decides what it means here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from sqlglot import exp
from sqlglot.errors import SqlglotError

from eke.errors import SqlError
from eke.sql import vocabulary
from eke.sql.guard import SqlToken
from eke.sql.parser import DIALECT, TooTangled, trees_of
from eke.sql.place import SqlText, echo
from eke.sql.refusal import argument_advice, node_advice

MOST_LEVELS = 80
"""Levels of the tree; what a chain of ANDs or sums adds on its left side does not count."""

_LONGEST_NAME = 100
_MOST_NODES = 60
_EXAMPLE = "A question looks like SELECT sex, COUNT(*) FROM t WHERE age > 30 GROUP BY sex"
_OPERANDS = frozenset({"this", "expression"})
_AGGREGATE = frozenset({"this", "big_int"})

SET_OPERATIONS: tuple[type[exp.Expr], ...] = (exp.Union, exp.Intersect, exp.Except)

ALLOWED: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset(
        (
            *("expressions", "from_", "joins", "where", "group", "having", "order", "limit"),
            *("offset", "with_", "windows", "qualify"),
        )
    ),
    **dict.fromkeys(
        SET_OPERATIONS,
        frozenset({"this", "expression", "distinct", "order", "limit", "offset", "with_"}),
    ),
    exp.Join: frozenset({"this", "on", "using", "side", "kind", "method"}),
    exp.With: frozenset({"expressions"}),
    exp.CTE: frozenset({"this", "alias"}),
    exp.TableAlias: frozenset({"this"}),
    exp.From: frozenset({"this"}),
    exp.Table: frozenset({"this", "alias"}),
    exp.Subquery: frozenset({"this", "alias"}),
    exp.Where: frozenset({"this"}),
    exp.Group: frozenset({"expressions", "rollup", "cube"}),
    exp.Rollup: frozenset({"expressions"}),
    exp.Cube: frozenset({"expressions"}),
    exp.GroupingSets: frozenset({"expressions"}),
    exp.Tuple: frozenset({"expressions"}),  # of keys only
    exp.Grouping: frozenset({"expressions"}),
    exp.GroupingId: frozenset({"expressions"}),
    exp.Having: frozenset({"this"}),
    exp.Order: frozenset({"expressions"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.Limit: frozenset({"expression"}),
    exp.Fetch: frozenset({"direction", "count", "limit_options"}),
    exp.LimitOptions: frozenset({"rows"}),
    exp.Offset: frozenset({"expression"}),
    exp.Alias: frozenset({"this", "alias"}),
    exp.Column: frozenset({"this", "table"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Star: frozenset(),
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Boolean: frozenset({"this"}),
    exp.Null: frozenset(),
    exp.Paren: frozenset({"this"}),
    exp.And: _OPERANDS,
    exp.Or: _OPERANDS,
    exp.Not: frozenset({"this"}),
    exp.EQ: _OPERANDS,
    exp.NEQ: _OPERANDS,
    exp.LT: _OPERANDS,
    exp.LTE: _OPERANDS,
    exp.GT: _OPERANDS,
    exp.GTE: _OPERANDS,
    exp.Between: frozenset({"this", "low", "high"}),
    exp.In: frozenset({"this", "expressions"}),
    exp.Is: _OPERANDS,
    exp.Like: frozenset({"this", "expression", "negate"}),
    exp.Add: _OPERANDS,
    exp.Sub: _OPERANDS,
    exp.Mul: _OPERANDS,
    exp.Div: _OPERANDS,
    exp.Neg: frozenset({"this"}),
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.Filter: _OPERANDS,
    exp.Count: _AGGREGATE,
    exp.Sum: _AGGREGATE,
    exp.Avg: _AGGREGATE,
    exp.Variance: _AGGREGATE,
    exp.VariancePop: _AGGREGATE,
    exp.Stddev: _AGGREGATE,
    exp.StddevPop: _AGGREGATE,
    exp.StddevSamp: _AGGREGATE,
    exp.Sqrt: frozenset({"this"}),
    **vocabulary.NODES,
}
# How sqlglot was told to divide; eke divides as DuckDB does.
_REMARKS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Div: frozenset({"typed", "safe"}),
    **vocabulary.REMARKS,
}

# What sqlglot is content to do without, but a question is not.
_NEEDED: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Select: ("expressions",),
    exp.With: ("expressions",),
    exp.CTE: ("this", "alias"),
    exp.Group: ("expressions",),
    exp.Order: ("expressions",),
    exp.Ordered: ("this",),
    exp.Limit: ("expression",),
    exp.Offset: ("expression",),
    exp.Alias: ("this", "alias"),
    exp.Between: ("this", "low", "high"),
    exp.In: ("this", "expressions"),
    exp.Case: ("ifs",),
    exp.Filter: ("this", "expression"),
    **vocabulary.NEEDED,
    **dict.fromkeys((exp.Where, exp.Having, exp.From, exp.Paren, exp.Not, exp.Neg), ("this",)),
    **dict.fromkeys((exp.And, exp.Or, exp.EQ, exp.NEQ, exp.LT), ("this", "expression")),
    **dict.fromkeys((exp.LTE, exp.GT, exp.GTE, exp.Is, exp.Like), ("this", "expression")),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div), ("this", "expression")),
}

_KEY_LISTS = (exp.Rollup, exp.Cube, exp.GroupingSets, exp.Tuple)
_SPINES: tuple[tuple[type[exp.Expr], ...], ...] = (
    (exp.And,),
    (exp.Or,),
    (exp.Add, exp.Sub),
    (exp.Mul, exp.Div),
    SET_OPERATIONS,
)


def parsed(
    text: SqlText,
    cleaned: str,
    tokens: tuple[SqlToken, ...],
    allowed: Mapping[type[exp.Expr], frozenset[str]] = ALLOWED,
) -> exp.Select:
    """The tree of one SELECT made of allow-listed nodes and arguments."""
    tree = checked_tree(text, cleaned, tokens, allowed)
    if not isinstance(tree, exp.Select):
        raise text.error(0, "write one SELECT, such as SELECT COUNT(*) FROM …")
    return tree


def checked_tree(
    text: SqlText,
    cleaned: str,
    tokens: tuple[SqlToken, ...],
    allowed: Mapping[type[exp.Expr], frozenset[str]] = ALLOWED,
) -> exp.Expr:
    """The tree of one statement made of allow-listed nodes and arguments."""
    tree = tree_of(text, cleaned)
    _check_nodes(text, tree, tokens, allowed)
    return tree


def tree_of(
    text: SqlText, cleaned: str, dialect: str = DIALECT, *, example: str = _EXAMPLE
) -> exp.Expr:
    """The tree of one statement, of whatever nodes the parser makes of it.

    What cannot be read is told beside an example of what can.
    """
    try:
        trees = trees_of(cleaned, dialect)
    except SqlglotError as problem:
        raise _unreadable(text, problem, example) from None
    except TooTangled:
        raise text.error(
            0,
            "the text can be read in too many ways; write a shorter question, and its own USING "
            "(…) or ON after each JOIN",
        ) from None
    except Exception as problem:  # noqa: BLE001 - whatever the parser does, the asker gets our error
        raise text.error(
            0,
            f"the text cannot be read ({type(problem).__name__}); write it with fewer levels and "
            "only with SELECT, WHERE, GROUP BY and the like",
        ) from None
    if len(trees) != 1 or trees[0] is None:
        raise text.error(0, "one statement at a time; write a single SELECT")
    return trees[0]


def left_chain(node: exp.Expr) -> tuple[exp.Expr, list[tuple[type[exp.Expr], exp.Expr]]]:
    """The first operand of a chain such as a + b - c, and the others with their operators.

    Chains lean to the left and may be thousands of operands long, so they are unrolled, never
    walked by recursion.
    """
    spine = next((family for family in _SPINES if isinstance(node, family)), ())
    rest: list[tuple[type[exp.Expr], exp.Expr]] = []
    while isinstance(node, spine):
        rest.append((type(node), node.args["expression"]))
        node = node.this
    return node, rest[::-1]


def name_of(node: exp.Expr, otherwise: str) -> str:
    """The name of a column of the result that nobody named: its own text if it is short."""
    if isinstance(node, exp.Column):
        return str(node.this.this)
    if len(list(islice(node.walk(), _MOST_NODES + 1))) > _MOST_NODES:
        return otherwise
    return node.sql(dialect=DIALECT)[:_LONGEST_NAME]


def _unreadable(text: SqlText, problem: SqlglotError, example: str) -> SqlError:
    details = getattr(problem, "errors", None) or [{}]
    line, column = details[0].get("line"), details[0].get("col")
    if line is None or column is None:
        return text.error(0, "the text cannot be read; check quotation marks and parentheses")
    highlight = str(details[0].get("highlight") or "")
    near = f" near {echo(highlight)!r}" if highlight.strip() else " at its end"
    lines = text.characters.split("\n")
    before = sum(len(one) + 1 for one in lines[: int(line) - 1])
    # The parser counts columns at the end of a token.
    offset = min(max(before + int(column) - max(len(highlight), 1), 0), len(text.characters))
    return text.error(
        offset,
        f"the text cannot be read{near}; check the words and commas around it. " + example,
    )


def _check_nodes(
    text: SqlText,
    root: exp.Expr,
    tokens: tuple[SqlToken, ...],
    nodes: Mapping[type[exp.Expr], frozenset[str]] = ALLOWED,
) -> None:
    waiting = [(root, 0)]
    while waiting:
        node, level = waiting.pop()
        allowed = nodes.get(type(node))
        if allowed is None or not _is_known(node):
            raise _refused(text, node, tokens, *node_advice(node))
        for key, value in node.args.items():
            remark = key in _REMARKS.get(type(node), ())
            if value and key not in allowed and not remark:
                inner = value[0] if isinstance(value, list) else value
                place = inner if isinstance(inner, exp.Expr) else node
                raise _refused(text, place, tokens, *argument_advice(node, key))
        if any(not node.args.get(key) for key in _NEEDED.get(type(node), ())):
            raise text.error(
                node, f"{type(node).__name__.upper()} lacks something; check what stands after it"
            )
        if level > MOST_LEVELS:
            raise text.error(node, f"more than {MOST_LEVELS} levels; write the question flatter")
        waiting += [(child, level + deeper) for child, deeper in _children(node)]


def _is_known(node: exp.Expr) -> bool:
    """False for uses of a node that no rule is about."""
    if isinstance(node, exp.Anonymous):
        part = vocabulary.NAMED_PARTS.get(str(node.this).lower())
        given = node.args["expressions"]
        named = len(given) == 2 and isinstance(given[0], exp.Literal)
        return part is not None and (len(given) == 1 if part else named)
    if isinstance(node, exp.Distinct):
        return isinstance(node.parent, exp.Count)
    if isinstance(node, exp.Tuple):
        return isinstance(node.parent, (exp.Group, *_KEY_LISTS))
    return not isinstance(node, exp.Interval) or isinstance(node.parent, (exp.Add, exp.Sub))


def _children(node: exp.Expr) -> Iterator[tuple[exp.Expr, int]]:
    spine = next((family for family in _SPINES if isinstance(node, family)), ())
    for key, value in node.args.items():
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, exp.Var) and vocabulary.WORDS.get(type(node)) == key:
                continue
            if isinstance(child, exp.Expr):
                yield child, 0 if key == "this" and isinstance(child, spine) else 1


def _refused(
    text: SqlText, node: exp.Expr, tokens: tuple[SqlToken, ...], keyword: str, message: str
) -> SqlError:
    """The refusal of a construct, at its keyword if that is in the text, else where it is seen."""
    at = next((token.start for token in tokens if token.says(keyword)), None)
    return text.error(node if at is None else at, message)
