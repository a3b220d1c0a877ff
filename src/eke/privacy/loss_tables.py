"""The loss of every cell of a huge domain, kept as a sum of small tables.

A measurement of a query over the attributes a costs a record in cell t an amount that depends on
t_a only. Accumulated losses are therefore B(t) = Σ_a T_a(t_a), one table per set of attributes,
and the domain itself is never enumerated. `eke.privacy.extremum` finds the maximum of B.

Tables are kept exactly as they were asked, one per set of attributes, and never folded into one
another: the content then does not depend on the order of the questions, nor does any decision
that is computed from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eke.errors import BudgetExceeded, PrivacyError
from eke.privacy.pair_split import Cells, PairSplit, maxima_over_others, split_into_pairs

Attributes = tuple[str, ...]

# Sums of losses stay below this, so that no addition of two of them can leave int64.
LARGEST_TOTAL = 2**62


class LossTable:
    """One read-only table T_a, with facts about it that are computed at most once.

    All cached facts are functions of the cells alone. A trial shares the untouched tables of its
    original, so only the touched one is ever examined again.
    """

    def __init__(self, attributes: Attributes, cells: Cells) -> None:
        cells.flags.writeable = False
        self.attributes = attributes
        self.cells = cells
        self.largest = int(cells.max())

    @cached_property
    def axis_maxima(self) -> tuple[Cells, ...]:
        """The largest loss for each value of each attribute."""
        return tuple(maxima_over_others(self.cells, (axis,)) for axis in range(self.cells.ndim))

    @cached_property
    def value_labels(self) -> tuple[NDArray[np.intp], ...]:
        """A label per value of each attribute, equal where the table cannot tell values apart."""
        labels = []
        for axis in range(self.cells.ndim):
            # Whole slices as bytes: sorting them with np.unique was measured to be 50 times slower.
            first_seen: dict[bytes, int] = {}
            slices = (piece.tobytes() for piece in np.moveaxis(self.cells, axis, 0))
            numbers = [first_seen.setdefault(piece, len(first_seen)) for piece in slices]
            labels.append(np.array(numbers, np.intp))
        return tuple(labels)

    @cached_property
    def pair_split(self) -> PairSplit:
        """A table of three or more axes as functions of two of them plus a non-positive rest."""
        return split_into_pairs(self.cells)


class LossTables:
    """The accumulated loss B(t) = Σ_a T_a(t_a) in integer nano-units.

    `add` changes the object, `trial` returns what it would become and leaves it alone. Both cost
    one addition of the touched table.

    Privacy: holds what was spent, per record that could exist. It is a function of the released
    questions and of the public domain; no data enters.
    """

    def __init__(self, sizes: Mapping[str, int]) -> None:
        for name, size in sizes.items():
            if size < 1:
                raise PrivacyError(f"attribute {name!r} needs at least one value, not {size}")
        self._sizes = dict(sizes)
        self._tables: dict[Attributes, LossTable] = {}
        self._total = 0

    @property
    def sizes(self) -> Mapping[str, int]:
        """The number of values of each attribute of the domain."""
        return self._sizes

    @property
    def total(self) -> int:
        """Σ_a max T_a, which no cell's loss exceeds."""
        return self._total

    def __len__(self) -> int:
        return len(self._tables)

    def __iter__(self) -> Iterator[LossTable]:
        """The tables in a fixed order, whatever the order in which they were added."""
        return iter(self._tables[attributes] for attributes in sorted(self._tables))

    def add(self, attributes: Attributes, cells: Cells) -> None:
        """Accumulate the loss of one measurement in place."""
        table = self._sum_with(attributes, cells)
        before = self._tables.get(attributes)
        total = self._total + table.largest - (before.largest if before is not None else 0)
        if total >= LARGEST_TOTAL:
            raise BudgetExceeded("the accumulated loss would leave the range of exact integers")
        self._tables[attributes] = table
        self._total = total

    def copy(self) -> LossTables:
        """An independent accumulator with the same content, sharing the read-only tables."""
        twin = LossTables(self._sizes)
        twin._tables = dict(self._tables)
        twin._total = self._total
        return twin

    def trial(self, attributes: Attributes, cells: Cells) -> LossTables:
        """What the accumulator would be after one more measurement; this one stays as it is."""
        twin = self.copy()
        twin.add(attributes, cells)
        return twin

    def at(self, cell: Mapping[str, int]) -> int:
        """B(t), the loss of a record in one cell."""
        return sum(
            int(table.cells[tuple(cell[name] for name in table.attributes)])
            for table in self._tables.values()
        )

    def _sum_with(self, attributes: Attributes, cells: Cells) -> LossTable:
        unknown = [name for name in attributes if name not in self._sizes]
        if unknown:
            raise PrivacyError(f"no such attribute in the domain: {', '.join(unknown)}")
        if list(attributes) != sorted(set(attributes)):
            raise PrivacyError(
                f"attributes of a loss table must be sorted and distinct: {attributes}"
            )
        shape = tuple(self._sizes[name] for name in attributes)
        if cells.dtype != np.int64 or cells.shape != shape:
            raise PrivacyError(
                f"a loss table over {attributes} must be an int64 array of shape {shape}, "
                f"not {cells.dtype} of shape {cells.shape}"
            )
        if int(cells.min()) < 0:
            raise PrivacyError("a loss cannot be negative; charge its absolute value")
        if int(cells.max()) >= LARGEST_TOTAL:
            raise BudgetExceeded(
                "the loss of one measurement is beyond the range of exact integers"
            )
        before = self._tables.get(attributes)
        # Without `out` NumPy would turn the sum of two zero-dimensional tables into a scalar.
        total = cells.copy() if before is None else np.add(before.cells, cells, out=cells.copy())
        return LossTable(attributes, total)
