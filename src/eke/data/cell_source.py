"""CellSource: a protected table, coded and counted once by its engine, and summed from then on.

The coded table must fit in memory: one to four bytes an attribute and eight for the count, for each
non-empty cell. The rows stay where they are. Whoever opens a table for a single question need not
wait for all of its columns: the first ones that are needed may be read alone, and all of them when
others are needed, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from eke.data.cells import Cells, cells_of_rows
from eke.data.fingerprint import CHANGED
from eke.data.holders import Holders
from eke.data.row_sample import RowSample, stored_sample
from eke.data.source import Counts, Holdings, Rows, check_totals
from eke.domain import Domain
from eke.errors import DataError, SecretLeak
from eke.privacy.unit import Unit

_NO_ORDER = (
    "this table cannot be read row by row in an order of its own: that needs a file or a table in "
    "memory, a domain that drops no row, and single rows as units"
)
_FEW_SETS = 32
_NO_PEOPLE = "this table protects single rows, and knows nobody whose rows they are; count records"


class CellSource:
    """A protected table. It holds cells once `load` has run, and nothing of the engine.

    Privacy: Everything it returns is exact and belongs behind the junction. Only `domain`, `unit`
    and `notes` are public.
    """

    __slots__ = (
        *("_cells", "_holders", "_list", "_read", "_read_holders", "_read_some", "_reference"),
        *("domain", "notes", "unit"),
    )

    def __init__(
        self,
        domain: Domain,
        unit: Unit | None,
        *,
        read: Callable[[], Cells],
        reference: Mapping[str, object],
        notes: Sequence[str] = (),
        read_some: Callable[[frozenset[str]], Cells] | None = None,
        list_rows: Callable[[], Rows] | None = None,
        read_holders: Callable[[], Holders] | None = None,
    ) -> None:
        """`read_some` reads the same rows, but only of some attributes, or of a few more.

        `read_holders` says whose they are, where units have ids.
        """
        self.domain = domain
        self.unit = unit
        self.notes = tuple(notes)
        self._read = read
        self._read_some = read_some
        self._list = list_rows
        self._read_holders = read_holders if unit is not None else None
        self._reference = dict(reference)
        self._cells: Cells | None = None
        self._holders: Holders | None = None

    def __repr__(self) -> str:
        return f"CellSource({', '.join(self.domain.names)}; the rows are not shown)"

    def __reduce__(self) -> NoReturn:
        raise SecretLeak("a protected table cannot be pickled; open it again from its reference")

    def load(self, attribute_sets: Sequence[tuple[str, ...]] = ()) -> Cells:
        """Cells over these attributes at least, over all without sets; before charging anyone."""
        names = frozenset(name for names in attribute_sets for name in names)
        needed = names if attribute_sets else frozenset(self.domain.names)
        cells = self._cells
        if cells is None or not needed.issubset(cells.names):
            is_first = cells is None and bool(attribute_sets)
            some = self._read_some if is_first else None
            self._cells = cells = self._read() if some is None else some(needed)
        return cells

    def covering(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """These sets; if they are many, one of all their attributes, which is held anyway."""
        if len(attribute_sets) <= _FEW_SETS:
            return list(attribute_sets)
        wanted = {name for names in attribute_sets for name in names}
        return [tuple(name for name in self.domain.names if name in wanted)]

    def counts(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[Counts]:
        """Exact counts of each attribute set, in the order asked, all of the same rows."""
        cells = self.load(attribute_sets)
        distinct = dict.fromkeys(map(tuple, attribute_sets))
        tables = {attributes: cells.marginal(attributes) for attributes in distinct}
        check_totals(list(tables.values()))
        return [tables[tuple(attributes)] for attributes in attribute_sets]

    def load_people(self) -> None:
        """Know of each row whose it is; before charging anyone.

        Privacy: these must be the very rows that are counted, of the table known before.
        """
        if self._holders is None:
            if self._read_holders is None:
                raise DataError(_NO_PEOPLE)
            holders = self._read_holders()
            if holders.cells().sha256() != self.load().sha256():
                raise DataError(CHANGED)
            self._holders = holders

    def holdings(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[Holdings]:
        """Which ids have counted rows in which cells of each attribute set."""
        self.load_people()
        if self._holders is None:
            raise DataError(_NO_PEOPLE)
        return [self._holders.within(tuple(attributes)) for attributes in attribute_sets]

    @property
    def held_cells(self) -> int:
        """How many counts are held in memory; secret, as the counts are."""
        return 0 if self._cells is None else len(self._cells.counts)

    def rows(self) -> Rows:
        """The records one by one in the order of the table, the same ones that are counted."""
        if self._list is None or self.unit is not None or not self.domain.total:
            raise DataError(_NO_ORDER)
        rows = self._list()
        if cells_of_rows(rows, self.domain.shape).sha256() != self.load().sha256():
            raise DataError(CHANGED)
        return rows

    def reference(self) -> dict[str, object]:
        """The document that finds the table again; for the curator's eyes, it holds a digest."""
        return dict(self._reference)


def stated_reference(
    kind: str, cells: Cells, domain: Domain, unit: Unit | None, sample: RowSample | None
) -> dict[str, object]:
    """The reference of a table that is not stored: what it must be when it is given again."""
    columns = [*domain.names, *([unit.column] if unit else [])]
    return {"kind": kind, "columns": columns, "sha256": cells.sha256(), **stored_sample(sample)}
