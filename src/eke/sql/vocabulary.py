"""Vocabulary: the functions of a record's values, with their arguments in the order of reading.

The allow list of `tree` takes these nodes, `scalar` reads their arguments, and `functions` says
what each of them means.
"""

from __future__ import annotations

from typing import Literal

from sqlglot import exp

from eke.sql.chosen import CALLS, ChosenMedian, ChosenQuantile

_ONE = ("this",)
_TWO = ("this", "expression")
_MANY = ("this", "expressions")

ARGUMENTS: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Coalesce: _MANY,
    exp.Nullif: _TWO,
    exp.Least: _MANY,
    exp.Greatest: _MANY,
    exp.If: ("this", "true", "false"),
    exp.Abs: _ONE,
    exp.Sign: _ONE,
    exp.Floor: _ONE,
    exp.Ceil: _ONE,
    exp.Round: ("this", "decimals"),
    exp.Trunc: ("this", "decimals"),
    exp.Mod: _TWO,
    exp.Pow: _TWO,
    exp.WidthBucket: ("this", "min_value", "max_value", "num_buckets"),
    exp.Cast: _ONE,
    exp.TryCast: _ONE,
    exp.DPipe: _TWO,
    exp.Concat: ("expressions",),
    exp.Upper: _ONE,
    exp.Lower: _ONE,
    exp.Length: _ONE,
    exp.Substring: ("this", "start", "length"),
    exp.Left: _TWO,
    exp.Right: _TWO,
    exp.Trim: _TWO,
    exp.Replace: ("this", "expression", "replacement"),
    exp.ILike: _TWO,
    exp.StartsWith: _TWO,
    exp.EndsWith: _TWO,
    exp.Contains: _TWO,
    exp.RegexpLike: ("this", "expression", "flag"),
    exp.RegexpFullMatch: _TWO,
    exp.SimilarTo: _TWO,
}
"""The arguments that are expressions over a record; those that may be left out come last."""

PAIRS: tuple[type[exp.Expr], ...] = (
    *(exp.Corr, exp.CovarPop, exp.CovarSamp),
    *(exp.RegrSlope, exp.RegrIntercept, exp.RegrR2, exp.RegrCount),
)
"""Aggregates of two expressions."""

QUANTILES: dict[type[exp.Expr], frozenset[str]] = {
    exp.Median: frozenset(("this",)),
    exp.Quantile: frozenset(("this", "quantile")),
    exp.ApproxQuantile: frozenset(("this", "quantile")),
    exp.PercentileCont: frozenset(_TWO),
    exp.PercentileDisc: frozenset(_TWO),
    exp.WithinGroup: frozenset(_TWO),
    ChosenMedian: frozenset(("this",)),
    ChosenQuantile: frozenset(("this", "quantile")),
}
"""Quantiles, with what each may carry."""

DATE_PARTS: dict[type[exp.Expr], str] = {
    exp.Year: "year",
    exp.Quarter: "quarter",
    exp.Month: "month",
    exp.Week: "week",
    exp.WeekOfYear: "week",
    exp.Day: "day",
    exp.DayOfMonth: "day",
    exp.DayOfWeek: "dow",
    exp.DayOfWeekIso: "isodow",
    exp.DayOfYear: "doy",
    exp.Hour: "hour",
    exp.Minute: "minute",
    exp.Second: "second",
}
"""Functions of a date or a time, and the part of it that they are."""

NAMED_PARTS = {"date_part": "", "datepart": "", "weekday": "dow", "isoyear": "isoyear"}
"""Functions that the parser has no node for; the first two are told the part that is wanted."""

WORDS: dict[type[exp.Expr], str] = {
    exp.Extract: "this",
    exp.TimestampTrunc: "unit",
    exp.DateTrunc: "unit",
    exp.Interval: "unit",
}
"""Arguments that are words and no expressions: the part that is wanted of a date."""

_DATES: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Extract: _TWO,
    exp.TimestampTrunc: ("this", "unit"),
    exp.DateTrunc: ("this", "unit"),
    exp.Interval: ("this", "unit"),
    exp.Anonymous: _MANY,  # those in NAMED_PARTS only
    **dict.fromkeys(DATE_PARTS, _ONE),
}

# What else a node may carry: a type, a word such as LEADING.
_MORE: dict[type[exp.Expr], tuple[str, ...]] = {
    exp.Cast: ("to",),
    exp.TryCast: ("to",),
    exp.Trim: ("position",),
    exp.ILike: ("negate",),
}

RANKS: dict[type[exp.Expr], Literal["rank", "dense_rank", "row_number"]] = {
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
    exp.RowNumber: "row_number",
}
"""Functions of a row's place in an order."""

_WINDOWS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Window: frozenset(("this", "partition_by", "order", "spec", "alias")),
    exp.WindowSpec: frozenset(("kind", "start", "start_side", "end", "end_side")),
    exp.Lag: frozenset(("this", "offset", "default")),
    exp.Lead: frozenset(("this", "offset", "default")),
    exp.FirstValue: frozenset(_ONE),
    exp.LastValue: frozenset(_ONE),
    exp.NthValue: frozenset(("this", "offset")),
    **dict.fromkeys(RANKS, frozenset()),
    exp.Qualify: frozenset(_ONE),
}

NODES: dict[type[exp.Expr], frozenset[str]] = {
    **_WINDOWS,
    **{node: frozenset((*keys, *_MORE.get(node, ()))) for node, keys in ARGUMENTS.items()},
    **dict.fromkeys(PAIRS, frozenset(_TWO)),
    **QUANTILES,
    **{node: frozenset(keys) for node, keys in _DATES.items()},
    exp.CountIf: frozenset(("this", "big_int")),
    exp.DataType: frozenset(("this", "expressions")),
    exp.DataTypeParam: frozenset(("this",)),
}

NEEDED: dict[type[exp.Expr], tuple[str, ...]] = {
    **{node: keys[:1] for node, keys in ARGUMENTS.items()},
    **{node: _TWO for node, keys in ARGUMENTS.items() if keys == _TWO and node is not exp.Trim},
    **dict.fromkeys(PAIRS, _TWO),
    **dict.fromkeys(QUANTILES, _ONE),
    exp.WithinGroup: _TWO,
    **{node: keys for node, keys in _DATES.items() if node is not exp.Anonymous},
    exp.If: ("this", "true"),
    exp.Substring: ("this", "start"),
    exp.Replace: ARGUMENTS[exp.Replace],
    exp.WidthBucket: ARGUMENTS[exp.WidthBucket],
    exp.RegexpLike: _TWO,
    exp.CountIf: _ONE,
    exp.Cast: ("this", "to"),
    exp.TryCast: ("this", "to"),
    exp.Window: _ONE,
    exp.Qualify: _ONE,
    exp.NthValue: ("this", "offset"),
    **dict.fromkeys((exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue), _ONE),
}

# How sqlglot was told to treat NULLs; eke treats them as DuckDB does.
REMARKS: dict[type[exp.Expr], frozenset[str]] = {
    exp.Least: frozenset({"ignore_nulls"}),
    exp.Greatest: frozenset({"ignore_nulls"}),
    exp.DPipe: frozenset({"safe"}),
    exp.Concat: frozenset({"safe", "coalesce"}),
    exp.TryCast: frozenset({"safe"}),
    exp.Window: frozenset({"over"}),
}


AGGREGATE_NAMES = frozenset(
    {name.lower() for name, kind in exp.FUNCTION_BY_NAME.items() if issubclass(kind, exp.AggFunc)}
    | {"quantile_cont", "quantile_disc", "percentile_cont", "percentile_disc"}
    | {name.lower() for name in CALLS}
)
"""The names of SQL's aggregates, also of those that are refused."""


def operands(node: exp.Expr) -> list[exp.Expr]:
    """The expressions that a function of the vocabulary is called with."""
    nodes: list[exp.Expr] = []
    for key in ARGUMENTS[type(node)]:
        value = node.args.get(key)
        nodes += value if isinstance(value, list) else [value] if value is not None else []
    return nodes
