"""What the first entry of a ledger says of losses, units and public numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eke.engine import Beginning
from eke.history import PUBLIC, Row
from eke.privacy.measures import measure_named
from eke.privacy.unit import Unit
from eke.query import check_neighbours, count
from eke.session.settings import domain_of


def beginning_of(settings: Mapping[str, Any]) -> Beginning:
    """What is known of a dataset before anything is asked."""
    domain, unit = domain_of(settings), unit_of(settings)
    rows: tuple[Row, ...] = ()
    if settings["public_rows"] is not None:
        rows = (Row(count().on(domain), float(settings["public_rows"]), PUBLIC),)
    return Beginning(
        domain,
        measure_named(str(settings["measure"])),
        check_neighbours(str(settings["neighbours"])),
        1 if unit is None else unit.rows,
        rows,
    )


def unit_of(settings: Mapping[str, Any]) -> Unit | None:
    """The unit of a dataset; None protects single rows."""
    unit = settings["unit"]
    return None if unit is None else Unit(unit["column"], unit["rows"])


def unit_caveats(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """What the unit leaves out of every answer."""
    unit = settings["unit"]
    if unit is None:
        return ()
    rows = "one record is" if unit["rows"] == 1 else f"{unit['rows']:,} records are"
    return (f"Of each {unit['column']} at most {rows} counted.",)
