"""What published rows can be held against: their measurements, and the facts of their time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from eke.engine import Vault
from eke.history import lasting
from eke.history.outside import in_force
from eke.inference import known_exactly
from eke.publish import Published, RowBasis
from eke.session.beginning import beginning_of


def with_basis(
    published: Published, vault: Vault, settings: Mapping[str, Any], analyst: str, key: str
) -> Published:
    """The rows of a request with the entry of the ledger that released them, and their basis.

    Privacy: measurements were released, facts are public; nothing else is looked at.
    """
    stored = vault.ledger.find(analyst, key)
    if stored is None or stored.closed_by is None:
        return published
    entry, now = stored.closed_by, vault.snapshot()
    measured = [one for one in now.measurements if one.sequence == entry]
    until = [one for one in now.measurements if one.sequence <= entry]
    outside = in_force(now.all_outside, stored.sequence)
    exactly = known_exactly(vault.domain, beginning_of(settings).public_rows, outside)
    basis = RowBasis(
        tuple(measured or lasting(until)),
        tuple((item.source, fact) for item in outside for fact in item.facts),
        records=exactly.total,
        measured=bool(measured),
    )
    return replace(published, sequence=entry, basis=basis)
