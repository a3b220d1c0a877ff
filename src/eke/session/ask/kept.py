"""Kept answers: what an analyst asked before, as the ledger keeps it, to be read again.

The ledger keeps every paid answer, and a free one that was asked with a key.

Privacy: everything here was released, to the analyst who asked; reading it again costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eke.engine import Vault
from eke.errors import QueryError
from eke.ledger import Entry
from eke.session.answer.answer import Answer
from eke.session.answer.receipt import Receipt
from eke.session.answer.record import read_text
from eke.session.ask.request import Request
from eke.session.publish.published import rows_key


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
    """The answers that a ledger keeps for each analyst."""

    def __init__(
        self, vault: Vault, request: Callable[..., Request], read: Callable[[Request, str], Answer]
    ) -> None:
        self._ledger = vault.ledger
        self._request = request  # of a question with its accuracy
        self._read = read  # the answer to it out of its stored text

    def of(
        self, analyst: str, *, before: int | None = None, most: int = 100
    ) -> tuple[list[KeptAnswer], int | None]:
        """(the analyst's latest answers, newest first; where the next page ends, if there is one).

        `before` is the number of an entry: only earlier ones are listed.
        """
        found: list[KeptAnswer] = []
        for one in self._newest_first(analyst, before):
            if len(found) == most:
                return found, found[-1].sequence
            found.append(one)
        return found, None

    def answer(self, analyst: str, sequence: int) -> Answer:
        """The analyst's own answer that an entry holds, with the numbers it had then."""
        kept = next(self._newest_first(analyst, sequence + 1), None)
        if kept is None or kept.sequence != sequence:
            raise QueryError(f"entry {sequence} of the ledger holds no answer of yours")
        if kept.asked is None:
            raise QueryError(
                f"entry {sequence} does not say its question in SQL; ask it again where it was "
                "asked, which is free"
            )
        asked = kept.asked
        request = self._request(
            asked["sql"],
            asked.get("within"),
            asked.get("confidence"),
            policy=asked.get("policy"),
            analyst=analyst,
        )
        return self._read(request, kept.text)

    def _newest_first(self, analyst: str, before: int | None) -> Iterator[KeptAnswer]:
        """The analyst's answers before an entry, each read when it is come to."""
        charged: dict[str, Entry] = {}
        closing: list[tuple[Entry, str]] = []
        others: set[str] = set()  # keys of releases and publications
        opened: dict[int, str] = {}
        for entry in self._ledger.entries():
            if entry.kind == "commit":
                key = opened.get(int(str(entry.about["reservation"])))
            elif entry.kind in ("reserve", "remember") and entry.about["analyst"] == analyst:
                key = str(entry.about["key"])
                if _has_purpose(entry):
                    others |= {key, rows_key(key)}
                if entry.kind == "reserve":
                    charged[key] = entry
                    opened[entry.sequence] = key
                    continue
            else:
                continue
            if key is not None and (before is None or entry.sequence < before):
                closing.append((entry, key))
        for entry, key in reversed(closing):
            if key in others:
                continue
            # A formula is charged in steps, and its answer is kept after the last of them.
            paid = charged.get(key) or charged.get(f"{key}/1") or entry
            kept = self._kept(entry.sequence, paid.at, analyst, key)
            if kept is not None:
                yield kept

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
