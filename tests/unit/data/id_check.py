"""Ids laid out in rows, and the check that a source counts them as it compares them itself.

Every kind of ids is one column: four rows of one id, in all spellings that its source takes for
equal; other ids that are easily confused with it or with each other, two rows each; rows without an
id. The number of the row is the only attribute, so the counts tell which rows were kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest

from eke.data import MarginalSource, open_source
from eke.data.row_sample import RowSample
from eke.data.server_source import AnySource
from eke.domain import Domain, Integer
from eke.errors import DataError
from eke.privacy.unit import Unit
from tests.unit.data.slow_twin import FIXED, all_cells, fixed_sample, ordered

ONE = range(4)  # the rows of the id that is removed
LENGTH = 20
DOMAIN = Domain(row=Integer(0, LENGTH - 1))

Classes = list[frozenset[int]]
Own = Callable[[str], Classes]
"""The rows of each id of a column, as the table's own system groups them; NULL is an id."""


@dataclass(frozen=True, slots=True)
class Ids:
    """One id in all its spellings, and others; values or SQL, as the source needs them."""

    same: Sequence[Any]
    others: Sequence[Any] = ()

    def column(self, missing: Any = None) -> list[Any]:
        """The values of all rows."""
        first = [self.same[n % len(self.same)] for n in ONE]
        filled = [*first, *self.others, *self.others]
        assert len(filled) <= LENGTH - 2
        return [*filled, *[missing] * (LENGTH - len(filled))]


UNMARKED = RowSample("fixed before ids had marks")


def kept_rows(
    source: object,
    column: str,
    rows: int,
    *,
    table: str | None = None,
    sample: RowSample = UNMARKED,
) -> set[int]:
    """The numbers of the rows that are counted, at most so many of each id."""
    with fixed_sample(sample):
        cells = all_cells(open_source(source, DOMAIN, Unit(column, rows), table=table))
    assert set(cells.values()) <= {1}
    return {row for (row,) in cells}


def chosen(rows: Iterable[int], most: int) -> set[int]:
    """The rows of one id that are kept, by the slow twin."""
    return {row for (row,) in ordered([(row,) for row in rows], UNMARKED)[:most]}


def check_ids(
    everybody: object, others: object, column: str, own: Classes, distinct: int, rows: int = 1
) -> None:
    """What is counted of a table, and of the same table without one id, agrees with its classes.

    `distinct` is what COUNT(DISTINCT id) says, and one more when ids are missing.
    """
    assert frozenset(ONE) in own, "the first rows are one id"
    assert len(own) == distinct
    kept = kept_rows(everybody, column, rows)
    assert len(kept) <= rows * distinct, "no id counts more than its rows"
    for one in own:
        assert kept & one == chosen(one, rows), "the rows of each id that its own rows choose"
    with fixed_sample(FIXED):
        source = open_source(everybody, DOMAIN, Unit(column, rows))
    marked = {row for (row,) in all_cells(source)}
    for one in own:
        assert len(marked & one) == min(rows, len(one)), "however its rows spell the id"
    check_people(source, [one & marked for one in own])
    unmoved = kept_rows(others, column, rows, sample=FIXED)
    assert unmoved == marked - set(ONE), "nobody else's rows change"


def check_people(source: AnySource, classes: Classes) -> None:
    """Each id is one of the people who have its rows; those without an id are nobody's."""
    if isinstance(source, MarginalSource):  # it never knows whose rows it counts
        with pytest.raises(DataError, match="does not tell whose"):
            source.load_people()
        return
    (held,) = source.holdings([("row",)])
    people = classes_of(held.holders.tolist(), held.codes[:, 0].tolist())
    assert len(set().union(*people)) == len(held.holders), "a row is of one id at most"
    nobody = [one for one in classes if one not in people]
    assert len(people) + len(nobody) == len(classes)
    assert len(nobody) <= 1
    assert all(max(one) == LENGTH - 1 or LENGTH - 1 not in set().union(*classes) for one in nobody)


def caught(columns: Iterable[str], check: Callable[[str], None]) -> set[str]:
    """The columns for which a check fails."""
    found = set()
    for column in columns:
        try:
            check(column)
        except AssertionError:
            found.add(column)
    return found


def classes_of(numbers: Iterable[Any], places: Iterable[int] | None = None) -> Classes:
    """The rows that have equal values, for values that Python compares as their source does."""
    rows: dict[Any, set[int]] = {}
    for row, number in zip(count() if places is None else places, numbers, strict=False):
        rows.setdefault(number, set()).add(row)
    return [frozenset(some) for some in rows.values()]


def named(kinds: Mapping[str, Ids]) -> dict[str, tuple[str, Ids]]:
    """Names of columns of a wide table, with the kind that each stands for."""
    return {f"c{place}": (kind, ids) for place, (kind, ids) in enumerate(kinds.items())}
