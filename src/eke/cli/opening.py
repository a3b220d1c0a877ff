"""Opening a dataset for a command, here or on a server, with a spinner while that takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import eke
from eke.cli.failure import failures
from eke.cli.screen import working
from eke.errors import ServiceError

if TYPE_CHECKING:
    from eke.client import RemoteSession
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


@contextmanager
def remote(address: str, token: str | None, name: str, *, as_json: bool) -> Iterator[RemoteSession]:
    """The same for a dataset on a server."""
    with failures(as_json=as_json):
        if token is None:
            raise ServiceError("a server needs a token; put yours into the variable EKE_TOKEN")
        with needed("client"):
            connect = eke.connect
        with working(f"Connecting to {address}"):
            session = connect(address, token, name)
        with session:
            yield session


@contextmanager
def needed(extra: str) -> Iterator[None]:
    """Within it a missing package becomes the advice to install an extra."""
    try:
        yield
    except ModuleNotFoundError as problem:
        raise ServiceError(
            f"{problem.name} is missing; install it with pip install 'eke[{extra}]'"
        ) from None
