"""Joins: declared lookups beside the protected table, by all of their keys.

A lookup has one row for each key, so a record finds one row or none: a join never multiplies
records. An inner join is a condition, that the key is in the lookup; a left join is none.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from eke.domain import Lookup
from eke.question.logic import both
from eke.sql.choice import choose
from eke.sql.diagram import Diagram
from eke.sql.lookup import FoundRows, rows_of
from eke.sql.place import echo, suggestion
from eke.sql.scalar import value_of
from eke.sql.scope import LazyColumns, Relation, find_column, matching
from eke.sql.value import Missing, Reading, Value

_DECLARE = "the curator declares public tables under 'lookups' of the domain, with their keys"
_RECORDS = f"records are joined with declared lookups only, never with other records; {_DECLARE}"


def joined(
    reading: Reading, relation: Relation, join: exp.Expr, others: Collection[str]
) -> Relation:
    """A relation with the columns of a lookup beside its own; `others` are names of WITH.

    Privacy: the row of the lookup is a function of the record's own values, and it is one or none;
    so each record still counts in one cell, and all that a join does is to drop some of them.
    """
    _check_kind(reading, join)
    lookup = _lookup(reading, join, others)
    alias = join.this.args.get("alias")
    name = str(alias.this.this) if alias is not None and alias.this else lookup.name
    if name.casefold() in relation.tables:
        raise reading.error(join.this, f"two tables are called {echo(name)!r}; give one an alias")
    using = [str(one.this) for one in join.args.get("using") or ()]
    keys = (
        _using(reading, relation, join, lookup)
        if using
        else _on(reading, relation, join, lookup, name)
    )
    reading.effort.turn_to(join)
    reading.effort.spend(200)
    rows = rows_of(reading, join, lookup, keys)
    has_row = rows.found(reading)
    if has_row is reading.diagrams.false:
        raise reading.error(
            join,
            f"no declared value is a key of {lookup.name!r}, so nothing would be found; compare "
            "both, and their types",
        )
    if join.args.get("side") == "LEFT":
        theirs = _columns(reading, join, rows, keys, has_row)
        return _beside(reading, join, relation, name=name, theirs=theirs, using=using)
    kept = reading.diagrams.joined(both, relation.kept, has_row)
    if True not in reading.diagrams.labels(kept):
        raise reading.error(
            join, f"no record that is left can find a row of {lookup.name!r}; write LEFT JOIN"
        )
    theirs = _columns(reading, join, rows.with_default(), keys, reading.diagrams.true)
    return _beside(reading, join, relation.keeping(kept), name=name, theirs=theirs, using=using)


def looked_up(reading: Reading, columns: LazyColumns, lookup: Lookup) -> LazyColumns:
    """The columns of a lookup whose keys are columns themselves, NULL where it has no row."""

    def value(name: str) -> Value:
        names = [matching(columns, key, quoted=False) for key in lookup.keys]
        keys = [columns[one] for one in names if one]
        return rows_of(reading, exp.Null(), lookup, keys).column(reading, name)

    return LazyColumns({name: partial(value, name) for name in lookup.values})


def _columns(
    reading: Reading, node: exp.Expr, rows: FoundRows, keys: Sequence[Value], has_row: Diagram
) -> LazyColumns:
    """All columns of a joined lookup; its keys are those it was joined by, where it has the row."""

    def key(value: Value) -> Value:
        if has_row is reading.diagrams.true:
            return value
        return choose(reading, node, [(has_row, value)], Missing())

    lookup = rows.lookup
    makers = {name: partial(key, value) for name, value in zip(lookup.keys, keys, strict=True)}
    rest = {name: partial(rows.column, reading, name) for name in lookup.values}
    return LazyColumns(makers | rest)


def _beside(
    reading: Reading,
    join: exp.Expr,
    relation: Relation,
    *,
    name: str,
    theirs: LazyColumns,
    using: Sequence[str],
) -> Relation:
    """Both tables side by side; columns of USING are there once, others of one name are unclear."""
    merged = {one.casefold() for one in using}
    new = [one for one in theirs if one.casefold() not in merged]  # in their order
    before = {one.casefold() for one in relation.columns} | relation.ambiguous
    clash = {one.casefold() for one in new} & before
    if clash and not relation.tables:
        raise reading.error(
            join, f"both have a column {min(clash)!r}; give the query in parentheses a name"
        )
    columns = {
        one: partial(theirs.__getitem__ if one in new else relation.columns.__getitem__, one)
        for one in (*relation.columns, *new)
        if one.casefold() not in clash
    }
    tables = {**relation.tables, name.casefold(): theirs}
    ambiguous = frozenset(relation.ambiguous | clash)
    return replace(relation, columns=LazyColumns(columns), tables=tables, ambiguous=ambiguous)


def _check_kind(reading: Reading, join: exp.Expr) -> None:
    kind, side = join.args.get("kind") or "", join.args.get("side") or ""
    method = join.args.get("method") or ""
    if method:
        raise reading.error(
            join, f"{method} JOIN is not supported; write JOIN … USING (key) with a declared lookup"
        )
    if side in ("RIGHT", "FULL"):
        raise reading.error(
            join, f"{side} JOIN would show rows without records; write JOIN or LEFT JOIN"
        )
    if kind in ("SEMI", "ANTI"):
        raise reading.error(
            join,
            f"{kind} JOIN is not supported; write JOIN, or LEFT JOIN and a condition on its key, "
            "IS NULL",
        )
    if kind not in ("", "INNER", "OUTER") or not (join.args.get("on") or join.args.get("using")):
        raise reading.error(
            join,
            "tables side by side would pair every record with every row; join a declared lookup by "
            "its keys: JOIN … USING (key)",
        )


def _lookup(reading: Reading, join: exp.Expr, others: Collection[str]) -> Lookup:
    """The declared lookup after JOIN."""
    table, lookups = join.this, reading.domain.lookups
    if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
        raise reading.error(join, f"after JOIN stands the name of a lookup: {_RECORDS}")
    written = str(table.this.this)
    lookup = next((o for o in lookups if o.name.casefold() == written.casefold()), None)
    if lookup is None or written.casefold() in others:
        known = f"; {suggestion(written, [o.name for o in lookups])}" if lookups else ""
        raise reading.error(table, f"{echo(written)!r} is no declared lookup; {_RECORDS}{known}")
    return lookup


def _using(reading: Reading, relation: Relation, join: exp.Expr, lookup: Lookup) -> list[Value]:
    """The values behind USING, in the order of the lookup's keys."""
    given: dict[str, Value] = {}
    for identifier in join.args["using"]:
        node = exp.Column(this=identifier.copy())
        node.this.meta.update(identifier.meta)
        key = matching(
            lookup.columns, str(identifier.this), quoted=bool(identifier.args.get("quoted"))
        )
        name = _new_key(reading, identifier, lookup, key, given)
        given[name] = find_column(reading, relation, node)
    return _complete(reading, join, lookup, given)


def _on(
    reading: Reading, relation: Relation, join: exp.Expr, lookup: Lookup, name: str
) -> list[Value]:
    """The values that ON compares with the keys, in the order of these."""
    shared = {condition.casefold() for condition in lookup.columns} & {
        *map(str.casefold, relation.columns)
    }
    before = replace(relation, ambiguous=frozenset(shared | relation.ambiguous))
    given: dict[str, Value] = {}
    waiting = [join.args["on"]]
    while waiting:
        condition = waiting.pop()
        if isinstance(condition, exp.Paren):
            waiting.append(condition.this)
        elif isinstance(condition, exp.And):
            waiting += [condition.args["expression"], condition.this]
        else:
            key, other = _sides(reading, relation, condition, lookup, name)
            name_of_key = _new_key(reading, condition, lookup, key, given)
            given[name_of_key] = value_of(reading, before, other)
    return _complete(reading, join, lookup, given)


def _sides(
    reading: Reading, relation: Relation, node: exp.Expr, lookup: Lookup, name: str
) -> tuple[str | None, exp.Expr]:
    """The column of the lookup in an equation, and what it equals."""
    if isinstance(node, exp.EQ):
        pair = (node.this.unnest(), node.args["expression"].unnest())
        for one, other in (pair, pair[::-1]):
            if not isinstance(one, exp.Column) or isinstance(one.this, exp.Star):
                continue
            written, quoted = str(one.this.this), bool(one.this.args.get("quoted"))
            table = one.args.get("table")
            key = matching(lookup.columns, written, quoted=quoted)
            if table is None:
                before = matching(relation.columns, written, quoted=quoted) is not None
                here = key and not before and written.casefold() not in relation.ambiguous
            else:
                here = str(table.this).casefold() == name.casefold()
            if here:
                return key, other
    raise reading.error(
        node,
        f"ON compares each key of {lookup.name!r} with a column, as in ON t.{lookup.keys[0]} = "
        f"{name}.{lookup.keys[0]}; put other conditions into WHERE",
    )


def _new_key(
    reading: Reading, node: exp.Expr, lookup: Lookup, key: str | None, given: dict[str, Value]
) -> str:
    if not key or key not in lookup.keys or key in given:
        raise reading.error(
            node,
            f"{lookup.name!r} is joined by its keys, each once: {', '.join(lookup.keys)}; put "
            "other conditions into WHERE",
        )
    return key


def _complete(
    reading: Reading, join: exp.Expr, lookup: Lookup, given: dict[str, Value]
) -> list[Value]:
    if len(given) < len(lookup.keys):
        missing = [key for key in lookup.keys if key not in given]
        raise reading.error(
            join,
            f"{lookup.name!r} has one row for each {' and '.join(lookup.keys)}; join it by "
            f"{' and '.join(missing)} as well, else a record could meet several rows",
        )
    return [given[key] for key in lookup.keys]
