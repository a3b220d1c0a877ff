"""LateSource: the table of a dataset that was open before, opened when it is first counted.

Most answers come from history and never look at the table. Opening it loads an engine, which takes
longer than such an answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from eke.data.source import Counts, Holdings, Rows, Source
from eke.errors import SecretLeak


class LateSource:
    """A protected table in a file whose fingerprint was just found to be the known one.

    Privacy: `load` opens it, before anything is charged; what it returns is the source's own.
    """

    __slots__ = ("_lock", "_open", "_opened", "_reference")

    def __init__(self, reference: Mapping[str, object], opened: Callable[[], Source]) -> None:
        self._reference = dict(reference)
        self._open = opened
        self._opened: Source | None = None
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return "LateSource(the rows are not shown)"

    def __reduce__(self) -> NoReturn:
        raise SecretLeak("a protected table cannot be pickled; open it again from its reference")

    def load(self, attribute_sets: Sequence[tuple[str, ...]] = ()) -> object:
        """Open the table, if nobody did, and make sure that these can be counted."""
        return self._source().load(attribute_sets)

    def covering(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
        """The sets to count so that counts of all these follow from them."""
        return self._source().covering(attribute_sets)

    def counts(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[Counts]:
        """Exact counts of each attribute set, all of the same table at the same moment."""
        return self._source().counts(attribute_sets)

    def load_people(self) -> None:
        """Make sure that people can be counted."""
        self._source().load_people()

    def holdings(self, attribute_sets: Sequence[tuple[str, ...]]) -> list[Holdings]:
        """Which ids have rows in which cells of each attribute set."""
        return self._source().holdings(attribute_sets)

    def rows(self) -> Rows:
        """The records one by one, coded, in the order of the table."""
        return self._source().rows()

    def reference(self) -> dict[str, object]:
        """The document that finds the table again; for the curator's eyes, it holds a digest."""
        return dict(self._reference)

    def _source(self) -> Source:
        with self._lock:
            if self._opened is None:
                self._opened = self._open()
            return self._opened
