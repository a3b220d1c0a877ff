"""What a view may be made of: nodes and their arguments, and advice for everything else.

Privacy: Every function here looks at the values of one row and gives the same whenever it is asked;
aggregates look at the rows of a group, whatever their order, and `grouping` says which groups. What
is not in the table is refused: what else looks at several rows (windows, LIMIT, subqueries) would
let one row change others, and what looks elsewhere (clocks, random numbers, sequences, settings,
files) would make a table of its own each time.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from eke.errors import SqlError
from eke.privacy.view import Dialect
from eke.sql import vocabulary
from eke.sql.guard import SqlToken
from eke.sql.place import SqlText, echo

_OPERANDS = frozenset({"this", "expression"})
_THIS = frozenset({"this"})
MOST_LEVELS = 80

_BINARY = (
    *(exp.And, exp.Or, exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Is),
    *(exp.NullSafeEQ, exp.NullSafeNEQ, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod),
)
_UNARY = (
    *(exp.Not, exp.Neg, exp.Paren, exp.Where, exp.From, exp.Table, exp.Literal, exp.Boolean),
    *(exp.Sqrt, exp.Ln, exp.Exp, exp.Hour, exp.Minute, exp.Second, exp.DataTypeParam),
)
AGGREGATES = (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.LogicalOr, exp.LogicalAnd)
"""What a view may make of the rows of a group."""
_SCALARS = {node: vocabulary.NODES[node] for node in vocabulary.ARGUMENTS}
_DATES = (*vocabulary.DATE_PARTS, *vocabulary.WORDS)

ALLOWED: dict[type[exp.Expr], frozenset[str]] = {
    **_SCALARS,
    **{node: vocabulary.NODES[node] for node in _DATES},
    **dict.fromkeys(_BINARY, _OPERANDS),
    **dict.fromkeys(_UNARY, _THIS),
    **dict.fromkeys(AGGREGATES, _THIS),
    exp.Null: frozenset(),
    exp.Star: frozenset(),
    exp.Distinct: frozenset({"expressions"}),
    exp.Filter: _OPERANDS,
    exp.Group: frozenset({"expressions"}),
    exp.Having: _THIS,
    exp.Union: frozenset({"this", "expression"}),
    exp.Select: frozenset(
        {"expressions", "distinct", "from_", "joins", "where", "group", "having"}
    ),
    exp.Join: frozenset({"this", "on", "using", "side", "kind"}),
    exp.Table: frozenset({"this", "db", "alias"}),
    exp.TableAlias: _THIS,
    exp.Alias: frozenset({"this", "alias"}),
    exp.Column: frozenset({"this", "table"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.In: frozenset({"this", "expressions"}),
    exp.Like: frozenset({"this", "expression", "negate"}),
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.DataType: frozenset({"this", "expressions"}),
    exp.DateFromParts: frozenset({"year", "month", "day"}),
    exp.DateDiff: frozenset({"this", "expression", "unit"}),
    exp.SplitPart: frozenset({"this", "delimiter", "part_index"}),
    exp.Anonymous: frozenset({"this", "expressions"}),
}
_REMARKS = {
    **vocabulary.REMARKS,
    exp.Count: frozenset({"big_int"}),
    exp.Div: frozenset({"typed", "safe"}),
    exp.DateDiff: frozenset({"date_part_boundary"}),
    exp.Union: frozenset({"distinct"}),  # False, or it is refused below
}
_WORDS = {**vocabulary.WORDS, exp.DateDiff: "unit"}
_FUNCTIONS = frozenset({"make_date"})  # which sqlglot has no node for in some dialects
_TYPES = frozenset(
    (
        *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "INT128", "FLOAT", "DOUBLE"),
        *("DECIMAL", "VARCHAR", "TEXT", "CHAR", "DATE", "TIME", "TIMESTAMP", "TIMESTAMPNTZ"),
    )
)
_MOMENTS = ("now", "today", "tomorrow", "yesterday")

_SEVERAL = (
    "looks at several rows, so that one row could change others; a view is made row by row, or "
    "with GROUP BY the id. Protect the rows themselves, and let analysts ask for"
)
_WHENEVER = "a view is the same whenever it is read; leave it out, or write the value itself"
PLACES = (
    "a view reads named tables only; write FROM and a name, and say where that table is with "
    "tables={name: place}, or --table NAME=PLACE"
)
INNER_OR_LEFT = "write JOIN or LEFT JOIN … ON a.x = b.x instead"

_NODES: dict[str, tuple[str, str]] = {
    "Distinct": ("DISTINCT", "write SELECT DISTINCT or COUNT(DISTINCT x); other uses say nothing"),
    "Window": ("OVER", f"a window function {_SEVERAL} counts"),
    "Subquery": ("", "a SELECT within a view is not supported; join the tables themselves"),
    "With": ("WITH", "WITH is not supported in a view; join the tables themselves"),
    "Exists": ("EXISTS", "EXISTS is not supported in a view; join the tables themselves"),
    "Except": ("EXCEPT", f"EXCEPT {_SEVERAL} counts; write a condition after WHERE"),
    "Intersect": ("INTERSECT", f"INTERSECT {_SEVERAL} counts; write a condition after WHERE"),
    "Star": ("*", "name the columns of the view one by one: they are what can be asked about"),
    "ReadCSV": ("READ_CSV", PLACES),
    "ReadParquet": ("READ_PARQUET", PLACES),
    "Values": ("VALUES", PLACES),
    "Lateral": ("LATERAL", PLACES),
    **dict.fromkeys(
        ("Rollup", "Cube", "GroupingSets"),
        ("GROUP", "a view groups by expressions: GROUP BY a, b; write these, the id among them"),
    ),
    **dict.fromkeys(("Rand", "Randn", "Uuid"), ("", f"random numbers: {_WHENEVER}")),
    **dict.fromkeys(
        (
            *("CurrentDate", "CurrentTimestamp", "CurrentTime", "CurrentDatetime"),
            *("Localtime", "Localtimestamp", "CurrentUser", "SessionUser", "CurrentSchema"),
        ),
        ("", f"the clock and the user: {_WHENEVER}"),
    ),
}
_ARGUMENTS: dict[tuple[str, str], tuple[str, str]] = {
    **dict.fromkeys([("Group", "all"), ("Group", "totals")], _NODES["Rollup"]),
    **dict.fromkeys(
        [(name, key) for name in ("Max", "Min") for key in ("expressions", "count")],
        ("", "MIN and MAX take one column in a view; write LEAST or GREATEST within a row"),
    ),
    ("Distinct", "on"): ("DISTINCT", f"DISTINCT ON {_SEVERAL} groups"),
    ("Select", "qualify"): ("QUALIFY", f"QUALIFY {_SEVERAL} counts"),
    ("Select", "windows"): ("WINDOW", f"WINDOW {_SEVERAL} counts"),
    ("Select", "order"): ("ORDER", "rows of a protected table have no order; leave ORDER BY out"),
    ("Union", "order"): ("ORDER", "rows of a protected table have no order; leave ORDER BY out"),
    ("Select", "limit"): ("LIMIT", f"LIMIT {_SEVERAL} counts"),
    ("Union", "limit"): ("LIMIT", f"LIMIT {_SEVERAL} counts"),
    ("Select", "offset"): ("OFFSET", f"OFFSET {_SEVERAL} counts"),
    ("Union", "offset"): ("OFFSET", f"OFFSET {_SEVERAL} counts"),
    ("Select", "sample"): ("SAMPLE", f"a sample {_SEVERAL} counts"),
    ("Table", "sample"): ("TABLESAMPLE", f"a sample {_SEVERAL} counts"),
    ("Select", "with_"): _NODES["With"],
    ("Union", "with_"): _NODES["With"],
    ("Union", "by_name"): ("NAME", "UNION ALL BY NAME is not supported; list the same columns"),
    ("Join", "method"): ("", f"this kind of join is not supported; {INNER_OR_LEFT}"),
    ("Table", "joins"): ("JOIN", f"joins in parentheses are not supported; {INNER_OR_LEFT}"),
    ("Table", "catalog"): ("", "a table is named as table or schema.table; leave the rest out"),
    ("In", "query"): ("", "a SELECT within a condition is not supported; join the table"),
    ("TableAlias", "columns"): ("", "columns are renamed with AS after SELECT"),
}


def check_nodes(text: SqlText, root: exp.Expr, tokens: tuple[SqlToken, ...]) -> None:
    """Raise unless a tree is made of nodes that a view may have."""
    waiting = [(root, 0)]
    while waiting:
        node, level = waiting.pop()
        allowed = ALLOWED.get(type(node))
        if allowed is None or not _is_known(node):
            raise _refused(text, node, tokens, *_node_advice(node))
        for key, value in node.args.items():
            if value and key not in allowed and key not in _REMARKS.get(type(node), ()):
                inner = value[0] if isinstance(value, list) else value
                place = inner if isinstance(inner, exp.Expr) else node
                raise _refused(text, place, tokens, *_argument_advice(node, key))
        _check_meaning(text, node, tokens)
        if level > MOST_LEVELS:
            raise text.error(node, f"more than {MOST_LEVELS} levels; write the view flatter")
        chain = isinstance(node, (exp.And, exp.Or, exp.Add, exp.Sub, exp.Mul, exp.Union))
        deeper = [(child, 0 if chain and child is node.this else 1) for child in _children(node)]
        waiting += [(child, level + more) for child, more in deeper]


def check_dialect(text: SqlText, root: exp.Expr, dialect: Dialect) -> None:
    """Raise where the engine of a view has no such thing."""
    tried = root.find(exp.TryCast) if dialect == "postgres" else None
    if tried is not None:
        raise text.error(
            tried,
            "PostgreSQL has no TRY_CAST; write CASE WHEN a ~ … THEN a::integer END in a view of "
            "the server, or CAST if every row can be cast",
        )


def _check_meaning(text: SqlText, node: exp.Expr, tokens: tuple[SqlToken, ...]) -> None:
    if isinstance(node, exp.Union) and node.args.get("distinct") is not False:
        raise _refused(text, node, tokens, "UNION", f"UNION {_SEVERAL} counts; write UNION ALL")
    if isinstance(node, exp.Literal) and node.is_string and node.this.strip().lower() in _MOMENTS:
        raise text.error(node, f"{node.this!r} may mean a moment that passes; {_WHENEVER}")
    if isinstance(node, exp.DataType) and node.this.name not in _TYPES:
        raise text.error(
            node.parent or node,
            "a view casts to whole numbers, DOUBLE, DECIMAL, BOOLEAN, VARCHAR, DATE, TIME or "
            "TIMESTAMP; write one of these",
        )


def _is_known(node: exp.Expr) -> bool:
    if isinstance(node, exp.Anonymous):
        return str(node.this).lower() in _FUNCTIONS
    if isinstance(node, exp.Column):
        return not isinstance(node.this, exp.Star)
    if isinstance(node, exp.Star):
        return isinstance(node.parent, exp.Count)
    if isinstance(node, exp.Distinct):
        counted = isinstance(node.parent, exp.Count) and len(node.expressions) == 1
        return counted or isinstance(node.parent, exp.Select)
    if isinstance(node, exp.Filter):
        return isinstance(node.this, AGGREGATES)
    return not isinstance(node, exp.Interval) or isinstance(node.parent, (exp.Add, exp.Sub))


def _children(node: exp.Expr) -> Iterator[exp.Expr]:
    for key, value in node.args.items():
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, exp.Var) and _WORDS.get(type(node)) == key:
                continue
            if isinstance(child, exp.Expr):
                yield child


def _node_advice(node: exp.Expr) -> tuple[str, str]:
    name = type(node).__name__
    if name == "Column":
        return _NODES["Star"]
    if name in _NODES:
        return _NODES[name]
    if isinstance(node.parent, exp.Table):
        return "", PLACES
    if isinstance(node, exp.AggFunc):
        called = node.sql_name()
        return called, (
            f"{called} is not among the aggregates of a view, which are COUNT, SUM, AVG, MIN, MAX, "
            "BOOL_AND and BOOL_OR, with GROUP BY the id; use one of these, or protect the rows "
            "themselves and let analysts ask for it"
        )
    called = echo(str(node.this)) if isinstance(node, exp.Anonymous) else _called(node)
    return called.upper(), (
        f"{called} is not among the functions that a view may use: those of docs/reference/sql.md, "
        "make_date, date_diff, split_part, sqrt, ln and exp; write the view with these"
    )


def _argument_advice(node: exp.Expr, key: str) -> tuple[str, str]:
    known = _ARGUMENTS.get((type(node).__name__, key))
    word = key.strip("_").replace("_", " ").upper()
    return known or (word, f"{word} is not supported in a view; leave it out")


def _called(node: exp.Expr) -> str:
    return node.sql_name() if isinstance(node, exp.Func) else type(node).__name__.upper()


def _refused(
    text: SqlText, node: exp.Expr, tokens: tuple[SqlToken, ...], keyword: str, message: str
) -> SqlError:
    at = next((token.start for token in tokens if keyword and token.says(keyword)), None)
    return text.error(node if at is None else at, message)
