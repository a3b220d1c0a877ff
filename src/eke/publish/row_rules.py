"""Row rules: what public facts demand of published rows, and rows changed as little as needed.

A fact that nobody meets a condition holds in every row, and so does a dependency, which is such a
condition. Totals and public tables hold exactly: in as many rows as there are public records, as
they stand; in another number, in proportion. Whether whole numbers can meet all of it together is
found out before anything is charged. Facts may name columns that are not published: rows then keep
to what follows for the others, since every row could be completed.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from eke.arrays import Codes, FloatArray
from eke.domain import Domain
from eke.errors import FactError
from eke.history import Assertion
from eke.publish.row_moves import balanced, possible, with_values
from eke.publish.row_numbers import RowNumbers, RowPart, part_with_rules
from eke.publish.row_sorts import PublicNumber, parts_of, public_numbers

_UNPUBLISHED = 1e-3  # what a change of a column costs that is not published; of another one, 1


class RowRules:
    """What facts demand of rows with these columns; made before anything is charged.

    Raises `FactError` when no rows can meet all of it. `total` is the number of records, where it
    is public, and `rows` the number of rows, where it is known.

    Privacy: reads the domain and public facts, and changes rows that were released.
    """

    def __init__(
        self,
        domain: Domain,
        names: tuple[str, ...],
        facts: Sequence[Assertion],
        *,
        total: int | None,
        rows: int | None,
        most_rows: int,
    ) -> None:
        self._domain, self._names = domain, names
        numbers = [one for one in public_numbers(facts) if one.query.attributes]
        if rows is not None and rows != total:
            numbers = [_in_proportion(one, rows, total) for one in numbers]
        self._parts = [part_with_rules(sorts, rows) for sorts in parts_of(domain, numbers)]
        self._rows = rows
        self._numbers: RowNumbers | None = None
        if any(part.counted for part in self._parts):
            low, high = (0, most_rows) if rows is None else (rows, rows)
            self._numbers = RowNumbers(self._parts, low, high)

    def rows_near(self, wanted: int) -> int:
        """A number of rows for which everything can hold, next to the one that is wanted."""
        if self._rows is not None:
            return self._rows
        return wanted if self._numbers is None else self._numbers.rows_near(wanted)

    def kept_by(self, codes: Codes) -> Codes:
        """Rows that meet all of it, as many as `rows_near` says, changed as little as needed.

        The same rows give the same rows.
        """
        source = np.random.default_rng(zlib.crc32(np.ascontiguousarray(codes, "<i8").tobytes()))
        codes = self._resized(codes, source)
        if not self._parts or not len(codes):
            return codes
        columns = dict(zip(self._names, codes.T, strict=True))
        for name in dict.fromkeys(name for part in self._parts for name in part.sorts.attributes):
            if name not in columns:  # any value: it is changed before another column is
                columns[name] = source.integers(0, self._domain[name].size, len(codes))
        before = [
            part.sorts.of_rows([columns[name] for name in part.sorts.attributes])
            for part in self._parts
        ]
        after = [
            possible(given, part.sorts, part.allowed, self._costs(part), source)
            for given, part in zip(before, self._parts, strict=True)
        ]
        after = self._in_numbers(after, source)
        for part, old, new in zip(self._parts, before, after, strict=True):
            names = part.sorts.attributes
            changed = with_values([columns[name] for name in names], old, new, part.sorts, source)
            columns |= dict(zip(names, changed, strict=True))
        return np.stack([columns[name] for name in self._names], axis=1)

    def _resized(self, codes: Codes, source: np.random.Generator) -> Codes:
        """As many rows as there are to be: each as often as any other, or any rows if none are."""
        rows = self.rows_near(len(codes))
        if rows == len(codes):
            return codes
        if not len(codes):
            sizes = self._domain.sizes(self._names)
            return np.stack([source.integers(0, size, rows) for size in sizes], axis=1)
        whole, rest = divmod(rows, len(codes))
        more = source.permutation(len(codes))[:rest]
        chosen = np.sort(np.concatenate([np.tile(np.arange(len(codes)), whole), more]))
        return np.asarray(codes[chosen])

    def _in_numbers(self, sorts: list[Codes], source: np.random.Generator) -> list[Codes]:
        """The sorts of the rows of each part, in the numbers that are public."""
        if self._numbers is None:
            return sorts
        places = [place for place, part in enumerate(self._parts) if part.counted]
        counts = [
            np.bincount(sorts[place], minlength=self._parts[place].sorts.size) for place in places
        ]
        result = list(sorts)
        for place, wanted in zip(places, self._numbers.wanted(counts, len(sorts[0])), strict=True):
            part = self._parts[place]
            result[place] = balanced(sorts[place], part.sorts, wanted, self._costs(part), source)
        return result

    def _costs(self, part: RowPart) -> FloatArray:
        return np.array(
            [1.0 if name in self._names else _UNPUBLISHED for name in part.sorts.attributes]
        )


def _in_proportion(number: PublicNumber, rows: int, total: int | None) -> PublicNumber:
    """What a fact says of another number of rows than there are records."""
    if not number.value:
        return number
    if not total:
        raise FactError(
            f"{number.name} is public, and the number of records is not, so that {rows:,} rows "
            "cannot keep to it. Nothing was charged; leave rows= out, or register the number of "
            "records, too"
        )
    return PublicNumber(number.query, number.value * Fraction(rows, total), number.name)
