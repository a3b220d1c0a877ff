"""Chosen columns: SELECT a, t.b AS c, of the table itself or of the result of a question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from eke.catalogue import CatalogueColumn
from eke.wire.report import Trouble
from eke.wire.words import Word


@dataclass(frozen=True, slots=True)
class Chosen:
    """A column that is selected, or "*" for all, and the name it is shown by."""

    column: str
    shown: str


def chosen_in(words: Sequence[Word]) -> tuple[Chosen, ...] | None:
    """The columns that stand between SELECT and FROM; None where anything else does."""
    items: list[list[Word]] = [[]]
    for word in words:
        if word.text == ",":
            items.append([])
        else:
            items[-1].append(word)
    columns = [_item(item) for item in items]
    listed = tuple(column for column in columns if column is not None)
    return listed if len(listed) == len(items) else None


def _item(words: Sequence[Word]) -> Chosen | None:
    """One of them, with what qualifies it and the name it is given."""
    rest = without_qualifiers(words)
    if len(rest) == 3 and rest[1].lower == "as":
        del rest[1]
    is_plain = bool(rest) and (is_name(rest[0]) or (rest[0].text == "*" and len(rest) == 1))
    if not is_plain or len(rest) > 2 or not all(map(is_name, rest[1:])):
        return None
    if len(rest) == 2 and rest[0].kind == "name" and rest[0].lower in ("distinct", "all"):
        return None
    return Chosen(rest[0].lower, rest[-1].lower)


def without_qualifiers(words: Sequence[Word]) -> list[Word]:
    """A name and what follows it, without the schema and the table before it."""
    rest = list(words)
    while len(rest) > 2 and is_name(rest[0]) and rest[1].text == ".":
        del rest[:2]
    return rest


def is_name(word: Word) -> bool:
    """Whether a word may be a name."""
    return word.kind in ("name", "quoted")


def picked(
    chosen: Sequence[Chosen] | None, listed: Sequence[CatalogueColumn]
) -> list[tuple[int, CatalogueColumn]]:
    """The chosen ones of some columns, by their places and with the names shown; None for all."""
    if chosen is None:
        return list(enumerate(listed))
    names = [column.name.lower() for column in listed]
    columns: list[tuple[int, CatalogueColumn]] = []
    for item in chosen:
        if item.column == "*":
            columns += enumerate(listed)
        elif item.column.lower() not in names:
            raise Trouble("42703", f'column "{item.column[:63]}" does not exist')
        else:
            exact = [column.name for column in listed]
            same = item.column in exact
            place = exact.index(item.column) if same else names.index(item.column.lower())
            is_renamed = item.shown != item.column
            shown = replace(listed[place], name=item.shown) if is_renamed else listed[place]
            columns.append((place, shown))
    return columns


def composed(
    outer: tuple[Chosen, ...] | None, inner: tuple[Chosen, ...] | None
) -> tuple[Chosen, ...] | None:
    """What is chosen of a result where one wrapping chooses from another."""
    if outer is None or inner is None:
        return inner if outer is None else outer
    by_name = {item.shown.lower(): item.column for item in reversed(inner)}
    for item in outer:
        if item.column.lower() not in by_name:
            raise Trouble("42703", f'column "{item.column[:63]}" does not exist')
    return tuple(Chosen(by_name[item.column.lower()], item.shown) for item in outer)
