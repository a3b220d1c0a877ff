"""Transactions: which block a connection is in, and the statements about blocks and cursors.

Nothing is ever written, so that a block begins and ends for the client's sake: its status is told
after every statement, settings go back with it, and cursors end with it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from eke.wire.clerk import Clerk
from eke.wire.outcome import Outcome
from eke.wire.portal import DeclaredCursor, Fetch, Portal, one_statement, plain_name
from eke.wire.report import Trouble, warning
from eke.wire.shelf import Shelf
from eke.wire.words import Statement

Apart = Callable[[Statement], Awaitable[Outcome]]
_FAILED = "current transaction is aborted, commands ignored until end of transaction block"
_BEGINS = frozenset({"begin", "start"})
_KEEPS = frozenset({"commit", "end"})
_UNDOES = frozenset({"rollback", "abort"})


@dataclass(slots=True)
class Transaction:
    """The block that a connection is in: I for none, T in one, E in one that has failed."""

    clerk: Clerk
    shelf: Shelf = field(default_factory=Shelf)
    status: str = "I"

    def failed(self) -> None:
        """A statement went wrong, and the block with it; outside of one, all sent with it."""
        if self.status == "I":
            self.clerk.settings.end(commits=False)
        else:
            self.status = "E"

    def settle(self) -> None:
        """Outside of a block whatever is sent together is one, and its portals end with it."""
        if self.status == "I":
            self.clerk.settings.end(commits=True)
            self.shelf.end_transaction(commits=True)

    async def run(self, statement: Statement, apart: Apart) -> Outcome:
        """What a statement comes to; `apart` answers those that read."""
        word = statement.words[0].lower
        if self.status == "E" and word not in _KEEPS | _UNDOES:
            raise Trouble("25P02", _FAILED)
        if word in ("fetch", "move"):
            return await self._fetch(Fetch.of(statement), apart)
        about_block: dict[str, Callable[[Statement], Outcome]] = {
            **dict.fromkeys(_BEGINS, self._begin),
            **dict.fromkeys(_KEEPS | _UNDOES, self._end),
            **dict.fromkeys(("savepoint", "release"), self._savepoint),
            "declare": self._declare,
            "close": self._close,
            "deallocate": self._deallocate,
            "discard": self._discard,
            "unlisten": lambda _: Outcome("UNLISTEN"),  # nobody ever listens
        }
        here = about_block.get(word)
        return await apart(statement) if here is None else here(statement)

    # -- blocks --------------------------------------------------------------------------------

    def _begin(self, statement: Statement) -> Outcome:
        said = (warning("25001", "there is already a transaction in progress"),)
        before, self.status = self.status, "T"
        self.clerk.settings.begin()
        tag = "START TRANSACTION" if statement.begins("start") else "BEGIN"
        return Outcome(tag, aside=said if before == "T" else ())

    def _end(self, statement: Statement) -> Outcome:
        words = [word.lower for word in statement.words]
        if words[0] in _UNDOES and "to" in words:
            self._require_block("ROLLBACK TO SAVEPOINT")
            self.clerk.settings.back_to(words[-1])
            self.status = "T"
            return Outcome("ROLLBACK")
        if words[-2:] == ["and", "chain"]:
            raise Trouble("0A000", "AND CHAIN is not answered here; write BEGIN afterwards")
        commits = words[0] in _KEEPS and self.status != "E"
        said = (
            (warning("25P01", "there is no transaction in progress"),) if self.status == "I" else ()
        )
        self.status = "I"
        self.clerk.settings.end(commits=commits)
        self.shelf.end_transaction(commits=commits)
        return Outcome("COMMIT" if commits else "ROLLBACK", aside=said)

    def _savepoint(self, statement: Statement) -> Outcome:
        word, name = statement.words[0].text.upper(), statement.words[-1].lower
        self._require_block(word)
        if len(statement.words) < 2:
            raise Trouble("42601", f"write {word} and a name")
        if word == "SAVEPOINT":
            self.clerk.settings.save(name)
        else:
            self.clerk.settings.back_to(name, releases=True)
        return Outcome(word)

    def _require_block(self, what: str) -> None:
        if self.status == "I":
            raise Trouble("25P01", f"{what} can only be used in transaction blocks")

    # -- cursors and what is kept --------------------------------------------------------------

    def _declare(self, statement: Statement) -> Outcome:
        cursor = DeclaredCursor.of(statement)
        if not cursor.holds:
            self._require_block("DECLARE CURSOR")
        self.shelf.put(cursor.name, Portal(cursor.text, holds=cursor.holds))
        return Outcome("DECLARE CURSOR")

    async def _fetch(self, fetch: Fetch, apart: Apart) -> Outcome:
        portal = self.shelf.portal(fetch.name)
        if portal.outcome is None:
            self.shelf.require_room()
            portal.outcome = await apart(one_statement(portal.text))
        outcome = portal.outcome
        stop = len(outcome.rows) if fetch.most is None else portal.sent + fetch.most
        rows = outcome.rows[portal.sent : stop]
        aside = outcome.aside if portal.sent == 0 else ()
        portal.sent += len(rows)
        if fetch.moves:
            return Outcome(f"MOVE {len(rows)}", aside=aside)
        return Outcome(f"FETCH {len(rows)}", outcome.columns, rows, aside)

    def _close(self, statement: Statement) -> Outcome:
        rest = statement.after(1).strip()
        if rest.lower() == "all":
            self.shelf.clear("P")
            return Outcome("CLOSE CURSOR ALL")
        self.shelf.portal(plain_name(rest))
        self.shelf.close("P", plain_name(rest))
        return Outcome("CLOSE CURSOR")

    def _deallocate(self, statement: Statement) -> Outcome:
        rest = statement.after(2 if statement.begins("deallocate", "prepare") else 1).strip()
        if rest.lower() == "all":
            self.shelf.clear("S")
            return Outcome("DEALLOCATE ALL")
        self.shelf.statement(plain_name(rest))
        self.shelf.close("S", plain_name(rest))
        return Outcome("DEALLOCATE")

    def _discard(self, statement: Statement) -> Outcome:
        what = statement.after(1).strip().upper()
        if what not in ("ALL", "PLANS", "SEQUENCES", "TEMP", "TEMPORARY"):
            raise Trouble("42601", "write DISCARD ALL")
        if what == "ALL":
            if self.status != "I":
                raise Trouble("25001", "DISCARD ALL cannot run inside a transaction block")
            self.shelf.clear()
            self.clerk.settings.reset("all")
        return Outcome(f"DISCARD {what}")
