"""Accounts: what was charged and measured, read from the ledger's entries when it is needed.

Free answers need none of it. So entries are only noted as they come; plans, losses and lists of
measurements are worked out when somebody asks for one of them, and kept from then on.
"""

from __future__ import annotations

import gc
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from eke.domain import Domain
from eke.engine.refined import refined_by
from eke.engine.share import CAP, Shares
from eke.errors import LedgerError
from eke.history import ChosenStep, Measurement
from eke.ledger import Entry
from eke.planning import Askings, Past, Plan, Refinable, refinable_among
from eke.privacy.accountant import Accountant
from eke.privacy.measure import Measure
from eke.query import Block
from eke.query.kinds import ReadBlocks
from eke.query.view import view_with

_SOON = 64
"""More entries than this are read before they are shared, so that this is done once."""


@dataclass(frozen=True, slots=True)
class Reserved:
    """What a reservation in the ledger is for."""

    analyst: str
    plan: Plan
    cost: int
    at: str  # when it was charged


@dataclass(slots=True)
class Books:
    """Accounts and lists after some entries."""

    domain: Domain
    accountant: Accountant
    past: Past = field(default_factory=Past)
    shares: Shares = field(default_factory=Shares)
    measurements: list[Measurement] = field(default_factory=list)
    choices: list[ChosenStep] = field(default_factory=list)
    reservations: dict[int, Reserved] = field(default_factory=dict)
    unmeasured: dict[int, ReadBlocks] = field(default_factory=dict)  # of open reservations
    refined: set[int] = field(default_factory=set)  # measurements, as soon as it is charged
    askings: Askings = field(default_factory=Askings)  # of the measurements; shared by views

    def view(self) -> Books:
        """The books as they are now, for good."""
        return Books(
            self.domain,
            copy(self.accountant),
            self.past.view(),
            self.shares,
            list(self.measurements),
            list(self.choices),
            dict(self.reservations),
            dict(self.unmeasured),
            set(self.refined),
            self.askings,
        )

    def take_in(self, entry: Entry, read: ReadBlocks) -> None:
        """Follow the ledger by one entry; what was read of it already need not be read again."""
        if entry.kind == "reserve":
            self._reserve(entry, read)
        elif entry.kind == "commit":
            self.measurements += self._released(entry, read)
            self.choices += self._chosen(entry)
        elif entry.kind == CAP:
            self.shares = self.shares.capped(entry.payload)

    def _reserve(self, entry: Entry, read: ReadBlocks) -> None:
        document = mapping(entry.payload["plan"])
        plan = Plan.from_document(self.domain, document, read)
        spent_after = whole(entry.about["spent_after"])
        for part in plan.parts:
            self.accountant.add(part.query, part.charged, spent_after)
        self.accountant.charge_everyone(plan.flat_loss, spent_after)
        self.past.learn(plan)
        self.refined.update(refined_by(plan))
        analyst, cost = str(entry.about["analyst"]), whole(entry.payload["cost"])
        self.shares = self.shares.charged(analyst, cost)
        self.reservations[entry.sequence] = Reserved(analyst, plan, cost, entry.at)
        self.unmeasured[entry.sequence] = [
            (part["query"], own.query)
            for part, own in zip(document["parts"], plan.parts, strict=True)
        ]

    def _chosen(self, entry: Entry) -> list[ChosenStep]:
        """What a commit says was chosen, of what its reservation wanted chosen."""
        steps = entry.payload.get("choices", ())
        if not steps:
            return []
        reserved = self.reservations[whole(entry.about["reservation"])]
        if not isinstance(steps, list) or len(steps) > len(reserved.plan.choices):
            raise LedgerError("the ledger holds a choice of an unknown form")
        return [  # all of them, or the first ones, if a later one failed
            ChosenStep(choice, whole(step), entry.sequence, reserved.analyst, reserved.at)
            for choice, step in zip(reserved.plan.choices, steps, strict=False)
        ]

    def _released(self, entry: Entry, read: ReadBlocks) -> list[Measurement]:
        """The measurements that a commit holds."""
        reservation = whole(entry.about["reservation"])
        reserved = self.reservations[reservation]
        return released(
            self.domain,
            entry,
            # What was measured is nearly always what was reserved, and is read once then.
            read=[*read, *self.unmeasured.pop(reservation, ())],
            analyst=reserved.analyst,
            # The charge's time: that of the release would tell how long the data took.
            at=reserved.at,
        )


class LateAccounts:
    """Books that are brought up to date when somebody looks at them."""

    def __init__(self, beginning: Callable[[], Books], measure: Measure, spent: int = 0) -> None:
        self.measure = measure
        self.spent = spent  # the loss that the ledger recorded last
        self._beginning = beginning
        self._books: Books | None = None
        self._noted: deque[tuple[Entry, ReadBlocks]] = deque()
        self._lock = threading.Lock()

    def note(self, entry: Entry, read: ReadBlocks = ()) -> None:
        """Remember an entry for later, with the blocks that were read from it."""
        if entry.kind == "reserve":
            self.spent = max(self.spent, whole(entry.about["spent_after"]))
        self._noted.append((entry, read))

    def view(self) -> LateAccounts:
        """The accounts as they are now, for good.

        Whoever has asked for them is going to ask again: what is new is worked out once, for both.
        """
        if self._books is not None or len(self._noted) > _SOON:
            self.books()
        with self._lock:
            return view_with(
                self,
                _books=None if self._books is None else self._books.view(),
                _noted=self._noted.copy(),
                _lock=threading.Lock(),
            )

    def books(self) -> Books:
        """Everything that was noted, worked out."""
        with self._lock:
            if self._books is None:
                with _no_collector():
                    self._books = self._beginning().view()
            # What a commit measured was read for the history; its reservation holds the same.
            read = {
                entry.about["reservation"]: blocks
                for entry, blocks in self._noted
                if entry.kind == "commit"
            }
            while self._noted:
                entry, blocks = self._noted[0]
                self._books.take_in(entry, blocks or read.get(entry.sequence, ()))
                self._noted.popleft()
            return self._books

    @property
    def accountant(self) -> Accountant:
        """The losses of everything charged."""
        return self.books().accountant

    @property
    def past(self) -> Past:
        """What was paid for before."""
        return self.books().past

    @property
    def choices(self) -> Sequence[ChosenStep]:
        """What was chosen before."""
        return self.books().choices

    def refinable(self, query: Block) -> Refinable | None:
        """The measurement of this question that may be refined."""
        books = self.books()
        places = books.askings.places(query, books.measurements)
        return refinable_among(query, books.measurements, books.refined, places)


@contextmanager
def _no_collector() -> Iterator[None]:
    """Python looks for no garbage: what is read is kept, and it would look through all of that."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def released(
    domain: Domain, entry: Entry, *, read: ReadBlocks = (), analyst: str = "", at: str = ""
) -> list[Measurement]:
    """The measurements that a commit holds."""
    measurements: list[Measurement] = []
    last: ReadBlocks = ()  # the same question is often measured twice in a row
    for document in _documents(entry):
        measurement = Measurement.from_document(
            domain,
            document,
            read=[*read, *last],
            sequence=entry.sequence,
            analyst=analyst,
            at=at,
        )
        measurements.append(measurement)
        last = [(document["query"], measurement.query)]
    return measurements


def released_document(measured: Sequence[Measurement], steps: Sequence[int]) -> dict[str, object]:
    """What a commit holds: measurements, and the steps that were chosen if any were."""
    document: dict[str, object] = {"measurements": [one.to_document() for one in measured]}
    return {**document, "choices": list(steps)} if steps else document


def blocks_of(entry: Entry, measured: Sequence[Measurement]) -> ReadBlocks:
    """The documents of what a commit measured, with their blocks."""
    documents = _documents(entry)
    return [(d["query"], one.query) for d, one in zip(documents, measured, strict=True)]


def _documents(entry: Entry) -> list[Mapping[str, Any]]:
    documents = entry.payload["measurements"]
    if not isinstance(documents, list):
        raise LedgerError("the ledger holds a release of an unknown form")
    return [mapping(document) for document in documents]


def whole(value: object) -> int:
    """An amount as the ledger must hold it."""
    if type(value) is not int:
        raise LedgerError("the ledger holds an amount that is no whole number")
    return value


def mapping(value: object) -> Mapping[str, Any]:
    """A document as the ledger must hold it."""
    if not isinstance(value, Mapping):
        raise LedgerError("the ledger holds a document of an unknown form")
    return value
