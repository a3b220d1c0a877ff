"""The loss of every cell of a huge domain, kept as a sum of small tables.

A measurement of a query over the attributes a costs a record in cell t an amount that depends on
t_a only. Accumulated losses are therefore B(t) = Σ_a T_a(t_a), one table per set of attributes,
and the domain itself is never enumerated. `eke.privacy.extremum` finds the maximum of B. Along
columns of very many values a table has an entry for each of some stretches (`stretches.py`), and
`aligned` gives all tables the same ones.

Tables are kept exactly as they were asked, one per set of attributes, and never folded into one
another: the content then does not depend on the order of the questions, nor does any decision
that is computed from it. Only a table of stretches that has no room for more of them does.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from eke.errors import BudgetExceeded, PrivacyError
from eke.privacy.pair_split import Cells, PairSplit, maxima_over_others, split_into_pairs
from eke.privacy.stretches import Stops, coarsened, expanded, together

Attributes = tuple[str, ...]

LARGEST_TABLE = 2**18
"""A measurement over more cells is charged by a bound over fewer attributes, or on stretches."""

# Sums of losses stay below this, so that no addition of two of them can leave int64.
LARGEST_TOTAL = 2**62


class LossTable:
    """One read-only table T_a, with facts about it that are computed at most once.

    All cached facts are functions of the cells alone. A trial shares the untouched tables of its
    original, so only the touched one is ever examined again.
    """

    def __init__(
        self, attributes: Attributes, cells: Cells, stops: Mapping[str, Stops] | None = None
    ) -> None:
        cells.flags.writeable = False
        self.attributes = attributes
        self.cells = cells
        # Of the attributes that it has stretches of; nobody else holds them.
        self.stops: Mapping[str, Stops] = {name: own.copy() for name, own in (stops or {}).items()}
        self.largest = int(cells.max())

    @cached_property
    def digest(self) -> bytes:
        """Equal for tables with the same losses of the same cells, and for no others."""
        stretches = [(name, self.stops[name].tolist()) for name in sorted(self.stops)]
        known = repr((self.attributes, self.cells.shape, stretches)).encode()
        return hashlib.sha256(hashlib.sha256(known).digest() + self.cells.tobytes()).digest()

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
        self._aligned: LossTables | None = None

    @property
    def sizes(self) -> Mapping[str, int]:
        """The number of values of each attribute of the domain."""
        return self._sizes

    @property
    def total(self) -> int:
        """Σ_a max T_a, which no cell's loss exceeds."""
        return self._total

    @property
    def digest(self) -> bytes:
        """Equal for accumulators with the same tables over the same domain, and for no others."""
        sizes = repr(list(self._sizes.items())).encode()
        content = hashlib.sha256(hashlib.sha256(sizes).digest())
        for table in self:
            content.update(table.digest)
        return content.digest()

    def __len__(self) -> int:
        return len(self._tables)

    def __iter__(self) -> Iterator[LossTable]:
        """The tables in a fixed order, whatever the order in which they were added."""
        return iter(self._tables[attributes] for attributes in sorted(self._tables))

    def add(
        self, attributes: Attributes, cells: Cells, stops: Mapping[str, Stops] | None = None
    ) -> None:
        """Accumulate the loss of one measurement in place; `stops` are those of its stretches."""
        table = self._sum_with(attributes, cells, stops or {})
        self._aligned = None
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
        total = 0
        for table in self._tables.values():
            places = [
                int(np.searchsorted(table.stops[name], cell[name], side="right"))
                if name in table.stops
                else cell[name]
                for name in table.attributes
            ]
            total += int(table.cells[tuple(places)])
        return total

    def aligned(self) -> LossTables:
        """The same losses, or more, with the same stretches in all tables, which count as values.

        Privacy: never less than before, for any cell. A table that would become too large is
        replaced by its largest losses over the columns in question.
        """
        if not any(table.stops for table in self):
            return self
        if self._aligned is None:
            self._aligned = self._on_common_stretches()
        return self._aligned

    def _on_common_stretches(self) -> LossTables:
        wide = sorted({name for table in self for name in table.stops})
        common = {
            name: together(table.stops[name] for table in self if name in table.stops)
            for name in wide
        }
        sizes = {name: len(common.get(name, ())) or size for name, size in self._sizes.items()}
        result = LossTables(sizes)
        for table in self:
            attributes, cells = table.attributes, table.cells
            too_large = math.prod(sizes[name] for name in attributes) > LARGEST_TABLE
            for name in table.stops:
                axis = attributes.index(name)
                if too_large:
                    attributes = attributes[:axis] + attributes[axis + 1 :]
                    cells = np.asarray(cells.max(axis=axis))
                else:
                    cells = expanded(cells, axis, table.stops[name], common[name])
            result.add(attributes, cells)
        return result

    def _sum_with(
        self, attributes: Attributes, cells: Cells, stops: Mapping[str, Stops]
    ) -> LossTable:
        unknown = [name for name in attributes if name not in self._sizes]
        if unknown:
            raise PrivacyError(f"no such attribute in the domain: {', '.join(unknown)}")
        if list(attributes) != sorted(set(attributes)):
            raise PrivacyError(
                f"attributes of a loss table must be sorted and distinct: {attributes}"
            )
        for name, ends in stops.items():
            size = self._sizes[name] if name in attributes else -1
            if ends[-1] != size or (np.diff(ends, prepend=0) <= 0).any():
                raise PrivacyError(f"stretches of {name!r} must ascend and end with its values")
        shape = tuple(
            len(stops[name]) if name in stops else self._sizes[name] for name in attributes
        )
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
        if before is None:
            return LossTable(attributes, cells.copy(), stops)
        if set(stops) != set(before.stops):
            raise PrivacyError("tables over the same attributes must have stretches of the same")
        sums = before.cells
        common = {name: together((ends, before.stops[name])) for name, ends in stops.items()}
        sizes = [len(common[name]) if name in common else self._sizes[name] for name in attributes]
        if math.prod(sizes) > LARGEST_TABLE:  # the stretches that there are must do
            common = dict(before.stops)
        for name, ends in stops.items():
            axis = attributes.index(name)
            cells = coarsened(cells, axis, ends, common[name])
            sums = expanded(sums, axis, before.stops[name], common[name])
        # Without `out` NumPy would turn the sum of two zero-dimensional tables into a scalar.
        return LossTable(attributes, np.add(sums, cells, out=cells.copy()), common)
