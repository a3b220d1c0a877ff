"""Peers: what the workers of one server share: rates, metrics, and short messages.

The process that starts them makes a private folder. There lie the buckets of the rates, so that a
caller has one allowance whichever worker is asked, the counts of each worker, which any of them
adds up, and a socket of each, by which one tells the others what it cannot do itself. Accounts,
jobs and ledgers are shared as those of several servers are (`access.py`, `job_store.py`).
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from eke.service.metric import Counted, Metrics
from eke.service.shared_buckets import SharedBuckets

_SECONDS = 1.0  # between looks at what others should know
_LONGEST = 64  # bytes of a message


@dataclass(frozen=True, slots=True)
class Peers:
    """A place that the workers of one server share; it can be handed to a process."""

    folder: Path
    server: str
    parent: int

    def buckets(self, name: str) -> SharedBuckets:
        """The buckets of this name."""
        return SharedBuckets(self.folder / f"{name}.rate", self.server.encode())

    def counts(self) -> list[Counted]:
        """What the other workers have counted, those that ended too, to about a second."""
        mine = self._mine("counts")
        read: list[Counted] = []
        for path in self.folder.glob("*.counts"):
            if path != mine:
                with suppress(OSError):  # it is being replaced
                    read.append(Counted.of(json.loads(path.read_text("utf-8"))))
        return read

    def tell(self, message: bytes) -> None:
        """Send a message to every other worker; those that do not listen miss it."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
            sender.setblocking(False)
            for path in self.folder.glob("*.socket"):
                if path != self._mine("socket"):
                    with suppress(OSError):
                        sender.sendto(message, str(path))

    @contextmanager
    def listening(self, hear: Callable[[bytes], None]) -> Iterator[None]:
        """Hear, in the event loop, what the others tell."""
        place, loop = self._mine("socket"), asyncio.get_running_loop()
        place.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
            ear.bind(str(place))
            ear.setblocking(False)
            loop.add_reader(ear, lambda: hear(ear.recv(_LONGEST)))
            try:
                yield
            finally:
                loop.remove_reader(ear)
                place.unlink(missing_ok=True)

    @asynccontextmanager
    async def open(self, metrics: Metrics) -> AsyncIterator[None]:
        """Let the others know what was counted, and end when there is nobody above any more."""
        task = asyncio.create_task(self._watch(metrics))
        try:
            yield
        finally:
            task.cancel()
            self._store(metrics)

    async def _watch(self, metrics: Metrics) -> None:
        while True:
            await asyncio.sleep(_SECONDS)
            self._store(metrics)
            if os.getppid() != self.parent:  # nobody else could end this process
                shutil.rmtree(self.folder, ignore_errors=True)
                signal.raise_signal(signal.SIGTERM)
                return

    def _store(self, metrics: Metrics) -> None:
        fresh = self._mine("written")
        with suppress(OSError):  # the folder goes with the process that made it
            fresh.write_text(json.dumps(metrics.counts().document()), "utf-8")
            fresh.replace(self._mine("counts"))

    def _mine(self, kind: str) -> Path:
        return self.folder / f"{os.getpid()}.{kind}"
