"""Carrying: the tables whose rows belong to one value of a column of the view, whoever joins them.

Privacy: If all rows of one id change in the tables that carry the id, and nothing else does, then
only rows of the view with that id change (docs/proofs/views.md §3). A table carries an id if a
join compares an expression of its rows with it. For the first tables, up to a LEFT JOIN, the order
of joins means nothing, so their conditions count together; later tables are judged by their own
condition, because a LEFT JOIN makes a row of NULLs where nothing meets it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlglot import exp

from eke.sql.view.branch import ViewBranch, aliases_of

Forms = dict[str, frozenset[str]]
"""Of each alias, the expressions of its rows that are equal to the id; none if it has none."""


class _Equalities:
    """Classes of expressions that are equal on every row."""

    def __init__(self) -> None:
        self._classes: list[dict[str, exp.Expr]] = []

    def add(self, first: exp.Expr, second: exp.Expr) -> None:
        met = [c for c in self._classes if first.sql() in c or second.sql() in c]
        merged = {first.sql(): first, second.sql(): second}
        for known in met:
            merged |= known
        self._classes = [c for c in self._classes if c not in met] + [merged]

    def equal_to(self, node: exp.Expr) -> dict[str, exp.Expr]:
        """The expressions that are equal to a node, itself among them, by their text."""
        return next((c for c in self._classes if node.sql() in c), {node.sql(): node})


def carriers(branches: Sequence[ViewBranch], place: int) -> tuple[tuple[str, ...], str]:
    """The tables that carry a column of the view, or why it cannot be an id."""
    roles: dict[str, set[frozenset[str]]] = {}
    for branch in branches:
        node = branch.columns[place][1].unnest()
        problem = _no_id(branch, node)
        if problem:
            return (), problem
        forms = _forms(branch, node)
        for use in branch.uses:
            roles.setdefault(use.table, set()).add(forms[use.alias])
    for table, ways in roles.items():
        if not frozenset.intersection(*ways) and any(ways):
            return (), (
                f"table {table!r} is used several times, and its rows would make rows of several "
                "ids; join it by the id wherever it is used, or protect another table"
            )
    return tuple(table for table, ways in roles.items() if any(ways)), ""


def _no_id(branch: ViewBranch, node: exp.Expr) -> str:
    if branch.grouping is not None and not branch.grouping.is_key(node):
        return "several rows make one row of the view; GROUP BY this column, among others"
    aliases = aliases_of(node)
    if len(aliases) != 1:
        return "it must be made of the columns of one table"
    if not aliases <= {use.alias for use in branch.uses[: _inner(branch) + 1]}:
        return (
            "it is taken from a table after a LEFT JOIN, where rows without a match would lose "
            "their id; put that table first, or take the id from a table before"
        )
    return ""


def _inner(branch: ViewBranch) -> int:
    """How many joins there are before the first LEFT JOIN."""
    lefts = [place for place, link in enumerate(branch.links) if link.is_left]
    return min(lefts, default=len(branch.links))


def _forms(branch: ViewBranch, node: exp.Expr) -> Forms:
    equalities, inner = _Equalities(), _inner(branch)
    for link in branch.links[:inner]:
        for pair in link.pairs:
            equalities.add(*pair)
    equal = equalities.equal_to(node)
    forms = {use.alias: _of_table(equal.values(), use.alias) for use in branch.uses[: inner + 1]}
    known = set(equal)  # what is the id of its row wherever it equals anything
    for link in branch.links[inner:]:
        carrying = [after for before, after in link.pairs if before.sql() in known]
        forms[link.use.alias] = _of_table(carrying, link.use.alias)
        # Where a LEFT JOIN met nothing, a column is NULL, which equals nothing; what is made of it
        # (COALESCE, CASE) may be anything there.
        known |= {e.sql() for e in carrying if not link.is_left or isinstance(e, exp.Column)}
    return forms


def _of_table(expressions: Iterable[exp.Expr], alias: str) -> frozenset[str]:
    """Those that are made of one table's rows alone, without its alias."""
    return frozenset(_bare(e) for e in expressions if aliases_of(e) == {alias})


def _bare(node: exp.Expr) -> str:
    copy = node.copy()
    for column in copy.find_all(exp.Column):
        column.set("table", None)
    return copy.sql()
