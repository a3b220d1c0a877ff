"""Settings: what the first entry of a ledger says of its dataset, and who is asking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eke.domain import Domain

FORMAT = "eke-dataset/2"


def domain_of(settings: Mapping[str, Any]) -> Domain:
    """The domain of a dataset, its attributes in their order."""
    from eke.domain import domain_from_document  # noqa: PLC0415 - a budget needs none

    # The ledger sorts the keys of what it stores, but the order of attributes is part of a domain.
    return domain_from_document(settings["domain"]).reordered(settings["attributes"])


def user_name() -> str:
    """Who asks, unless they say so."""
    import getpass  # noqa: PLC0415 - nor who asks

    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "analyst"
