"""Archive: releases and publications that the ledger holds, whoever made them.

Privacy: everything in it was released and paid for; reading it again costs nothing.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from eke.domain import Domain
from eke.engine import Vault, told
from eke.errors import QueryError
from eke.ledger import Entry, Ledger
from eke.planning import workload_from_document
from eke.privacy.record_loss import NANO
from eke.publish import Published, RowEstimate, holds_rows
from eke.publish.row_report import report_of
from eke.question.posed import Asked
from eke.session.beginning import unit_caveats
from eke.session.publish.basis import with_basis
from eke.session.publish.published import rows_key
from eke.session.release.released import Release, release_of

Kind: TypeAlias = Literal["release", "publish"]


@dataclass(frozen=True, slots=True)
class Record:
    """One release or publication in the ledger."""

    kind: Kind
    sequence: int  # of the entry that released it
    opened: int  # of the entry that charged for it
    at: str  # when it was charged: the time of its release would tell how long the data took
    analyst: str
    key: str
    cost: float
    about: Mapping[str, Any]  # the workload, or what was asked of the publication
    complete: bool = True  # False while the rows of a publication are not kept (yet)


class Archive:
    """What a dataset has released in tables and published in rows.

    `settings` are those of the dataset: some hold for all of it, besides what the domain leaves
    open. Of the ledger, which only grows, each look reads what is new. Threads may share it.
    """

    def __init__(self, vault: Vault, settings: Mapping[str, Any]) -> None:
        self._caveats = unit_caveats(settings)
        self._vault, self._settings = vault, settings
        self._domain: Domain = vault.domain
        self._ledger: Ledger = vault.ledger
        self._read_until = 0
        self._known: list[Record] = []
        self._waiting: dict[int, tuple[Entry, dict[str, Any]]] = {}
        self._with_rows: set[int] = set()  # publications whose rows are kept, once and for all
        self._lock = threading.Lock()

    def releases(self) -> list[Record]:
        """Releases of whole workloads, in order."""
        return [one for one in self._records() if one.kind == "release"]

    def publications(self) -> list[Record]:
        """Publications of rows, in order."""
        records = [one for one in self._records() if one.kind == "publish"]
        return [replace(one, complete=self._has_rows(one)) for one in records]

    def release(self, sequence: int) -> Release:
        """The tables of a release, as they were released."""
        record = self.record("release", sequence)
        workload = workload_from_document(self._domain, record.about)
        text = self._text(record.analyst, record.key)
        return release_of(workload, text, caveats=self._caveats)

    def publication(self, sequence: int) -> Published:
        """The rows of a publication, as they were published."""
        record = self.record("publish", sequence)
        text = self._rows_text(record)
        if text is None:
            raise QueryError(
                f"the rows of publication {sequence} are not kept, or not made yet: wait a moment, "
                "publish again with its key, or ask whoever published them"
            )
        published = Published.from_text(self._domain, text).qualified(self._caveats)
        return with_basis(published, self._vault, self._settings, record.analyst, record.key)

    def estimate(self, sequence: int, question: Asked, *, confidence: float = 0.95) -> RowEstimate:
        """What the rows of a publication say of a question, with its interval."""
        return self.publication(sequence).estimate(question, confidence=confidence)

    def report(self, sequence: int, *, only: str | None = None) -> str:
        """The report on the rows of a publication, as HTML; with `only` one analyst's measurements.

        Privacy: post-processing of what was released; see `Published.report`.
        """
        published = self.publication(sequence)
        basis = published.basis
        if basis is not None and only is not None:
            theirs = tuple(one for one in basis.measurements if one.analyst == only)
            published = replace(published, basis=replace(basis, measurements=theirs))
        return report_of(published)

    def record(self, kind: Kind, sequence: int) -> Record:
        """The record of an entry."""
        for record in self._records():
            if record.sequence == sequence and record.kind == kind:
                return record
        what = "release of tables" if kind == "release" else "publication"
        raise QueryError(f"entry {sequence} of the ledger is no {what}; list them to see which are")

    def find(self, analyst: str, key: str) -> int | Literal["charged"] | None:
        """What became of a request: the entry that released it, or that it is paid for only."""
        request = self._ledger.find(analyst, key)
        if request is None:
            return None
        return "charged" if request.closed_by is None else request.closed_by

    def _records(self) -> list[Record]:
        with self._lock:
            for entry in self._ledger.entries(self._read_until):
                self._take_in(entry)
                self._read_until = entry.sequence
            return list(self._known)

    def _take_in(self, entry: Entry) -> None:
        if entry.kind == "reserve":
            plan = entry.payload.get("plan")
            purpose = plan.get("purpose") if isinstance(plan, Mapping) else None
            if purpose:
                self._waiting[entry.sequence] = (entry, json.loads(str(purpose)))
        elif entry.kind == "remember" and entry.payload.get("purpose"):
            self._known.append(_record(entry, entry, json.loads(str(entry.payload["purpose"]))))
        elif entry.kind == "commit":
            opened = self._waiting.pop(int(str(entry.about["reservation"])), None)
            if opened is not None:
                self._known.append(_record(opened[0], entry, opened[1]))

    def _has_rows(self, record: Record) -> bool:
        if record.sequence not in self._with_rows and self._rows_text(record) is not None:
            self._with_rows.add(record.sequence)
        return record.sequence in self._with_rows

    def _rows_text(self, record: Record) -> str | None:
        """What holds the rows of a publication: a text of their own, or that of their release."""
        rows = self._ledger.find(record.analyst, rows_key(record.key))
        if rows is not None and rows.answer is not None:
            return rows.answer
        request = self._ledger.find(record.analyst, record.key)
        text = None if request is None else request.answer
        return text if text is not None and holds_rows(text) else None

    def _text(self, analyst: str, key: str) -> str:
        request = self._ledger.find(analyst, key)
        if request is None or request.answer is None:
            raise QueryError("the ledger does not hold this release")
        return told(request.answer)


def _record(opened: Entry, closed: Entry, purpose: dict[str, Any]) -> Record:
    kind: Kind = "release" if "release" in purpose else "publish"
    cost = opened.payload.get("cost", 0)
    return Record(
        kind,
        closed.sequence,
        opened.sequence,
        opened.at,
        str(opened.about["analyst"]),
        str(opened.about["key"]),
        int(str(cost)) / NANO,
        purpose["release"] if kind == "release" else purpose,
    )
