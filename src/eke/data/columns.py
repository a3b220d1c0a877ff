"""Columns: which columns of a table stand for the attributes, and notes about their types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eke.data.coding import is_readable
from eke.data.reduction import ID, code_column
from eke.domain import Domain
from eke.domain.placing import TimeSteps
from eke.errors import DataError
from eke.privacy.unit import Unit


def wanted_columns(names: tuple[str, ...], domain: Domain, unit: Unit | None) -> dict[str, str]:
    """Engine names and the columns they stand for; DataError when the table lacks one."""
    wanted = {code_column(place): name for place, name in enumerate(domain.names)}
    if unit:
        wanted[ID] = unit.column
    missing = [name for name in wanted.values() if name not in names]
    if missing:
        raise DataError(
            f"the table has no column {', '.join(map(repr, missing))}; "
            f"its columns are: {', '.join(names)}"
        )
    return wanted


def notes_on_types(
    raw: Any,
    domain: Domain,
    *,
    from_text: bool,
    coded: frozenset[str] = frozenset(),
    shown: Mapping[str, str] | None = None,
) -> list[str]:
    """What a curator should know about columns whose type cannot match what was declared."""
    types = dict(raw.schema().items())
    names = types if shown is None else shown
    return [
        f"column {name!r} has type {names[code_column(place)]}, but is declared "
        f"{type(attribute).__name__}: none of its values can be one of the domain"
        for place, (name, attribute) in enumerate(domain.attributes)
        if name not in coded
        and not is_readable(types[code_column(place)], attribute, from_text=from_text)
    ]


def check_moments(raw: Any, domain: Domain) -> None:
    """Raise when moments are a column of an Ibis table that has a zone: back ends differ in it."""
    types = dict(raw.schema().items())
    for place, (name, attribute) in enumerate(domain.attributes):
        dtype = types[code_column(place)]
        if isinstance(attribute.placing, TimeSteps) and getattr(dtype, "timezone", None):
            raise DataError(
                f"column {name!r} holds times with a zone, which back ends of Ibis treat "
                "differently; make it a date or a time without zone in the expression"
            )
