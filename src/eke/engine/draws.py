"""Draws: what was drawn for a charge, stored before anything is made of it, and drawn once.

A release draws noise in one or several places: for the parts of its plan, then for each step that
follows from them. Whatever a place gave is an entry of the ledger before anybody sees it. After a
failure of any kind the same key finds it there and goes on; see docs/proofs/release.md.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eke.engine.tempo import UNPACED, Tempo
from eke.errors import LedgerError, PrivacyError
from eke.ledger import Book, Ledger, Reservation
from eke.ledger.failpoint import failpoint

DRAW = "draw"
"""The kind of the ledger's entries that hold draws."""
_FEW = 64
_INT64 = 2**63

_unstored: dict[tuple[str, int], tuple[str, list[int]]] = {}
"""By the hash of a reservation and place: drawn in this process, and not known to be stored.

Of the process, not of a vault: a key may come back through another vault of the same dataset.
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Something to be drawn: a text that tells it from everything else, and how it is drawn."""

    what: str
    draw: Callable[[], list[int]]


class Drawing(Protocol):
    """What a release needs of whoever draws for it."""

    def look(self) -> None:
        """Data is looked at from here on, until something is drawn."""
        ...

    def take(self, wanted: Sequence[Wanted]) -> list[list[int]]:
        """What the next places gave, one for each thing wanted."""
        ...


class Answered(Exception):
    """Another process has finished the same request; its stored answer is the answer."""


class Draws:
    """The places of one reservation, in the order in which a release comes to them.

    Privacy: one charge pays for one draw in each place. A place that the ledger holds is read, not
    drawn; one whose storing failed is kept in memory and stored later. Only when the process dies
    between drawing and storing is there another draw, and nobody has seen the first, nor anything
    made of it. It is stored a whole number of steps after data was first looked at for it, so that
    the time of counting and of drawing shows in steps only (`tempo.py`).
    """

    def __init__(
        self,
        ledger: Ledger,
        reservation: Reservation,
        *,
        is_new: bool = False,
        tempo: Tempo = UNPACED,
    ) -> None:
        self._ledger = ledger
        self._tempo = tempo
        self._began = tempo.now()
        self._reservation = reservation.sequence
        self._token = reservation.token
        self._next = 0
        self._seen = reservation.sequence
        self._stored: dict[int, tuple[str, list[int]]] = {}
        self.problem: BaseException | None = None  # why the ledger could not be used, if so
        if not is_new:
            self._take_in(ledger)

    def look(self) -> None:
        """Data is looked at from here on, until something is drawn."""
        self._began = self._tempo.now()

    def take(self, wanted: Sequence[Wanted]) -> list[list[int]]:
        """What the next places gave, one for each thing wanted, stored together."""
        places = range(self._next, self._next + len(wanted))
        self._next = places.stop
        for place, thing in zip(places, wanted, strict=True):
            if place not in self._stored and self._key(place) not in _unstored:
                _unstored[self._key(place)] = _digest(thing.what), thing.draw()
        self._tempo.rest(self._began)
        failpoint("engine.drawn")
        try:
            self._store(places)
        except BaseException as problem:
            self.problem = problem
            raise
        drawn = []
        for place, thing in zip(places, wanted, strict=True):
            what, steps = self._stored[place]
            if what != _digest(thing.what):
                raise PrivacyError("a repeated release came to another question than before")
            drawn.append(steps)
        return drawn

    def forget(self) -> None:
        """Let go of what is stored by now."""
        for place in range(self._next):
            _unstored.pop(self._key(place), None)

    def _store(self, places: range) -> None:
        if all(place in self._stored for place in places):
            return
        with self._ledger.exclusive() as book:
            self._take_in(book)  # another process with the same key may have been faster
            fresh = [self._document(place) for place in places if place not in self._stored]
            if fresh:
                book.note(DRAW, {"reservation": self._reservation, "draws": fresh})
        for document in fresh:
            self._keep(document)

    def _document(self, place: int) -> dict[str, object]:
        what, steps = _unstored[self._key(place)]
        return {"place": place, "what": what, **_packed(steps)}

    def _key(self, place: int) -> tuple[str, int]:
        return self._token, place

    def _take_in(self, ledger: Ledger | Book) -> None:
        """Read the entries that are new."""
        for entry in ledger.entries(after=self._seen):
            if entry.kind == "commit" and entry.about.get("reservation") == self._reservation:
                raise Answered
            if entry.kind == DRAW and entry.payload.get("reservation") == self._reservation:
                documents = entry.payload.get("draws")
                if not isinstance(documents, list):
                    raise LedgerError("the ledger holds draws of an unknown form")
                for document in documents:
                    self._keep(document)
            self._seen = entry.sequence

    def _keep(self, document: Mapping[str, Any]) -> None:
        # The first draw of a place counts, as everywhere in the ledger.
        self._stored.setdefault(document["place"], (document["what"], _unpacked(document)))


def _digest(what: str) -> str:
    return hashlib.sha256(what.encode()).hexdigest()


def _packed(steps: list[int]) -> dict[str, object]:
    """Whole numbers of any size as JSON values, many of them in little room."""
    if len(steps) <= _FEW or not all(-_INT64 <= step < _INT64 for step in steps):
        return {"steps": steps}
    packed = zlib.compress(np.array(steps, "<i8").tobytes())
    return {"packed": base64.b64encode(packed).decode()}


def _unpacked(document: Mapping[str, Any]) -> list[int]:
    if "steps" in document:
        return list(document["steps"])
    packed = zlib.decompress(base64.b64decode(document["packed"]))
    return [int(step) for step in np.frombuffer(packed, "<i8")]


def text_of(document: object) -> str:
    """A document as a text: equal documents give equal texts."""
    return json.dumps(document, sort_keys=True)
