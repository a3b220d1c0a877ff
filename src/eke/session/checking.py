"""Checking: what a domain does to a table, before a dataset is made of it or afterwards."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from eke.data import TableCheck, check_table
from eke.data.view import ViewTable
from eke.domain import Domain, read_domain
from eke.errors import PrivacyError
from eke.ledger import Ledger
from eke.privacy.unit import Unit
from eke.session.beginning import unit_of
from eke.session.settings import domain_of
from eke.sql import check_functions


def check(
    data: Any,
    domain: Domain | str | os.PathLike[str],
    *,
    unit: Unit | None = None,
    table: str | None = None,
) -> TableCheck:
    """What a domain and a unit do to a table, in exact numbers; for the curator alone.

    The table is read once, by its own engine.

    Args:
        data: the table, as for `create`.
        domain: the `Domain`, or a file that describes it.
        unit: a `Unit`, when one person may have several rows.
        table: which table of a DuckDB file or a database.

    Privacy: The counts are exact and cost nothing, because nobody but the curator is to see them.
    They are not stored, and no analyst can ask for them.

    Example:
        >>> young = eke.Domain(age=eke.Integer(0, 49, outside="drop"), smoker=eke.Boolean())
        >>> found = eke.check(people, young)
        >>> found.kept, found.dropped
        (250, 150)
        >>> print(found)
        400 rows read, 250 kept (62.5 %)
        150 rows dropped by the domain
        <BLANKLINE>
        column ...
    """
    if unit is not None and not isinstance(unit, Unit):
        raise PrivacyError('unit must be an eke.Unit, e.g. eke.Unit("patient", rows=3)')
    declared = domain if isinstance(domain, Domain) else read_domain(Path(domain))
    check_functions(declared)
    if isinstance(data, ViewTable):
        data.promise(unit)
    return check_table(data, declared, unit, table=table)


def check_dataset(path: str | os.PathLike[str]) -> TableCheck:
    """The same for the table of a dataset, found by the reference in its private part.

    Privacy: As in `check`; whoever can open the dataset's file and its table is a curator.
    """
    ledger = Ledger.open(path)
    reference = cast("Mapping[str, object]", ledger.private["data"])
    return check_table(reference, domain_of(ledger.document), unit_of(ledger.document))
