"""MarginalSource: a protected table that its own engine counts, question by question.

For tables whose non-empty cells would fill a machine: nothing is collected but the tables of counts
that a plan needs, all of them in one scan. They are kept, so that the next plan about the same
attributes needs no scan.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from eke.data.cells import Cells
from eke.data.cover import MOST_CELLS, cells, check_size, cover
from eke.data.source import Counts, Holdings, Rows, check_totals
from eke.domain import Domain
from eke.errors import DataError, SecretLeak
from eke.privacy.unit import Unit

_NO_ROWS = (
    "a table that is counted by marginals is never read row by row; nothing was spent. Protect it "
    "with collect='cells', from a file or a table in memory, to publish rows"
)
_NO_PEOPLE = (
    "a table that is counted by marginals does not tell whose its rows are; nothing was spent. "
    "Protect it with collect='cells' to count people, or make a view with one row a person"
)
_MOST_HELD = 2 * MOST_CELLS

Scan = Callable[[Sequence[tuple[str, ...]]], Sequence[Cells]]
"""The tables of some sets of attributes, all from one scan of the table known before."""


class MarginalSource:
    """A protected table of which only tables of counts are ever held.

    Privacy: Everything it returns is exact and belongs behind the junction. Only `domain`, `unit`
    and `notes` are public. What is scanned, held and forgotten follows from the questions and the
    domain, never from a count.
    """

    __slots__ = (
        "_check",
        "_checked",
        "_held",
        "_lock",
        "_reference",
        "_scan",
        "domain",
        "notes",
        "unit",
    )

    def __init__(
        self,
        domain: Domain,
        unit: Unit | None,
        *,
        scan: Scan,
        check: Callable[[], object],
        reference: Mapping[str, object],
        notes: Sequence[str] = (),
    ) -> None:
        self.domain = domain
        self.unit = unit
        self.notes = tuple(notes)
        self._scan = scan
        self._check = check
        self._checked = False
        self._reference = dict(reference)
        self._lock = threading.Lock()
        self._held: dict[tuple[str, ...], Cells] = {}  # the one used last at the end

    def __repr__(self) -> str:
        return f"MarginalSource({', '.join(self.domain.names)}; the rows are not shown)"

    def __reduce__(self) -> NoReturn:
        raise SecretLeak("a protected table cannot be pickled; open it again from its reference")

    def load(self, attribute_sets: Sequence[tuple[str, ...]] = ()) -> None:
        """Make sure that these sets may be counted and that the table is the one known before."""
        for attributes in attribute_sets:
            check_size(attributes, self.domain)
        if not self._checked:
            self._check()
            self._checked = True

    def covering(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """These sets: the server counts several in one scan, and the whole table need not fit."""
        return list(attribute_sets)

    def counts(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[Counts]:
        """Exact counts of each attribute set, in the order asked, all of the same rows.

        Threads may ask at once: each goes by the tables that were held when it began.
        """
        self.load(attribute_sets)
        with self._lock:
            known = dict(self._held)
        missing = [n for n in attribute_sets if not any(set(n) <= set(one) for one in known)]
        used: dict[tuple[str, ...], Cells] = {}
        if missing:
            sets = cover(missing, self.domain)
            used = dict(zip(sets, self._scan(sets), strict=True))
            known |= used
        tables = []
        for names in attribute_sets:
            holder = next(one for one in known if set(names) <= set(one))
            used[holder] = known[holder]
            tables.append(known[holder].marginal(tuple(names)))
        check_totals(tables)
        self._hold(used)
        return tables

    @property
    def held_cells(self) -> int:
        """How many counts are held in memory; secret, as the counts are."""
        with self._lock:
            return sum(len(table.counts) for table in self._held.values())

    def load_people(self) -> None:
        """Refused: whose rows they are is never read."""
        raise DataError(_NO_PEOPLE)

    def holdings(self, _: Sequence[tuple[str, ...]]) -> list[Holdings]:
        """Refused, too."""
        raise DataError(_NO_PEOPLE)

    def rows(self) -> Rows:
        """Refused: the rows stay where they are."""
        raise DataError(_NO_ROWS)

    def reference(self) -> dict[str, object]:
        """The document that finds the table again; for the curator's eyes, it holds a digest."""
        return dict(self._reference)

    def _hold(self, used: Mapping[tuple[str, ...], Cells]) -> None:
        """Keep what was used last, as far as there is room."""
        with self._lock:
            for names, table in used.items():
                self._held.pop(names, None)
                self._held[names] = table
            room = _MOST_HELD
            for names in reversed(list(self._held)):
                room -= cells(names, self.domain)
                if room < 0:
                    del self._held[names]
