"""Grouping sets: the tables that one SQL text asks for at once, to be released together.

    SELECT sex, race, COUNT(*) FROM adult GROUP BY CUBE (sex, race)

Only counts of all records: what is planned is whole marginals. CUBE means every subset of its
columns, ROLLUP every prefix, and several of them side by side every combination, as in SQL.
"""

from __future__ import annotations

from itertools import combinations, product

from sqlglot import exp

from eke.domain import Domain
from eke.errors import SqlError
from eke.sql.guard import cleaned, scanned, single_statement
from eke.sql.place import SqlText, echo
from eke.sql.scope import matching
from eke.sql.tree import parsed

MOST_SETS = 100_000
_EXAMPLE = "write SELECT COUNT(*) FROM t GROUP BY CUBE (a, b)"
_ALLOWED: dict[type[exp.Expr], frozenset[str]] = {
    exp.Select: frozenset({"expressions", "from_", "group"}),
    exp.From: frozenset({"this"}),
    exp.Table: frozenset({"this"}),
    exp.Group: frozenset({"expressions", "cube", "rollup", "grouping_sets"}),
    exp.Cube: frozenset({"expressions"}),
    exp.Rollup: frozenset({"expressions"}),
    exp.GroupingSets: frozenset({"expressions"}),
    exp.Tuple: frozenset({"expressions"}),
    exp.Paren: frozenset({"this"}),
    exp.Alias: frozenset({"this", "alias"}),
    exp.Column: frozenset({"this"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Star: frozenset(),
    exp.Count: frozenset({"this", "big_int"}),
}
Names = tuple[str, ...]


def parse_grouping_sets(text: str, domain: Domain) -> list[Names]:
    """The sets of attributes that a text groups by, each once, in the domain's order.

    Privacy: a function of the text and of the public domain.
    """
    if not isinstance(text, str):
        raise SqlError(f"a SQL text is expected, not {type(text).__name__}")
    sql = SqlText(text)
    tokens = single_statement(sql, scanned(sql))
    try:
        select = parsed(sql, cleaned(sql, tokens), tokens, _ALLOWED)
    except SqlError as problem:
        message = f"released tables are counts of all records by columns; {_EXAMPLE}"
        raise SqlError(message, problem.line, problem.column) from None
    except RecursionError:
        raise sql.error(0, "the text is nested too deeply; write it flatter") from None
    if select.args.get("from_") is None:
        raise sql.error(select, f"name the table; {_EXAMPLE}")
    _check_selected(sql, select)
    group = select.args.get("group")
    if group is None:
        raise sql.error(select, f"say by which columns; {_EXAMPLE}")
    factors = [_factor(sql, domain, part) for part in _parts(group)]
    count = 1
    for factor in factors:
        count *= len(factor)
    if count > MOST_SETS:
        raise sql.error(group, f"that makes {count:,} tables and at most {MOST_SETS:,} are planned")
    unions = (domain.in_order({n for one in sets for n in one}) for sets in product(*factors))
    return list(dict.fromkeys(unions))


def _check_selected(text: SqlText, select: exp.Select) -> None:
    for item in select.expressions:
        bare = item.this if isinstance(item, exp.Alias) else item
        counts = isinstance(bare, exp.Count) and isinstance(bare.this, exp.Star)
        if not (counts or isinstance(bare, exp.Column)):
            raise text.error(item, f"released tables are counts of records; {_EXAMPLE}")


def _parts(group: exp.Expr) -> list[exp.Expr]:
    """What stands in GROUP BY, side by side."""
    parts: list[exp.Expr] = list(group.args.get("expressions") or [])
    for kind in ("cube", "rollup", "grouping_sets"):
        parts += group.args.get(kind) or []
    return parts


def _factor(text: SqlText, domain: Domain, part: exp.Expr) -> list[Names]:
    """The sets that one part of GROUP BY stands for."""
    if isinstance(part, exp.Cube):
        columns = [_names(text, domain, one) for one in part.expressions]
        if len(columns) > 16:
            raise text.error(part, "a CUBE of more than 16 columns has too many tables")
        sizes = range(len(columns) + 1)
        return [_joined(chosen) for size in sizes for chosen in combinations(columns, size)]
    if isinstance(part, exp.Rollup):
        columns = [_names(text, domain, one) for one in part.expressions]
        return [_joined(columns[:size]) for size in range(len(columns), -1, -1)]
    if isinstance(part, exp.GroupingSets):
        return [found for one in part.expressions for found in _nested(text, domain, one)]
    return [_names(text, domain, part)]


def _nested(text: SqlText, domain: Domain, part: exp.Expr) -> list[Names]:
    if isinstance(part, (exp.Cube, exp.Rollup, exp.GroupingSets)):
        return _factor(text, domain, part)
    return [_names(text, domain, part)]


def _names(text: SqlText, domain: Domain, part: exp.Expr) -> Names:
    """The attributes of a column or of several in parentheses."""
    while isinstance(part, exp.Paren):
        part = part.this
    if isinstance(part, exp.Tuple):
        return _joined([_names(text, domain, one) for one in part.expressions])
    if not isinstance(part, exp.Column):
        raise text.error(part, f"tables are made by columns; {_EXAMPLE}")
    written = str(part.this.this)
    name = matching(domain.names, written, quoted=bool(part.this.args.get("quoted")))
    if name is None:
        if matching(dict(domain.derived), written, quoted=False):
            raise text.error(
                part, f"{echo(written)!r} is derived; released tables are by attributes alone"
            )
        known = ", ".join(domain.names)
        raise text.error(part, f"there is no column {echo(written)!r}; the columns are {known}")
    return (name,)


def _joined(sets: list[Names] | tuple[Names, ...]) -> Names:
    return tuple(name for names in sets for name in names)
