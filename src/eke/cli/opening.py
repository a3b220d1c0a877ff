"""Opening a dataset for a command, with a spinner while the engine loads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import eke
from eke.cli.failure import failures
from eke.cli.screen import working

if TYPE_CHECKING:
    from eke.session import Session


@contextmanager
def dataset(
    place: str, *, as_json: bool, data: str | None = None, analyst: str | None = None
) -> Iterator[Session]:
    """The session of a dataset; eke's own errors within become a sentence and an exit code."""
    with failures(as_json=as_json):
        with working(f"Opening {short_name(place)}"):
            session = eke.open(place, data=data, analyst=analyst)
        yield session


def short_name(place: str) -> str:
    """A dataset in a few letters: the name of its file, or its address without a password."""
    return str(eke.ledger.dialect.locate(place)) if "://" in place else Path(place).name
