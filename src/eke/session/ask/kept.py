"""Kept answers: what an analyst asked before, as the ledger keeps it, to be read again.

The ledger keeps every paid answer, and a free one that was asked with a key.

Privacy: everything here was released, to the analyst who asked; reading it again costs nothing.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from eke.engine import Vault
from eke.errors import QueryError
from eke.ledger import Entry
from eke.session.answer.answer import Answer
from eke.session.answer.receipt import Receipt
from eke.session.answer.record import read_text
from eke.session.ask.aim import Aim
from eke.session.ask.request import Request
from eke.session.publish.published import rows_key

_Asker: TypeAlias = tuple[str, str]
"""An analyst, and the key of one request."""


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """One answer in the ledger."""

    sequence: int  # of the entry that holds it
    at: str  # when it was charged: the time of its release would tell how long the data took
    analyst: str
    receipt: Receipt
    asked: Mapping[str, Any] | None
    """What to send to ask it again; None for a question that was not in SQL, or from before
    answers said so."""
    text: str


class KeptAnswers:
    """The answers that a ledger keeps for each analyst. Threads may share it."""

    def __init__(
        self, vault: Vault, request: Callable[..., Request], read: Callable[[Request, str], Answer]
    ) -> None:
        self._ledger = vault.ledger
        self._request = request  # of a question with its accuracy
        self._read = read  # the answer to it out of its stored text
        self._lock = threading.Lock()
        self._seen = 0  # the last entry that the following take into account
        self._charged: dict[_Asker, str] = {}  # when
        self._opened: dict[int, _Asker] = {}  # by a charge, until its outcome is stored
        self._closed: dict[str, list[tuple[int, str, str]]] = {}  # (entry, when, key) by analyst
        self._others: set[_Asker] = set()  # releases and publications

    def of(
        self, analyst: str, *, before: int | None = None, most: int = 100
    ) -> tuple[list[KeptAnswer], int | None]:
        """(the analyst's latest answers, newest first; where the next page ends, if there is one).

        `before` is the number of an entry: only earlier ones are listed.
        """
        page: list[KeptAnswer] = []
        for answer in self._newest_first(analyst, before):
            if len(page) == most:
                return page, page[-1].sequence
            page.append(answer)
        return page, None

    def answer(self, analyst: str, sequence: int) -> Answer:
        """The analyst's own answer that an entry holds, with the numbers it had then."""
        stored = next(self._newest_first(analyst, sequence + 1), None)
        if stored is None or stored.sequence != sequence:
            raise QueryError(f"entry {sequence} of the ledger holds no answer of yours")
        if stored.asked is None:
            raise QueryError(
                f"entry {sequence} does not say its question in SQL; ask it again where it was "
                "asked, which is free"
            )
        asked = stored.asked
        names = ("within", "confidence", "spend", "groups_of")
        aim = Aim(**{name: asked[name] for name in names if name in asked})
        request = self._request(asked["sql"], aim, policy=asked.get("policy"), analyst=analyst)
        return self._read(request, stored.text)

    def _newest_first(self, analyst: str, before: int | None) -> Iterator[KeptAnswer]:
        """The analyst's answers before an entry, each read when it is come to."""
        with self._lock:
            for entry in self._ledger.entries(self._seen):
                self._take_in(entry)
                self._seen = entry.sequence
            closed = list(self._closed.get(analyst, ()))
        for sequence, at, key in reversed(closed):
            if (before is not None and sequence >= before) or (analyst, key) in self._others:
                continue
            # A formula is charged in steps, and its answer is kept after the last of them.
            whole, first_step = (analyst, key), (analyst, f"{key}/1")
            when = self._charged.get(whole) or self._charged.get(first_step) or at
            stored = self._kept(sequence, when, analyst, key)
            if stored is not None:
                yield stored

    def _take_in(self, entry: Entry) -> None:
        if entry.kind == "commit":
            asker = self._opened.pop(int(str(entry.about["reservation"])))
        elif entry.kind in ("reserve", "remember"):
            asker = (str(entry.about["analyst"]), str(entry.about["key"]))
            if _has_purpose(entry):
                self._others |= {asker, (asker[0], rows_key(asker[1]))}
        else:
            return
        if entry.kind == "reserve":
            self._charged[asker] = entry.at
            self._opened[entry.sequence] = asker
        else:
            analyst, key = asker
            self._closed.setdefault(analyst, []).append((entry.sequence, entry.at, key))

    def _kept(self, sequence: int, at: str, analyst: str, key: str) -> KeptAnswer | None:
        """The answer under a key; None for a step of one, and for what came to nothing."""
        request = self._ledger.find(analyst, key)
        if request is None or request.answer is None or "receipt" not in json.loads(request.answer):
            return None
        body, receipt = read_text(request.answer)
        return KeptAnswer(sequence, at, analyst, receipt, body.get("asked"), request.answer)


def _has_purpose(entry: Entry) -> bool:
    """True for a charge, or a free result, of tables or rows."""
    plan = entry.payload.get("plan")
    return bool(plan.get("purpose") if isinstance(plan, Mapping) else entry.payload.get("purpose"))
