"""The full check of a ledger: walk the chain, replay it, compare every other table with it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Protocol

from eke.errors import LedgerTampered
from eke.ledger.chain import Link
from eke.ledger.entry import (
    COMMIT,
    GENESIS,
    REMEMBER,
    RESERVE,
    Entry,
    HighWaterMark,
    StoredRequest,
    Verification,
)
from eke.ledger.private import unseal
from eke.ledger.replay import ChainState, advance, expected_request, read_entry

_SHOWN = 20


class Stored(Protocol):
    """The tables of a ledger as they stand, in one snapshot; nothing of them is checked yet."""

    def links(self) -> Generator[Link, None, None]:
        """The rows of the chain, in order."""

    def account(self) -> ChainState:
        """What the account row says, or `LedgerTampered` when there is not exactly one."""

    def private(self) -> Sequence[object]:
        """What is stored as the private document."""

    def requests(self) -> Iterable[StoredRequest]:
        """The rows of the request table."""


def verify(
    stored: Stored,
    marks: Iterable[HighWaterMark],
    read: Callable[[Link], Entry] = read_entry,
) -> tuple[Verification, ChainState]:
    """What is wrong with a ledger, if anything, and the state its chain leads to.

    Privacy: every row of every table is read. An intact ledger has each entry in its place under
    its hash, a loss that never fell and never passed its limit, an account that says the same,
    exactly one request per reservation or remembered answer, each with the answer whose hash its
    closing entry holds, no reservation closed twice, and every mark on its chain.
    """
    findings = _Findings(tuple(marks))
    try:
        with closing(stored.links()) as chain:
            for link in chain:
                findings.state, entry = advance(findings.state, link, read)
                findings.take(entry)
    except LedgerTampered as error:
        findings.problems.append(str(error))
    else:
        findings.compare_account(stored)
        findings.compare_private(stored)
        findings.compare_requests(stored)
    findings.compare_marks()
    report = Verification(
        problems=tuple(findings.problems[:_SHOWN]),
        entries=findings.state.sequence,
        spent=findings.state.spent,
        limit=findings.state.limit,
        head_hash=findings.state.hash,
        open_reservations=tuple(
            number
            for number, entry in findings.opened.items()
            if entry.kind == RESERVE and number not in findings.closed
        ),
    )
    return report, findings.state


class _Findings:
    """What the walk has collected so far; lives for one verification."""

    def __init__(self, marks: tuple[HighWaterMark, ...]) -> None:
        self.state = ChainState()
        self.problems: list[str] = []
        self.genesis: Entry | None = None
        self.opened: dict[int, Entry] = {}
        self.closed: dict[int, Entry] = {}
        self._missing_marks = dict.fromkeys(marks)

    def take(self, entry: Entry) -> None:
        """Remember who opened and closed what, and which marks lie on the chain."""
        content_free = replace(entry, payload={}) if entry.payload else entry
        if entry.kind == GENESIS:
            self.genesis = content_free
        if entry.kind in (RESERVE, REMEMBER):
            self.opened[entry.sequence] = content_free
        elif entry.kind == COMMIT:
            number = entry.about["reservation"]
            opened = self.opened.get(number) if isinstance(number, int) else None
            if opened is None or opened.kind != RESERVE or opened.sequence in self.closed:
                self.problems.append(f"entry {entry.sequence} closes no open reservation")
            else:
                self.closed[opened.sequence] = content_free
        if self._missing_marks:
            here = HighWaterMark(self.state.sequence, self.state.hash, self.state.spent)
            self._missing_marks.pop(here, None)

    def compare_account(self, stored: Stored) -> None:
        """The account row must say what the chain says."""
        try:
            claimed = stored.account()
        except LedgerTampered as error:
            self.problems.append(str(error))
            return
        if claimed != self.state:
            self.problems.append("the account does not agree with the entries")

    def compare_private(self, stored: Stored) -> None:
        """The private document must be the one that the first entry is bound to."""
        if self.genesis is None:
            return
        try:
            unseal(stored.private(), self.genesis)
        except LedgerTampered as error:
            self.problems.append(str(error))

    def compare_requests(self, stored: Stored) -> None:
        """Requests and the entries that opened them must pair off one to one."""
        unseen = dict(self.opened)
        for request in stored.requests():
            opened = unseen.pop(request.sequence, None)
            if opened is None or request != expected_request(
                opened, self.closed.get(request.sequence), request.answer
            ):
                self.problems.append(
                    f"the request of entry {request.sequence!r} does not agree with the chain"
                )
        self.problems.extend(f"the request of entry {number} is gone" for number in unseen)

    def compare_marks(self) -> None:
        """Every high-water mark must have been met on the way."""
        for mark in self._missing_marks:
            older = mark.sequence > self.state.sequence
            self.problems.append(
                f"the chain ends at entry {self.state.sequence}, before the mark at "
                f"{mark.sequence}: this is an older copy"
                if older
                else f"the mark at entry {mark.sequence} is not on this chain"
            )
