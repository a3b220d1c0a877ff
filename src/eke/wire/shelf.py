"""Shelf: what one connection keeps by name, prepared statements and portals, and no more of either.

A cursor is a portal: DECLARE puts one there, FETCH takes rows of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from eke.wire.portal import Portal, Prepared
from eke.wire.report import Trouble

MOST = 256
MOST_ROWS = 100_000
MOST_LETTERS = 500_000


@dataclass(slots=True)
class Shelf:
    """Statements and portals by their names; the nameless ones are replaced."""

    _statements: dict[str, Prepared] = field(default_factory=dict)
    _portals: dict[str, Portal] = field(default_factory=dict)

    def keep(self, name: str, prepared: Prepared) -> None:
        """A prepared statement."""
        if name and name in self._statements:
            raise Trouble("42P05", f'prepared statement "{name[:63]}" already exists')
        letters = len(prepared.text) + sum(len(one.text) for one in self._statements.values())
        if len(self._statements) >= MOST or letters > MOST_LETTERS:
            raise Trouble(
                "53400",
                f"a connection keeps at most {MOST} prepared statements, of {MOST_LETTERS:,} "
                "letters together",
            )
        self._statements[name] = prepared

    def put(self, name: str, portal: Portal) -> None:
        """A portal."""
        if name and name in self._portals:
            raise Trouble("42P03", f'cursor "{name[:63]}" already exists')
        letters = len(portal.text) + sum(len(one.text) for one in self._portals.values())
        if len(self._portals) >= MOST or letters > MOST_LETTERS:
            raise Trouble(
                "53400",
                f"a connection keeps at most {MOST} portals, of {MOST_LETTERS:,} letters together",
            )
        self._portals[name] = portal

    def require_room(self) -> None:
        """Raise where there is no room for rows; before anything is asked, that may be paid."""
        rows = sum(len(other.outcome.rows) for other in self._portals.values() if other.outcome)
        if rows >= MOST_ROWS:
            raise Trouble("53400", f"the cursors of a connection keep at most {MOST_ROWS:,} rows")

    def statement(self, name: str) -> Prepared:
        """The statement of a name."""
        prepared = self._statements.get(name)
        if prepared is None:
            raise Trouble("26000", f'prepared statement "{name[:63]}" does not exist')
        return prepared

    def portal(self, name: str) -> Portal:
        """The portal of a name."""
        portal = self._portals.get(name)
        if portal is None:
            raise Trouble("34000", f'cursor "{name[:63]}" does not exist')
        return portal

    def close(self, kind: str, name: str) -> None:
        """Forget a statement (S) or a portal (P), whether there is one or not."""
        (self._statements if kind == "S" else self._portals).pop(name, None)

    def clear(self, kinds: str = "SP") -> None:
        """Forget all of them."""
        for kind in kinds:
            (self._statements if kind == "S" else self._portals).clear()

    def end_transaction(self, *, commits: bool) -> None:
        """Portals end with their transaction, unless they are WITH HOLD."""
        self._portals = {name: one for name, one in self._portals.items() if one.holds and commits}
