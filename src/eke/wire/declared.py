"""Declared values: SELECT DISTINCT carrier FROM flights, as tools fill their filters.

Which values occur would be told by single records, and is not answered. Which values are declared
is public, and is what a filter needs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from eke.catalogue import CatalogueColumn
from eke.domain import Domain, plain_label
from eke.wire.label import column_kind, shown_label
from eke.wire.outcome import Outcome
from eke.wire.report import notice
from eke.wire.words import Statement, Word

MOST_ROWS = 10_000
_SAID = "these are the declared values; whether they occur is not said"
_CLAUSES = ("from", "group", "order", "limit")


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Columns with the names they are shown by, the order of the rows, and how many of them."""

    columns: Sequence[str]
    names: Sequence[str]
    order: Sequence[tuple[int, bool]]  # (column, whether it falls)
    limit: int | None


def declared(statement: Statement, domain: Domain, relations: frozenset[str]) -> Outcome | None:
    """The declared values of plain columns; None where a statement asks for anything else."""
    wanted = _wanted(statement, domain, relations)
    if wanted is None or math.prod(domain.sizes(wanted.columns)) > MOST_ROWS:
        return None
    labels = [[plain_label(label) for label in domain[name].labels] for name in wanted.columns]
    kinds = [column_kind(domain[n], v) for n, v in zip(wanted.columns, labels, strict=True)]
    rows: list[tuple[Any, ...]] = [
        tuple(shown_label(value, kind) for value, kind in zip(row, kinds, strict=True))
        for row in product(*labels)
    ]
    for place, falls in reversed(wanted.order):
        rows.sort(key=lambda row: (row[place] is None, row[place]), reverse=falls)
    rows = rows[: wanted.limit]
    columns = tuple(CatalogueColumn(*pair) for pair in zip(wanted.names, kinds, strict=True))
    return Outcome(f"SELECT {len(rows)}", columns, rows, (notice(_SAID),))


def _wanted(statement: Statement, domain: Domain, relations: frozenset[str]) -> _Wanted | None:
    is_distinct = statement.begins("select", "distinct")
    parts = _clauses(statement.words[2 if is_distinct else 1 :])
    if parts is None or not (is_distinct or parts["group"]):
        return None
    chosen = [_column(item) for item in _items(parts["columns"])]
    named = [pair for pair in chosen if pair is not None and pair[0] in domain.names]
    table = {word.lower.lower() for word in parts["from"]} - {".", "as"}
    if not named or len(named) < len(chosen) or len(table) > 3 or table.isdisjoint(relations):
        return None
    columns, names = [pair[0] for pair in named], [pair[1] for pair in named]
    grouped = {_place(item, columns, names) for item in _items(parts["group"])}
    order = [
        (
            _place([word for word in item if word.lower not in ("asc", "desc")], columns, names),
            item[-1].lower == "desc",
        )
        for item in _items(parts["order"])
    ]
    amount = [word.text for word in parts["limit"]]
    is_plain = (
        grouped in (set(), set(range(len(columns))))
        and all(place >= 0 for place, _ in order)
        and (not amount or (len(amount) == 1 and amount[0].isdigit()))
    )
    return _Wanted(columns, names, order, int(amount[0]) if amount else None) if is_plain else None


def _clauses(words: Sequence[Word]) -> dict[str, list[Word]] | None:
    """The words of each clause; None where there is any but these, in their order."""
    parts: dict[str, list[Word]] = {"columns": [], **{name: [] for name in _CLAUSES}}
    current, left = "columns", list(_CLAUSES)
    for word in words:
        if word.lower in ("where", "having", "join", "union", "with", "offset", "("):
            return None
        if word.kind == "name" and word.lower in _CLAUSES:
            if word.lower not in left:
                return None
            current, left = word.lower, left[left.index(word.lower) + 1 :]
        elif not (word.lower == "by" and current in ("group", "order") and not parts[current]):
            parts[current].append(word)
    return parts


def _items(words: Sequence[Word]) -> list[list[Word]]:
    """What stands between commas."""
    items: list[list[Word]] = [[]]
    for word in words:
        if word.text == ",":
            items.append([])
        else:
            items[-1].append(word)
    return [item for item in items if item]


def _column(item: Sequence[Word]) -> tuple[str, str] | None:
    """(column, name) of a plain column, which may be qualified and have another name."""
    words = list(item)
    while len(words) > 2 and words[1].text == ".":
        words = words[2:]
    named = [word for word in words if word.lower != "as"]
    if not 1 <= len(named) <= 2 or not all(word.kind in ("name", "quoted") for word in named):
        return None
    return named[0].lower, named[-1].lower


def _place(item: Sequence[Word], columns: Sequence[str], names: Sequence[str]) -> int:
    """Which of the columns is meant, by its name, its other name or its number; -1 for none."""
    if len(item) == 1 and item[0].text.isdigit():
        place = int(item[0].text) - 1
        return place if 0 <= place < len(columns) else -1
    column = _column(item)
    if column is None:
        return -1
    return next(
        (n for n, pair in enumerate(zip(columns, names, strict=True)) if column[0] in pair), -1
    )
