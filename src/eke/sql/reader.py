"""Reader: from text to `Question`, one pass after the other.

guard       caps, characters, comments, one statement
accuracy    the suffix ERROR WITHIN … AT CONFIDENCE …
top         SELECT TOP n, another spelling of LIMIT
tree        sqlglot, and the allow list of nodes
table       WITH, FROM, WHERE        (scope: names; scalar: expressions over cells)
joining     JOIN                     (lookup: public tables; derived: declared expressions)
grouping    GROUP BY
aggregate   SELECT                   (formula: what a column is; subquery: what is in all rows)
noisy       HAVING, ORDER BY, LIMIT  (outcome: how they act on rows)
union       UNION, INTERSECT, EXCEPT (united: several questions as one)
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TypeAlias

from sqlglot import exp

from eke.domain import Domain
from eke.errors import EkeError, SqlError
from eke.privacy.unit import Unit
from eke.query.pieces import TooLarge
from eke.question.formula import Key
from eke.question.question import Column, Question
from eke.sql.accuracy import without_accuracy
from eke.sql.aggregate import Aggregates
from eke.sql.derived import protected_table
from eke.sql.diagram import Diagrams
from eke.sql.effort import Effort
from eke.sql.finishing import checked_finishes, has_aggregate, taken_off
from eke.sql.grouping import MOST_GROUPS, possible_rows
from eke.sql.guard import cleaned, scanned, single_statement
from eke.sql.keys import Keys
from eke.sql.noisy import NoisyClauses, whole_number
from eke.sql.people import DISTINCT
from eke.sql.place import SqlText
from eke.sql.scope import Tables
from eke.sql.subquery import Subqueries, check_one_row
from eke.sql.table import add_common, filtered
from eke.sql.top import without_top
from eke.sql.tree import ALLOWED, checked_tree, name_of
from eke.sql.union import union_of, unwrapped
from eke.sql.value import Reading
from eke.sql.window import Windows, has_window, is_rank

Item: TypeAlias = tuple[str, exp.Expr]
"""A name, and the expression that is selected under it."""


def parse(
    text: str, domain: Domain, table: str | None = None, *, unit: Unit | None = None
) -> Question:
    """The question that a SQL text asks about a domain.

    `table` is the name of the protected table; None accepts whatever name the text uses. `unit` is
    what is protected, if not the single record. Raises
    `SqlError`, with the place in the text and what to write instead, for everything that is not
    supported.

    Privacy: a function of the text and of the public domain; it has no handle on data, and the
    text never reaches a data engine.
    """
    if not isinstance(text, str):
        raise SqlError(f"a SQL question is a text, not {type(text).__name__}")
    sql = SqlText(text)
    try:
        return _question(sql, domain, table, unit)
    except SqlError:
        raise
    except (EkeError, TooLarge) as problem:
        raise sql.error(0, str(problem)) from problem
    except RecursionError:
        raise sql.error(0, "the text is nested too deeply; write the question flatter") from None


def _question(text: SqlText, domain: Domain, table: str | None, unit: Unit | None) -> Question:
    tokens = single_statement(text, scanned(text))
    tokens, requirement = without_accuracy(text, tokens)
    tokens, top = without_top(text, tokens)
    allowed = ALLOWED if unit is None else {**ALLOWED, **DISTINCT}
    root = unwrapped(checked_tree(text, cleaned(text, tokens), tokens, allowed))
    effort = Effort(text, domain)
    ids = None if unit is None else unit.column
    reading = Reading(text, domain, Diagrams(domain, effort), effort, ids)
    tables = Tables(protected_table(reading), table)
    add_common(reading, tables, root)
    is_alone = isinstance(root, exp.Select)
    read = partial(_selected, reading, tables, is_alone=is_alone)
    question = read(root) if isinstance(root, exp.Select) else union_of(reading, root, read)
    if top is not None:
        clause = root.args.get("limit")
        if clause is not None or not is_alone:
            raise reading.error(
                clause or root, "TOP says the same as LIMIT; write LIMIT alone, at the end"
            )
        question = replace(question, limit=top)
    return replace(question, requirement=requirement)


def _selected(reading: Reading, tables: Tables, select: exp.Select, *, is_alone: bool) -> Question:
    """What one SELECT asks; beside others, a value may have another constant in each."""
    relation = filtered(reading, tables, select)
    items = [_item(reading, item, place) for place, item in enumerate(select.expressions, 1)]
    keys = Keys(reading, relation, select, items)
    groups = keys.groupings
    if groups.rows > MOST_GROUPS:
        raise reading.error(
            select.args["group"],
            f"the keys have {groups.rows:,} combinations and at most {MOST_GROUPS:,} groups are "
            "made; group by fewer or coarser keys",
        )
    possible = possible_rows(reading, relation.kept, groups)
    windows = Windows(reading, keys, possible, select.args.get("windows") or ())
    check_one_row(reading, select)
    subqueries = Subqueries(reading, tables, relation)
    is_grouped = bool(keys.found) or groups.rows > 1 or not is_alone
    aggregates = Aggregates(reading, relation, windows, subqueries, grouped=is_grouped)
    noisy = NoisyClauses(reading, keys, aggregates, items, windows)
    columns = [_column(reading, keys, aggregates, noisy, item) for item in _unique(items)]
    having = noisy.having(_one_condition(reading, select))
    order_by = noisy.order_by(select.args.get("order"), columns)
    blocks = aggregates.asked.blocks(groups)
    if not blocks:
        raise reading.error(
            select.expressions[0] if select.expressions else select,
            "no data is needed for this; select an aggregate such as COUNT(*)",
        )
    return Question(
        text=" ".join(reading.text.characters.split()),
        identity={"sql": reading.text.characters},
        domain=reading.domain,
        columns=tuple(columns),
        blocks=blocks,
        group_by=groups.keys,
        groupings=groups,
        having=having,
        order_by=order_by,
        limit=whole_number(reading, select.args.get("limit")),
        offset=whole_number(reading, select.args.get("offset")) or 0,
        reads=frozenset(reading.columns),
        possible=possible,
        ranks=tuple(noisy.rankings),
    )


def _item(reading: Reading, node: exp.Expr, place: int) -> tuple[str, exp.Expr]:
    """(name, expression) of one item after SELECT."""
    if isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    ):
        raise reading.error(
            node, "records are never shown; select aggregates such as COUNT(*), not *"
        )
    if isinstance(node, exp.Alias):
        return str(node.args["alias"].this), node.this
    return name_of(node, f"column_{place}"), node


def _one_condition(reading: Reading, select: exp.Select) -> exp.Expr | None:
    """What HAVING or QUALIFY says of the rows; a window looks at all groups."""
    having, qualify = select.args.get("having"), select.args.get("qualify")
    if having is not None and (qualify is not None or has_window(select)):
        raise reading.error(
            having,
            "HAVING would take groups away, by their noise, before a window looks at them; write "
            "QUALIFY, which acts on the whole result, or put conditions on keys into WHERE",
        )
    return qualify if having is None else having


def _column(
    reading: Reading, keys: Keys, aggregates: Aggregates, noisy: NoisyClauses, item: Item
) -> Column:
    name, node = item
    if is_rank(node):
        return Column(name, noisy.rank(node))
    if has_aggregate(node):
        inner, finishes = taken_off(reading, node)
        formula = aggregates.formula(inner)
        if not (any(True for _ in formula.fragile()) or has_window(inner)):  # it has a value
            finishes = tuple(finish for finish in finishes if finish.word != "coalesce")
        return Column(name, formula, checked_finishes(reading, node, formula, finishes))
    place = keys.place(node)
    return Column(name, aggregates.formula(node) if place is None else Key(place))


def _unique(items: list[tuple[str, exp.Expr]]) -> list[tuple[str, exp.Expr]]:
    """The items under names that differ, so that a row can be a dictionary."""
    used: dict[str, int] = {}
    named = []
    for name, node in items:
        used[name] = used.get(name, 0) + 1
        named.append((name if used[name] == 1 else f"{name}_{used[name]}", node))
    return named
