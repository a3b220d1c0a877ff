"""Standing: what follows from the ledger alone, without any data.

Measurements, estimates, accounts, caps and the plans of reservations, brought up to date entry by
entry. The same entries give the same standing on every machine, so that a decision can be
replayed from an exported ledger.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from eke.domain import Domain
from eke.engine.share import CAP, Shares
from eke.engine.snapshot import Snapshot
from eke.errors import LedgerError
from eke.history import Measurement, Row
from eke.inference import Inference
from eke.ledger import Entry
from eke.planning import Facts, Past, Plan
from eke.privacy.accountant import Accountant
from eke.privacy.measure import Measure
from eke.query import Neighbours
from eke.query.kinds import ReadBlocks
from eke.query.view import view_with


@dataclass(frozen=True, slots=True)
class Reserved:
    """What a reservation in the ledger is for."""

    analyst: str
    plan: Plan
    cost: int
    at: str  # when it was charged


class Standing:
    """What is known, spent and allowed after the entries `take_in` was given."""

    def __init__(
        self,
        domain: Domain,
        measure: Measure,
        neighbours: Neighbours,
        rows_per_unit: int,
        public_rows: tuple[Row, ...],
    ) -> None:
        self.seen = 0
        self.last_change = 0
        self.limit = 0
        self.shares = Shares()
        self.measurements: list[Measurement] = []
        self.reservations: dict[int, Reserved] = {}
        self._unmeasured: dict[int, ReadBlocks] = {}  # what open reservations are going to measure
        self.accountant = Accountant(domain, measure, neighbours, rows_per_unit)
        self._past = Past()
        self._domain = domain
        self._public_rows = public_rows
        self._inference = self._inference_from([])

    def facts(self) -> Facts:
        """History and accounts as they are now, for good, as planning takes them."""
        return Facts(self._inference.view(), copy(self.accountant), self.limit, self._past.view())

    def view(self) -> Standing:
        """The standing as it is now, for good: neither of the two sees what the other takes in.

        Cheap: what only grows is shared (`Inference.view`); lists of entries are copied.
        """
        return view_with(
            self,
            measurements=list(self.measurements),
            reservations=dict(self.reservations),
            _unmeasured=dict(self._unmeasured),
            accountant=copy(self.accountant),
            _past=self._past.view(),
            _inference=self._inference.view(),
        )

    def snapshot(self) -> Snapshot:
        """What readers are shown of this standing, which takes nothing in any more."""
        return Snapshot(
            self.seen,
            Facts(self._inference, self.accountant, self.limit, self._past),
            self.shares,
            tuple(self.measurements),
            self._inference_from,
        )

    def take_in(self, entries: Iterable[Entry]) -> None:
        """Follow the ledger by its next entries."""
        try:
            for entry in entries:
                self._take_in(entry)
        finally:
            self._inference.settle()

    def _take_in(self, entry: Entry) -> None:
        if entry.kind == "reserve":
            self._reserve(entry)
        elif entry.kind == "commit":
            measured = self._released(entry)
            self.measurements.extend(measured)
            self._inference.take_in(measured)
        elif entry.kind in {"genesis", "limit"}:
            self.limit = _whole(entry.about["limit"])
        elif entry.kind == CAP:
            self.shares = self.shares.capped(entry.payload)
        if entry.kind in _CHANGES:
            self.last_change = entry.sequence
        self.seen = entry.sequence

    def learn(self, measured: Sequence[Measurement]) -> None:
        """Take in what was measured together."""
        self.measurements.extend(measured)
        self._inference.extend_all(measured)

    @property
    def is_ahead(self) -> bool:
        """True between `learn` and `stepped_over`: it holds what the ledger may never hold."""
        return bool(self.measurements) and self.measurements[-1].sequence > self.seen

    def stepped_over(self, entry: Entry) -> bool:
        """True when this commit was learned before it was stored and nothing came between.

        Who and when, which only the entry knows, are filled in.
        """
        own = self._released(entry)
        learned = self.measurements[-len(own)].sequence == entry.sequence
        if self.seen + 1 != entry.sequence or not learned:
            return False
        self.measurements[-len(own) :] = own
        self.seen = self.last_change = entry.sequence
        return True

    def _reserve(self, entry: Entry) -> None:
        analyst, cost = str(entry.about["analyst"]), _whole(entry.payload["cost"])
        document = _mapping(entry.payload["plan"])
        plan = Plan.from_document(self._domain, document)
        spent_after = _whole(entry.about["spent_after"])
        for part in plan.parts:
            self.accountant.add(part.query, part.law, spent_after)
        self.accountant.charge_everyone(plan.flat_loss, spent_after)
        self._past.learn(plan)
        self.shares = self.shares.charged(analyst, cost)
        self.reservations[entry.sequence] = Reserved(analyst, plan, cost, entry.at)
        self._unmeasured[entry.sequence] = [
            (part["query"], own.query)
            for part, own in zip(document["parts"], plan.parts, strict=True)
        ]

    def _released(self, entry: Entry) -> list[Measurement]:
        """The measurements that a commit holds."""
        documents = entry.payload["measurements"]
        if not isinstance(documents, list):
            raise LedgerError("the ledger holds a release of an unknown form")
        reservation = _whole(entry.about["reservation"])
        reserved = self.reservations[reservation]
        # What was measured is nearly always what was reserved, and is read once then.
        read = self._unmeasured.pop(reservation, ())
        return [
            Measurement.from_document(
                self._domain,
                _mapping(document),
                read=read,
                sequence=entry.sequence,
                analyst=reserved.analyst,
                # The charge's time: that of the release would tell how long the data took.
                at=reserved.at,
            )
            for document in documents
        ]

    def _inference_from(self, known: Sequence[Measurement]) -> Inference:
        inference = Inference(self._domain)
        for row in self._public_rows:
            inference.append(row)
        for _, released in groupby(known, key=lambda one: one.sequence):
            inference.take_in(list(released))
        inference.settle()
        return inference


_CHANGES = {"reserve", "commit", "genesis", "limit", CAP}
"""The kinds of entries that a decision depends on."""


def _whole(value: object) -> int:
    if type(value) is not int:
        raise LedgerError("the ledger holds an amount that is no whole number")
    return value


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise LedgerError("the ledger holds a document of an unknown form")
    return value
