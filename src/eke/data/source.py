"""Source: the one thing the rest of eke may ask of a protected table, exact counts of cells.

Next: `opening.open_source` opens a table, `coding` says how raw values become cells and
`cells` holds them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn, Protocol

import numpy as np
from numpy.typing import NDArray

from eke.errors import DataError, SecretLeak

ROW_KEY = "row_key"
"""Where the reference of a source holds the key that rows of a unit are chosen by."""
Collect = Literal["cells", "marginals"]
"""What is collected of a table: all its non-empty cells once, or what each question needs."""

Columns = Literal["all", "needed"]
"""What is read of a file when something is first counted: all columns, or those that it needs."""


def check_columns(columns: object) -> None:
    """Raise unless this says which columns are read first."""
    if columns not in ("all", "needed"):
        raise DataError("columns must be 'all' or 'needed'")


def check_collect(collect: object) -> None:
    """Raise unless this is one of the ways to collect a table."""
    if collect not in ("cells", "marginals"):
        raise DataError("collect must be 'cells' or 'marginals'")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Counts:
    """The exact counts of the non-empty cells of one attribute set, sorted by code.

    The empty attribute set has one cell, the total, which is listed even when it is zero.

    Privacy: Exact. Number and order of the rows are as secret as the counts, so nothing here can
    be printed or pickled.
    """

    attributes: tuple[str, ...]
    codes: NDArray[np.int64]  # (cells, attributes)
    counts: NDArray[np.int64]  # (cells,)

    def __post_init__(self) -> None:
        if self.codes.dtype != np.int64 or self.counts.dtype != np.int64:
            raise DataError("codes and counts must be 64-bit integers")
        if self.codes.shape != (len(self.counts), len(self.attributes)):
            raise DataError("codes need one row a cell and one column an attribute")
        if self.attributes and np.any(self.counts <= 0):
            raise DataError("only cells with a positive count may be listed")
        if not self.attributes and (len(self.counts) != 1 or self.counts[0] < 0):
            raise DataError("the empty attribute set has exactly one cell, the total")

    def within(self, attributes: tuple[str, ...]) -> Counts:
        """The counts of some of the attributes, each cell once."""
        if attributes == self.attributes:
            return self
        codes = self.codes[:, [self.attributes.index(name) for name in attributes]]
        keys = np.zeros(len(codes), np.int64)
        for column in codes.T:  # ranks keep the order, and their products stay below 2^62
            values, ranks = np.unique(column, return_inverse=True)
            keys = np.unique(keys, return_inverse=True)[1] * max(len(values), 1) + ranks
        _, some, place = np.unique(keys, return_index=True, return_inverse=True)
        counts = np.zeros(len(some), np.int64)
        np.add.at(counts, place, self.counts)
        return Counts(attributes, codes[some], counts)

    @property
    def total(self) -> int:
        """The number of rows counted, as a Python integer."""
        return int(self.counts.sum(dtype=np.int64))

    def __repr__(self) -> str:
        return f"Counts({', '.join(self.attributes)}; exact counts are not shown)"

    def __reduce__(self) -> NoReturn:
        raise SecretLeak("exact counts cannot be pickled or copied; release a measurement instead")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Holdings:
    """Which ids have records in which cells of one attribute set, each pair once.

    Ids are numbers that say nothing but which are the same.

    Privacy: Exact, so nothing here can be printed or pickled. No id has more pairs than it has
    counted rows.
    """

    attributes: tuple[str, ...]
    codes: NDArray[np.int64]  # (pairs, attributes)
    holders: NDArray[np.int64]  # (pairs,)

    def __post_init__(self) -> None:
        if self.codes.dtype != np.int64 or self.holders.dtype != np.int64:
            raise DataError("codes and numbers of ids must be 64-bit integers")
        if self.codes.shape != (len(self.holders), len(self.attributes)):
            raise DataError("codes need one row a pair and one column an attribute")

    def __repr__(self) -> str:
        return f"Holdings({', '.join(self.attributes)}; who has which rows is not shown)"

    def __reduce__(self) -> NoReturn:
        raise SecretLeak("exact data cannot be pickled or copied; release a measurement instead")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rows:
    """The records of a table in its own order, coded: for releases of one noisy row each.

    Privacy: Exact, so nothing here can be printed or pickled. The number of rows is public under
    `replace_one` only, and only when no rule drops rows.
    """

    attributes: tuple[str, ...]
    codes: NDArray[np.int64]  # (rows, attributes)

    def __post_init__(self) -> None:
        if self.codes.dtype != np.int64 or self.codes.shape[1:] != (len(self.attributes),):
            raise DataError("coded rows need one column of 64-bit integers an attribute")

    def __repr__(self) -> str:
        return f"Rows({', '.join(self.attributes)}; the rows are not shown)"

    def __reduce__(self) -> NoReturn:
        raise SecretLeak("rows cannot be pickled or copied; release a publication instead")


class Source(Protocol):
    """A protected table, open for counting."""

    def load(self, attribute_sets: Sequence[tuple[str, ...]] = ()) -> object:
        """Make sure that these can be counted, so that what is wrong shows before a charge.

        Privacy: apart from the table as a whole, it looks only at the domain: a failure that
        depended on rows and question would be a free bit.
        """
        ...

    def covering(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """The sets to count so that counts of all these follow from them, as it suits the source.

        Privacy: by the sets alone.
        """
        ...

    def counts(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[Counts]:
        """Exact counts of each attribute set, all of the same table at the same moment."""
        ...

    def load_people(self) -> None:
        """Make sure that people can be counted, so that what is wrong shows before a charge."""
        ...

    def holdings(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[Holdings]:
        """Which ids have rows in which cells of each attribute set; the rows that are counted."""
        ...

    def rows(self) -> Rows:
        """The records one by one, coded, in the order of the table; an error if it has none."""
        ...

    def reference(self) -> dict[str, object]:
        """A JSON document from which `open_source` finds the same table again."""
        ...


def check_totals(tables: Sequence[Counts]) -> None:
    """Raise unless all tables count the same number of rows, as tables of one scan must."""
    if len({table.total for table in tables}) > 1:
        raise DataError(
            "counts of one table do not add up to the same total; nothing was released. "
            "This is a fault in eke: please report it"
        )
