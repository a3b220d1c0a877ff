"""Refusals: for constructs that eke does not answer, a sentence that says what to write instead."""

from __future__ import annotations

from sqlglot import exp

from eke.sql.place import echo
from eke.sql.vocabulary import NAMED_PARTS

_ASK = (
    "questions are made of COUNT, SUM, AVG, VARIANCE and STDDEV over one table, with WHERE, CASE, "
    "GROUP BY, HAVING, ORDER BY and LIMIT"
)
_READS = (
    "functions and files are not read from a question; write FROM and the name of the protected "
    "table"
)
_ONE_TABLE = (
    "records are joined with declared lookups only; write FROM, the protected table, and JOIN … "
    "USING (key) with a lookup of the domain"
)
_SUBQUERY = (
    "a query within a condition is not supported; write the condition itself, or put a SELECT "
    "that only projects or filters after FROM"
)
_ONE_RECORD = "is that of a single record, which could change it at will; ask for a"
_EXTREME = (
    "is not a sum over records, so one record could change it at will; ask for counts of ranges, "
    "such as COUNT(*) FILTER (WHERE age >= 65)"
)
_SUM_OF_DISTINCT = (
    "a sum of distinct values is not a sum over records, so one record could change it at will; "
    "group by the column, and add up the keys of groups that have records"
)
_COUNT_DISTINCT = (
    "how many values occur is not a sum over records, and one record may decide it; ask for "
    "COUNT(*) with GROUP BY: groups whose interval lies above 0 surely have records. People are "
    "counted like this where the table protects ids, eke.Unit('id')"
)
_ALL_OR_NONE = (
    "is not a sum over records, so one record could turn it; count those that meet the condition: "
    "COUNT_IF(age >= 65)"
)
_CURVED = (
    "logarithms and exponentials are not supported, for they have no exact values; group by "
    "FLOOR(x / 10) or WIDTH_BUCKET(x, 0, 100, 10), or calculate with the answers"
)
_DATES = (
    "of a date there is EXTRACT(month FROM d), date_trunc('month', d), d + INTERVAL 7 DAY and "
    "d - DATE '2013-01-31'; write one of these"
)
_NOW = (
    "a question means the same whenever it is asked; write the date itself: DATE '2013-01-31', or "
    "TIMESTAMP '2013-01-31 05:00'"
)
_ZONE = "timestamps are told by the clocks of the declared zone; leave AT TIME ZONE out"

# Type name -> (keyword that marks the place, sentence).
_NODES: dict[str, tuple[str, str]] = {
    "Join": ("JOIN", _ONE_TABLE),
    "Distinct": ("DISTINCT", "DISTINCT is not supported; group by the column and count its keys"),
    "Exists": ("EXISTS", _SUBQUERY),
    "Any": ("ANY", _SUBQUERY),
    "All": ("ALL", _SUBQUERY),
    "Tuple": ("", "a list in parentheses is only supported after IN; compare column by column"),
    "Escape": ("ESCAPE", "ESCAPE is not supported; list the values with IN"),
    "NullSafeEQ": ("DISTINCT", "IS NOT DISTINCT FROM is not supported; write = or IS NULL"),
    "NullSafeNEQ": ("DISTINCT", "IS DISTINCT FROM is not supported; write <> or IS NOT NULL"),
    "IntDiv": ("", "whole-number division is not supported; write FLOOR(a / b)"),
    "LogicalAnd": ("BOOL_AND", f"BOOL_AND {_ALL_OR_NONE}"),
    "LogicalOr": ("BOOL_OR", f"BOOL_OR {_ALL_OR_NONE}"),
    "RegexpReplace": ("", "regexp_replace is not supported; write REPLACE, or CASE WHEN"),
    "RegexpExtract": ("", "regexp_extract is not supported; write SUBSTRING, or CASE WHEN"),
    "ConcatWs": ("CONCAT_WS", "CONCAT_WS is not supported; write a || '-' || b"),
    "StrPosition": ("", "places within texts are not supported; write CONTAINS(a, 'b')"),
    "SplitPart": ("SPLIT_PART", "SPLIT_PART is not supported; write CASE WHEN a LIKE 'b-%' THEN …"),
    "Pad": ("", "LPAD and RPAD are not supported; join texts with ||"),
    "Repeat": ("REPEAT", "REPEAT is not supported; join texts with ||"),
    "Reverse": ("REVERSE", "REVERSE is not supported; group by the text as it is"),
    "Initcap": ("INITCAP", "INITCAP is not supported; write UPPER or LOWER"),
    "Ln": ("", _CURVED),
    "Log": ("", _CURVED),
    "Exp": ("", _CURVED),
    "Min": ("MIN", f"MIN {_ONE_RECORD} quantile near the lower end: QUANTILE_DISC(age, 0.001)"),
    "Max": ("MAX", f"MAX {_ONE_RECORD} quantile near the upper end: QUANTILE_DISC(age, 0.999)"),
    "Mode": ("MODE", f"MODE {_EXTREME}"),
    "AnyValue": ("ANY_VALUE", "single records are never shown; ask for a COUNT"),
    "IgnoreNulls": ("", "single records are never shown; ask for a COUNT"),
    "First": ("FIRST", "single records are never shown; ask for a COUNT"),
    "Last": ("LAST", "single records are never shown; ask for a COUNT"),
    "ApproxDistinct": ("", _COUNT_DISTINCT),
    "Lateral": ("LATERAL", _ONE_TABLE),
    "Values": ("VALUES", _READS),
    "ReadCSV": ("", _READS),
    "ReadParquet": ("", _READS),
    "Placeholder": ("", "parameters are not filled in here; write the value itself"),
    "Interval": ("INTERVAL", "an interval is added to a date, as in d + INTERVAL 7 DAY"),
    **dict.fromkeys(("CurrentDate", "CurrentTimestamp", "CurrentTime"), ("", _NOW)),
    **dict.fromkeys(("CurrentDatetime", "Localtime", "Localtimestamp"), ("", _NOW)),
    "AtTimeZone": ("AT", _ZONE),
    **dict.fromkeys(("DateDiff", "DateAdd", "DateSub", "TsOrDsAdd", "Date"), ("", _DATES)),
    **dict.fromkeys(("Dayname", "Monthname", "TimeToStr", "LastDay"), ("", _DATES)),
    **dict.fromkeys(("DateFromParts", "TimestampFromParts", "DateBin"), ("", _DATES)),
    **dict.fromkeys(("TimeToUnix", "TimestampDiff", "TimestampAdd"), ("", _DATES)),
    "Hint": ("", "hints are not supported; remove them"),
    "Var": ("ALL", "ALL is not supported here; name the columns"),
}

# (Type name, argument) -> the same.
_ARGUMENTS: dict[tuple[str, str], tuple[str, str]] = {
    ("Select", "laterals"): ("LATERAL", _ONE_TABLE),
    ("Table", "joins"): ("JOIN", _ONE_TABLE),
    ("Select", "distinct"): _NODES["Distinct"],
    ("Select", "sample"): ("SAMPLE", "samples are not supported: they are as sensitive as records"),
    ("Select", "locks"): ("FOR", "locks are not supported; a question never changes the table"),
    ("Select", "into"): ("INTO", "SELECT INTO is not supported; a question never writes a table"),
    ("Table", "sample"): (
        "TABLESAMPLE",
        "samples are not supported: they are as sensitive as records; leave TABLESAMPLE out",
    ),
    ("Table", "db"): (
        "",
        "the table is named without its schema; write FROM and the table's own name",
    ),
    ("TableAlias", "columns"): ("", "columns are renamed with AS within the SELECT"),
    ("With", "recursive"): ("RECURSIVE", "recursive queries are not supported; leave it out"),
    ("Group", "all"): ("ALL", "GROUP BY ALL is not supported; name the columns"),
    ("Floor", "decimals"): ("FLOOR", "FLOOR has no digits; write FLOOR(10 * x) / 10"),
    ("Ceil", "decimals"): ("CEIL", "CEIL has no digits; write CEIL(10 * x) / 10"),
    ("In", "query"): ("", _SUBQUERY),
    ("In", "unnest"): ("", _SUBQUERY),
    ("In", "field"): ("", "a list after IN stands in parentheses: write IN (1, 2)"),
    ("Between", "symmetric"): ("SYMMETRIC", "BETWEEN SYMMETRIC is not supported; order the ends"),
    ("LimitOptions", "percent"): ("PERCENT", "FETCH takes a whole number of rows; leave it out"),
    ("LimitOptions", "with_ties"): ("TIES", "noisy values have no ties; write FETCH … ROWS ONLY"),
    ("Limit", "limit_options"): ("", "LIMIT takes a whole number of rows"),
    ("Star", "except_"): ("", "EXCLUDE is not supported; name the columns"),
    ("Star", "replace"): ("", "REPLACE is not supported; name the columns"),
    ("Column", "db"): ("", "a column is written as age or alias.age"),
}


def count_distinct(unit: str | None) -> str:
    """The refusal of numbers of different values other than those of the id."""
    if unit is None:
        return _COUNT_DISTINCT
    return (
        f"how many people there are is COUNT(DISTINCT {echo(unit)}); of other columns, how many "
        "values occur is not told, for one record may decide it: ask for COUNT(*) with GROUP BY"
    )


def node_advice(node: exp.Expr) -> tuple[str, str]:
    """(keyword, sentence) for a node that is not allow-listed."""
    name = type(node).__name__
    if isinstance(node, exp.Distinct) and isinstance(node.parent, (exp.Sum, exp.Avg, exp.Count)):
        is_count = isinstance(node.parent, exp.Count)
        return "DISTINCT", _COUNT_DISTINCT if is_count else _SUM_OF_DISTINCT
    if name in _NODES:
        return _NODES[name]
    if isinstance(node, (exp.Anonymous, exp.AnonymousAggFunc)):
        called = echo(str(node.this))
        if called.lower() in ("now", *NAMED_PARTS):
            return called.upper(), _DATES if called.lower() in NAMED_PARTS else _NOW
        if isinstance(node.parent, exp.Table) or called.upper().startswith(
            ("READ_", "GLOB", "SCAN_", "PARQUET_", "SNIFF_")
        ):
            return called.upper(), _READS
        return called.upper(), f"the function {called} is not supported; {_ASK}"
    function = node.sql_name() if isinstance(node, exp.Func) else ""
    what = f"the function {function}" if function else _words(name)
    return function or name.upper(), f"{what} is not supported; {_ASK}"


def argument_advice(node: exp.Expr, key: str) -> tuple[str, str]:
    """(keyword, sentence) for an argument that an allow-listed node may not carry."""
    name = type(node).__name__
    known = _ARGUMENTS.get((name, key))
    if known is not None:
        return known
    word = key.strip("_").replace("_", " ").upper()
    return word, f"{word} with {_words(name)} is not supported; leave it out: {_ASK}"


def _words(name: str) -> str:
    return "".join(f" {c}" if c.isupper() and i else c for i, c in enumerate(name)).upper()
