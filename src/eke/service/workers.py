"""Workers: one server made of several processes that listen on the same port.

Python computes one thing at a time, so that free answers take all cores only where several
processes give them. Each worker opens the datasets and accounts by itself and follows their ledgers
as one of several servers does; what else makes them one server is in `peers.py`.
"""

from __future__ import annotations

import logging
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from fastapi import FastAPI
from uvicorn.config import STARTUP_FAILURE, Config
from uvicorn.supervisors import Multiprocess

from eke.errors import EkeError, ServiceError
from eke.service.access import Access
from eke.service.app import create_app
from eke.service.dataset import open_datasets
from eke.service.job_store import JobStore
from eke.service.log import log, log_to_stderr
from eke.service.peers import Peers
from eke.service.run import manner
from eke.service.settings import Settings
from eke.service.state import State

_PATIENCE_WITH_WORKERS = 60
"""Seconds: a worker that says nothing for as long is replaced. Compiling takes some of them."""
_LONGEST_FOLDER = 80
"""Letters of a path whose sockets any system can name."""
Beside: TypeAlias = Callable[[State], AbstractAsyncContextManager[None]]


@dataclass(frozen=True, slots=True)
class Worker:
    """What a process needs to become a worker; called there, it makes the application."""

    places: tuple[str, ...]
    access: str
    settings: Settings
    beside: Beside | None
    peers: Peers

    def __call__(self) -> FastAPI:
        log_to_stderr()
        try:
            datasets = open_datasets(self.places, self.settings.folder)
            datasets.folder = self.settings.folder
            access = Access(self.access)
        except EkeError as problem:  # it was all there when the server started
            log("not started", level=logging.ERROR, reason=str(problem))
            sys.exit(STARTUP_FAILURE)
        return create_app(datasets, access, self.settings, beside=self.beside, peers=self.peers)


def run_workers(
    places: Iterable[str],
    access: str,
    settings: Settings,
    *,
    number: int,
    host: str,
    port: int,
    beside: Beside | None = None,
    patience: int = 30,
) -> None:
    """Serve by so many workers until SIGINT or SIGTERM; one that dies is replaced.

    `beside` is another door, which every worker opens; it can be handed to a process.
    """
    if sys.platform == "win32":
        raise ServiceError("a server has several workers on Linux and macOS only; leave --workers")
    log_to_stderr()
    with tempfile.TemporaryDirectory(prefix="eke-serve-") as folder:
        if len(folder) > _LONGEST_FOLDER:
            raise ServiceError(
                f"the path of {folder} is too long for sockets; set a shorter TMPDIR"
            )
        peers = Peers(Path(folder), secrets.token_hex(8), os.getpid())
        worker = Worker(tuple(places), access, settings, beside, peers)
        config = Config(
            worker,
            factory=True,
            workers=number,
            host=host,
            port=port,
            timeout_worker_healthcheck=_PATIENCE_WITH_WORKERS,
            **manner(patience),
        )
        sockets = [config.bind_socket()]  # ends here if another server has the port, and the jobs
        with closing(Access(access)) as accounts:
            JobStore(accounts.storage).interrupt_left()  # those of a server before this one
        supervisor = Multiprocess(config, sockets)
        supervisor.run()
        if any(one.exitcode == STARTUP_FAILURE for one in supervisor.processes):
            raise ServiceError("a worker could not start; its last line in the log says why")
