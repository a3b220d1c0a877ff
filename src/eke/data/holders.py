"""Holders: the protected table as who has rows in which cell, so that people can be counted.

Beside the counts of cells it is known of each counted row whose it is, by a number that the engine
gives to each id. It is read when people are first asked for: there are as many entries as pairs of
an id and a cell, which may be as many as rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from eke.data.cells import Cells, sorted_cells
from eke.data.source import Holdings
from eke.errors import DataError, SecretLeak

NOBODY = -1
"""The number of those rows that have no id: they belong to nobody who could be counted."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Holders:
    """The non-empty cells of each id, with the numbers of its rows there."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    columns: tuple[NDArray[np.signedinteger[Any]], ...]  # one an attribute, (pairs,) each
    numbers: NDArray[np.int64]  # (pairs,): the id's own
    counts: NDArray[np.int64]  # (pairs,)

    def __post_init__(self) -> None:
        if len(self.names) != len(self.sizes) or len(self.names) != len(self.columns):
            raise DataError("cells need one size and one column an attribute")
        if any(one.shape != self.counts.shape for one in (*self.columns, self.numbers)):
            raise DataError("all columns of the coded table must have the same length")

    def __repr__(self) -> str:
        return f"Holders({', '.join(self.names)}; who has which rows is not shown)"

    def __reduce__(self) -> NoReturn:
        raise SecretLeak("the protected table cannot be pickled or copied")

    def cells(self) -> Cells:
        """The cells that all of these rows fill, whosever they are."""
        codes = np.stack([np.asarray(one, np.int64) for one in self.columns], axis=1)
        distinct, places = np.unique(codes, axis=0, return_inverse=True)
        counts = np.zeros(len(distinct), np.int64)
        np.add.at(counts, places.reshape(-1), self.counts)
        return sorted_cells(self.names, self.sizes, list(distinct.T), counts)

    def within(self, attributes: tuple[str, ...]) -> Holdings:
        """Who has rows with which values of some attributes, each pair once."""
        somebody = self.numbers != NOBODY
        columns = [self.columns[self.names.index(name)][somebody] for name in attributes]
        pairs = np.stack([*columns, self.numbers[somebody]], axis=1).astype(np.int64)
        distinct = np.unique(pairs, axis=0)
        return Holdings(attributes, distinct[:, :-1], distinct[:, -1])
