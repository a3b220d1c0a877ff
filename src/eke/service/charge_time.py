"""Charge times: when something was charged, which is all that is told of when it was released.

The ledger notes both to the microsecond. Between them the data was touched, so the second would
tell how long that took, whatever the gate does to answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from eke.session import Record, Session


def charge_times(session: Session) -> dict[int, str]:
    """For each entry of the ledger, when it was written; for a release, when it was charged.

    Privacy: a charge is written before the data is touched, so its time is public.
    """
    found: dict[int, str] = {}
    for entry in session.ledger_entries():
        reservation = entry.about.get("reservation")
        found[entry.sequence] = entry.at if reservation is None else found[int(str(reservation))]
    return found


def at_their_charge(records: Sequence[Record], session: Session) -> list[Record]:
    """The records with the times of their charges."""
    times = charge_times(session)
    return [replace(one, at=times[one.sequence]) for one in records]
