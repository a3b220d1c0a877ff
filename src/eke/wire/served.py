"""Served dataset: what all connections to one dataset share."""

from __future__ import annotations

from dataclasses import dataclass

from eke.session import Session
from eke.wire.released import ReleasedRelations
from eke.wire.table import ServedTable


@dataclass(frozen=True, slots=True)
class ServedDataset:
    """A dataset, its table as clients see it, and what it has released."""

    session: Session
    table: ServedTable
    released: ReleasedRelations

    @staticmethod
    def of(name: str, session: Session) -> ServedDataset:
        table = ServedTable(name, session.domain, session.unit)
        return ServedDataset(
            session, table, ReleasedRelations(session, table.protected, table.names)
        )
