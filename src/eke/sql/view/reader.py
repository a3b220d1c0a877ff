"""Reading a view: from a curator's text to a plan that a promise can be about, or a refusal.

The text is guarded as a question is (`sql.guard`), made of allow-listed nodes only (`vocabulary`),
and taken apart (`branch`). `carrying` says whose rows a promise would be about, `writer` what the
engine is told: never the text itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from eke.errors import SqlError
from eke.privacy.view import Dialect, ViewColumn, ViewPlan
from eke.sql.guard import cleaned, scanned, single_statement
from eke.sql.place import SqlText
from eke.sql.tree import tree_of
from eke.sql.view.branch import BranchReader, ViewBranch
from eke.sql.view.carrying import carriers
from eke.sql.view.vocabulary import check_dialect, check_nodes
from eke.sql.view.writer import ViewWriter

_EXAMPLE = (
    "A view looks like SELECT v.patient, v.cost, p.sex FROM visits v JOIN patients p "
    "USING (patient)"
)


def read_view(
    statement: str, tables: Sequence[str] | None = None, dialect: Dialect = "duckdb"
) -> ViewPlan:
    """The plan of a view over some tables, by their names; None for whatever a server has.

    Raises:
        SqlError: when it is no SELECT, or one that works neither row by row nor by groups.

    Privacy: Whatever is admitted makes its rows from single rows, from pairs of joined rows, or
    from groups of these, by functions that depend on nothing else; `ViewPlan.promise` says what
    follows.
    """
    text = SqlText(statement)
    tokens = single_statement(text, scanned(text))
    tree = tree_of(text, cleaned(text, tokens), dialect, example=_EXAMPLE)
    check_nodes(text, tree, tokens)
    check_dialect(text, tree, dialect)
    names: list[str] = [] if tables is None else list(tables)

    def table_named(written: str) -> str | None:
        alike = [name for name in names if name.casefold() == written.casefold()]
        if not alike and tables is None:
            names.append(written)
            return written
        return alike[0] if len(alike) == 1 else None

    reader = BranchReader(text, dialect, table_named)
    branches = [reader.read(select) for select in _selects(text, tree)]
    _check_columns(text, branches)
    used = [use.table for branch in branches for use in branch.uses]
    unused = [name for name in names if name not in used]
    if unused:
        raise SqlError(f"the view does not use the table {unused[0]!r}; leave it out")
    firsts = tuple(branch.first.table for branch in branches)
    writer = ViewWriter(dialect, names)
    selects, grouped = writer.selects(branches), [writer.grouped(one) for one in branches]
    return ViewPlan(
        statement=statement,
        select=" UNION ALL ".join(selects),
        dialect=dialect,
        tables=tuple(names),
        columns=tuple(_columns(branches)),
        uses=tuple(sorted({pair for branch in branches for pair in branch.references()})),
        joins=tuple(writer.join(link) for branch in branches for link in branch.links),
        keys=tuple(writer.keys(branch) for branch in branches if branch.links),
        parts=selects if len(selects) > 1 else (),
        compared=tuple(compared for compared, _ in grouped if compared),
        added=tuple(added for _, added in grouped if added),
        rows_from=firsts,
        row_problem=_row_problem(branches),
        keeps_rows=all(
            branch.where is None
            and branch.grouping is None
            and all(link.is_left for link in branch.links)
            for branch in branches
        ),
    )


def _selects(text: SqlText, tree: exp.Expr) -> list[exp.Select]:
    parts = []
    while isinstance(tree, exp.Union):
        parts.append(tree.expression)
        tree = tree.this
    parts.append(tree)
    if not all(isinstance(part, exp.Select) for part in parts):
        raise text.error(0, "a view is one SELECT, or several with UNION ALL between them")
    return parts[::-1]


def _check_columns(text: SqlText, branches: Sequence[ViewBranch]) -> None:
    names = [name.casefold() for name, _ in branches[0].columns]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise text.error(0, f"two columns of the view are called {twice!r}; rename one with AS")
    if any(len(branch.columns) != len(names) for branch in branches):
        raise text.error(0, "all parts of UNION ALL need the same number of columns")


def _columns(branches: Sequence[ViewBranch]) -> Iterator[ViewColumn]:
    keys = {pair for branch in branches for pair in branch.joined()}
    for place, (name, _) in enumerate(branches[0].columns):
        sources = {pair for branch in branches for pair in branch.sources(branch.columns[place][1])}
        carried_by, problem = carriers(branches, place)
        ties = sorted((table, column) for table, column in keys if table in carried_by)
        yield ViewColumn(name, tuple(sorted(sources)), carried_by, problem, tuple(ties))


def _row_problem(branches: Sequence[ViewBranch]) -> str:
    if any(branch.grouping is not None for branch in branches):
        return "several rows make one row of the view"
    firsts = [branch.first.table for branch in branches]
    for table in firsts:
        if firsts.count(table) > 1:
            return f"a row of {table!r} may make a row in each part of UNION ALL"
    for branch in branches:
        for link in branch.links:
            if link.use.table in firsts:
                return f"{link.use.table!r} is joined as well, so that its rows may make several"
    return ""
