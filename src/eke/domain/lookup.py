"""Lookup: a public table with one row for each key, which questions may join.

What it says of a record follows from the record's own values, so it adds no attribute and no cell:
a condition on it is a condition on its key. It is public knowledge, like the bounds of a column.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any, Literal, TypeAlias

from eke.domain.rule import EXACT, is_storable, plain
from eke.errors import DomainError

Cell: TypeAlias = str | int | float | bool | None
CellKind: TypeAlias = Literal["text", "number", "truth"]

MOST_CELLS = 1_000_000
_KINDS: dict[type, CellKind] = {str: "text", int: "number", float: "number", bool: "truth"}


@dataclass(frozen=True, slots=True, init=False)
class Lookup:
    """A public table that SQL may join: one row for each key, and what follows from it.

    The values of a column are all texts, all numbers or all truth values; None is NULL. Days are
    texts such as 2013-01-31. A row without a key is left out, as nothing equals NULL. Which columns
    of the protected table it is joined with is said in the question.

    Args:
        name: what questions call it.
        keys: the columns that find a row; no two rows have the same.
        columns: the values of each column by name, the keys included, all of one length; of a
            lookup that was made, the names of all columns, the keys first.

    Attributes:
        rows: the values row by row, those of the keys first.

    Raises:
        DomainError: when rows have the same key, or a column holds values of several kinds.

    Example:
        >>> schools = eke.Lookup("schools", ["sex"], {"sex": ["F", "M"], "word": ["girl", "boy"]})
        >>> with_it = domain.with_lookups(schools).with_derived(decade="FLOOR(age / 10)")
        >>> protected = eke.create("joined.eke", people, with_it, epsilon=1.0)
        >>> question = "SELECT word, COUNT(*) FROM t JOIN schools USING (sex) GROUP BY word"
        >>> [row[0] for row in protected.ask(question, within=50).rows]
        ['boy', 'girl']
    """

    name: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...] = field(repr=False, hash=False)

    def __init__(
        self, name: str, keys: Sequence[str], columns: Mapping[str, Iterable[object]]
    ) -> None:
        check_name(name)
        if isinstance(keys, str) or not keys or not all(isinstance(key, str) for key in keys):
            raise DomainError(f"lookup {name!r}: keys is a list of columns, e.g. ['carrier']")
        if not isinstance(columns, Mapping):
            raise DomainError(f"lookup {name!r}: columns is a mapping of names to values")
        for column in columns:
            check_name(column)
        twice = {c for c in columns if sum(o.casefold() == c.casefold() for o in columns) > 1}
        if twice or len(set(keys)) < len(keys):
            raise DomainError(f"lookup {name!r}: a column is named twice; keep one of them")
        missing = [key for key in keys if key not in columns]
        if missing:
            raise DomainError(
                f"lookup {name!r} has no column {missing[0]!r} to be its key; "
                f"the columns are {', '.join(columns)}"
            )
        names = (*keys, *(column for column in columns if column not in keys))
        cells_of = {column: _cells(name, column, columns[column]) for column in names}
        if len({len(cells) for cells in cells_of.values()}) > 1:
            raise DomainError(f"lookup {name!r}: the columns have different numbers of values")
        rows = tuple(
            row for row in zip(*cells_of.values(), strict=True) if None not in row[: len(keys)]
        )
        _check_rows(name, tuple(keys), rows)
        for place, value in (("name", name), ("keys", tuple(keys)), ("columns", names)):
            object.__setattr__(self, place, value)
        object.__setattr__(self, "rows", rows)

    @property
    def values(self) -> tuple[str, ...]:
        """The columns that are no keys."""
        return self.columns[len(self.keys) :]

    def column(self, name: str) -> tuple[Cell, ...]:
        """What a column holds, row by row."""
        place = self.columns.index(name)
        return tuple(row[place] for row in self.rows)

    def kind(self, name: str) -> CellKind:
        """Whether a column holds texts, numbers or truth values."""
        return kind_of(self.column(name))

    def to_document(self) -> dict[str, Any]:
        """What a file says of it besides its name."""
        rows = [list(row) for row in self.rows]
        return {"keys": list(self.keys), "columns": list(self.values), "rows": rows}

    @staticmethod
    def of_document(name: str, document: object) -> Lookup:
        """The lookup that such a document describes."""
        if not isinstance(document, Mapping) or set(document) != {"keys", "columns", "rows"}:
            raise DomainError(
                f"lookup {name!r} is a mapping with 'keys', 'columns' and 'rows'; in a file of a "
                "domain also with 'file' and 'keys'"
            )
        fields = [document[key] for key in ("keys", "columns", "rows")]
        if not all(isinstance(one, list) for one in fields):
            raise DomainError(f"lookup {name!r}: 'keys', 'columns' and 'rows' are lists")
        keys, columns, rows = fields
        names = [*keys, *columns]
        if len(set(map(str, names))) < len(names):
            raise DomainError(f"lookup {name!r}: a column is named twice; keep one of them")
        if not all(isinstance(row, list) and len(row) == len(names) for row in rows):
            raise DomainError(
                f"lookup {name!r}: each row is a list of {len(names)} values, first the keys"
            )
        return Lookup(name, keys, {c: [row[at] for row in rows] for at, c in enumerate(names)})


def check_name(name: object) -> None:
    """Raise unless this can be the name of an attribute, a derived column or a lookup."""
    if not isinstance(name, str) or not 0 < len(name) <= 200:
        raise DomainError(
            "attribute names must be texts of 1 to 200 characters; "
            "in YAML put quotes around names such as 'on' or '1'"
        )
    if not is_storable(name):
        raise DomainError("attribute names must be valid Unicode; remove lone surrogates")


def kind_of(cells: Iterable[Cell]) -> CellKind:
    """The kind of some values; texts if all are missing."""
    return next((_KINDS[type(cell)] for cell in cells if cell is not None), "text")


def _cells(lookup: str, column: str, values: Iterable[object]) -> tuple[Cell, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise DomainError(f"lookup {lookup!r}: column {column!r} needs a list of values")
    cells = tuple(_cell(lookup, column, value) for value in values)
    if len({_KINDS[type(cell)] for cell in cells if cell is not None}) > 1:
        raise DomainError(
            f"lookup {lookup!r}: column {column!r} holds values of several kinds; make them all "
            "texts, all numbers or all truth values"
        )
    return cells


def _cell(lookup: str, column: str, value: object) -> Cell:
    if value is None or (type(value) is str and value.isascii()):
        return value  # nearly all of them
    python_value = plain(value)
    if python_value is None or type(python_value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(python_value, date):
        midnight = isinstance(python_value, datetime) and python_value.time() == datetime.min.time()
        python_value = python_value.date().isoformat() if midnight else python_value.isoformat()  # type: ignore[attr-defined]
    if isinstance(python_value, time):
        python_value = python_value.isoformat()
    if isinstance(python_value, float) and math.isnan(python_value):
        return None
    fits = isinstance(python_value, str) and is_storable(python_value)
    if isinstance(python_value, (int, float)):
        fits = abs(python_value) < EXACT
    if not fits:
        raise DomainError(
            f"lookup {lookup!r}: column {column!r} holds a value that is no text, no number below "
            "2**53 and no truth value; leave the column out, or write texts"
        )
    return python_value  # type: ignore[return-value]


def _check_rows(name: str, keys: tuple[str, ...], rows: Sequence[tuple[Cell, ...]]) -> None:
    if not rows:
        raise DomainError(f"lookup {name!r} has no rows with a key; give it some")
    if len(rows) * len(rows[0]) > MOST_CELLS:
        raise DomainError(
            f"lookup {name!r} has more than {MOST_CELLS:,} values; leave out columns, or rows "
            "whose keys the domain does not declare"
        )
    seen: set[tuple[Cell, ...]] = set()
    for row in rows:
        key = row[: len(keys)]
        if key in seen:
            shown = ", ".join(map(repr, key))
            raise DomainError(
                f"lookup {name!r} has two rows with {' and '.join(keys)} = {shown}; keep one, or "
                "add a column to the keys"
            )
        seen.add(key)
