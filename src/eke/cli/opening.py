"""Opening a dataset for a command, here or on a server, with a spinner while that takes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import typer

import eke
from eke.cli.failure import failures
from eke.cli.screen import working
from eke.errors import ServiceError

if TYPE_CHECKING:
    from eke.session import Dataset, Session

_ANSWER_SECONDS = 600.0  # plans and releases of many tables take a while


@contextmanager
def opened(
    path: str,
    *,
    server: str | None,
    token: str | None,
    as_json: bool,
    data: str | None = None,
    analyst: str | None = None,
) -> Iterator[Dataset]:
    """A dataset, wherever it is; eke's own errors within become a sentence and an exit code."""
    if not server:  # an empty --server, or EKE_SERVER, is none
        if _typed(token, "EKE_TOKEN"):
            raise typer.BadParameter("say --server as well", param_hint="--token")
        with dataset(path, as_json=as_json, data=data, analyst=analyst) as session:
            yield session
        return
    if data is not None:
        raise typer.BadParameter(
            "the server knows where its table is; leave it out with --server", param_hint="--data"
        )
    if _typed(analyst, "EKE_ANALYST"):
        raise typer.BadParameter(
            "a server knows you by your token; leave it out with --server", param_hint="--analyst"
        )
    with failures(as_json=as_json), _remote(server, token, path) as remote:
        yield remote


@contextmanager
def dataset(
    place: str, *, as_json: bool, data: str | None = None, analyst: str | None = None
) -> Iterator[Session]:
    """The session of a dataset on this machine, for commands that need all of it."""
    with failures(as_json=as_json):
        with working(f"Opening {short_name(place)}"):
            session = eke.open(place, data=data, analyst=analyst, columns="needed")
        yield session


def short_name(place: str) -> str:
    """A dataset in a few letters: the name of its file, or its address without a password."""
    return (
        str(import_module("eke.ledger.dialect").locate(place))
        if "://" in place
        else Path(place).name
    )


@contextmanager
def _remote(server: str, token: str | None, name: str) -> Iterator[Dataset]:
    if not token:
        raise ServiceError(
            "a server needs a token: put yours into the variable EKE_TOKEN. Curators make them "
            "with `eke token new`"
        )
    with needed("client"):
        connect = eke.connect
    try:
        with working("Connecting"):
            session = connect(server, token, name, timeout=_ANSWER_SECONDS)
    except ServiceError as problem:
        if type(problem) is ServiceError and ("://" in name or Path(name).suffix == ".eke"):
            raise ServiceError(
                f"{problem}. With --server (or EKE_SERVER) DATASET is the name of a dataset there; "
                "for one on this machine say --server ''"
            ) from None
        raise
    with session:
        yield session


def _typed(given: str | None, variable: str) -> bool:
    """Whether an option was typed, rather than found in a variable that is there for others."""
    return given is not None and given != os.environ.get(variable)


@contextmanager
def needed(extra: str) -> Iterator[None]:
    """Within it a missing package becomes the advice to install an extra."""
    try:
        yield
    except ModuleNotFoundError as problem:
        raise ServiceError(
            f"{problem.name} is missing; install it with pip install 'eke[{extra}]'"
        ) from None
