"""Grouping sets: the tables that one SQL text asks for at once, to be released together.

    SELECT sex, race, COUNT(*) FROM adult GROUP BY CUBE (sex, race)

Only counts of all records: what is planned is whole marginals. `reader` asks for the same groupings
of whatever can be asked.
"""

from __future__ import annotations

from sqlglot import exp

from eke.domain import Domain
from eke.errors import SqlError
from eke.sql.groupings import KeySets
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
    sets = KeySets(sql, lambda part: _name(sql, domain, part), MOST_SETS).of(group)
    return list(dict.fromkeys(domain.in_order(set(names)) for names in sets))


def _check_selected(text: SqlText, select: exp.Select) -> None:
    for item in select.expressions:
        bare = item.this if isinstance(item, exp.Alias) else item
        counts = isinstance(bare, exp.Count) and isinstance(bare.this, exp.Star)
        if not (counts or isinstance(bare, exp.Column)):
            raise text.error(item, f"released tables are counts of records; {_EXAMPLE}")


def _name(text: SqlText, domain: Domain, part: exp.Expr) -> str:
    """The attribute that a column is."""
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
    return name
