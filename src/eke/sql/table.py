"""Tables: FROM, WITH and subqueries that only project or filter the one protected table.

What is joined with it is in `joining`, which columns it has in `derived`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from sqlglot import exp

from eke.question.logic import both
from eke.sql.joining import joined
from eke.sql.people import passed_on
from eke.sql.place import echo
from eke.sql.scalar import AGGREGATES, condition_of, value_of
from eke.sql.scope import LazyColumns, Relation, Tables, behind, matching, named_column
from eke.sql.value import Reading, Value

Maker = Callable[[], Value]
_ONLY_PROJECTS = (
    "a query after FROM or WITH may only choose columns and filter rows; put GROUP BY, HAVING, "
    "ORDER BY, LIMIT and aggregates into the outer SELECT"
)


def add_common(reading: Reading, tables: Tables, select: exp.Expr) -> None:
    """Make the queries of WITH known by their names, each to those after it."""
    for common in select.args["with_"].expressions if select.args.get("with_") else ():
        name = str(common.args["alias"].this.this)
        if name.casefold() in tables.common:
            raise reading.error(common, f"{echo(name)!r} is defined twice; rename one")
        if not isinstance(common.this, exp.Select):
            raise reading.error(common, _ONLY_PROJECTS)
        tables.common[name.casefold()] = _projected(reading, tables, common.this)


def filtered(reading: Reading, tables: Tables, select: exp.Select) -> Relation:
    """The relation that a SELECT reads, after its WHERE."""
    relation = _source(reading, tables, select)
    for join in select.args.get("joins") or ():
        relation = joined(reading, relation, join, tables.common)
    where = select.args.get("where")
    if where is None:
        return relation
    condition = condition_of(reading, relation, where.this)
    kept = reading.diagrams.joined(both, relation.kept, condition)
    if True not in reading.diagrams.labels(kept):
        raise reading.error(
            where.this,
            "no combination of declared values meets the conditions, so the answer would be 0 "
            "whatever the data; compare them with the declared domain",
        )
    return relation.keeping(kept)


def _source(reading: Reading, tables: Tables, select: exp.Select) -> Relation:
    clause = select.args.get("from_")
    if clause is None:
        raise reading.error(select, "a question is about a table; add FROM and its name")
    source = clause.this
    if isinstance(source, exp.Table):
        return tables.find(reading, source)
    if isinstance(source, exp.Subquery) and isinstance(source.this, exp.Select):
        relation = _projected(reading, tables, source.this)
        alias = source.args.get("alias")
        return relation.called([str(alias.this.this)] if alias and alias.this else [])
    raise reading.error(
        source, "after FROM stands the table, or a SELECT in parentheses that projects or filters"
    )


def _projected(reading: Reading, tables: Tables, select: exp.Select) -> Relation:
    for clause in ("group", "having", "order", "limit", "offset", "with_"):
        if select.args.get(clause) is not None:
            raise reading.error(select.args[clause], _ONLY_PROJECTS)
    relation = filtered(reading, tables, select)
    columns: dict[str, Maker] = {}
    people: set[str] = set()
    for item in select.expressions:
        handed_on = passed_on(reading, relation, item)
        if handed_on is not None:
            people.add(handed_on)
            if not _is_column(relation, item):
                continue
        elif isinstance(item, exp.Star) or isinstance(item.this, exp.Star):
            people |= relation.people
        for name, maker in _items(reading, relation, item).items():
            if name in columns:
                raise reading.error(item, f"two columns are called {echo(name)!r}; rename one")
            columns[name] = maker
    unclear = {name for name in people - relation.people if name in columns}
    if unclear and not unclear <= relation.people:
        raise reading.error(select, f"two columns are called {echo(min(unclear))!r}; rename one")
    return Relation(LazyColumns(columns), relation.kept, people=frozenset(people))


def _is_column(relation: Relation, item: exp.Expr) -> bool:
    """Whether the id is an attribute as well."""
    column = item.this if isinstance(item, exp.Alias) else item
    return matching(relation.columns, str(column.this.this), quoted=False) is not None


def _items(reading: Reading, relation: Relation, item: exp.Expr) -> dict[str, Maker]:
    """The columns that one item of a projecting SELECT stands for, by name."""
    if any(isinstance(one, AGGREGATES) for one in item.walk()):
        raise reading.error(item, _ONLY_PROJECTS)
    if isinstance(item, exp.Star) or isinstance(item.this, exp.Star):
        columns = relation.columns
        if item.args.get("table") is not None:
            columns = behind(reading, relation, item)
        elif relation.ambiguous:
            raise reading.error(
                item,
                f"several of the joined tables have a column {min(relation.ambiguous)!r}; name the "
                "columns",
            )
        return {name: partial(columns.__getitem__, name) for name in columns}
    if isinstance(item, exp.Alias):
        value = value_of(reading, relation, item.this)
        return {str(item.args["alias"].this): lambda: value}
    if isinstance(item, exp.Column):
        columns, name = named_column(reading, relation, item)
        return {name: partial(columns.__getitem__, name)}
    raise reading.error(item, "name this expression: write … AS name")
