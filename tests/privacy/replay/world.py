"""A world: one table of a pair, protected, and everything through which outsiders see it."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import eke
from eke.errors import EkeError
from eke.ledger import Entry
from eke.service import Access, Account, Datasets, Settings, create_app
from eke.service.job_store import UNFINISHED
from eke.service.log import LOGGER
from tests.command_line import call
from tests.privacy.replay.neighbours import Neighbours
from tests.service import Clock, Server

_HASH = re.compile(r"[0-9a-f]{64}|\b[0-9a-f]{16}\b")
_JOB_TIME = re.compile(r'((?:made|ended)_at\\*": ?\\*")[^"\\]*')
_DURATION = re.compile(r".*_seconds.*\n")


@dataclass
class World:
    """A dataset with its session, its server and its command line."""

    neighbours: Neighbours
    folder: Path
    session: eke.Session
    data: Any
    _open: ExitStack = field(default_factory=ExitStack)
    _server: Server | None = None
    _seen: int = 0  # entries of the ledger that were looked at
    _hashes: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        return self.folder / "people.eke"

    def command(self, *words: object) -> list[object]:
        """What a command about the dataset returned and printed."""
        verb, *rest = words
        shown = call(verb, self.path, *rest)
        return [shown.code, shown.out, shown.err]

    def http(self, method: str, place: str, who: str, body: Any = None, **headers: str) -> Any:
        """Status, headers and body of a response."""
        reply = self.server.call(method, f"/api/v1/datasets/people{place}", who, body, **headers)
        return [reply.status, reply.headers, reply.body.decode("utf-8", "backslashreplace")]

    def job(self, body: Any, who: str, **headers: str) -> Any:
        """A publication in the background: how it was taken, and what became of it."""
        place = "/api/v1/datasets/people"
        taken = self.server.call("POST", f"{place}/publications", who, body, **headers)
        if taken.status != 202:
            return [taken.status, taken.headers, taken.text]
        job = taken.json()  # how far it is already depends on the machine
        jobs = self.server.app.state.eke.jobs
        while (now := jobs.get(job["id"])) is not None and now.state in UNFINISHED:
            time.sleep(0.002)
        ended = self.http("GET", f"/jobs/{job['id']}", who)
        return [taken.status, job["id"], job["key"], job["request"], ended]

    def metrics(self) -> str:
        """The counters of the server, without those that measure time."""
        return _DURATION.sub("", self.server.call("GET", "/metrics", "otto").text)

    @property
    def server(self) -> Server:
        """The server of this dataset, with one account of each role."""
        if self._server is None:
            access = Access(self.folder / "access.db")
            tokens = {}
            for name, role in (("cleo", "curator"), ("ann", "analyst"), ("otto", "auditor")):
                access.add(Account(name, role))  # type: ignore[arg-type]
                tokens[name] = access.new_token(name).text
            settings = Settings(requests_per_minute=10**9, console=False, answer_step=0.0)
            app = create_app(Datasets([("people", self.session)]), access, settings)
            loop = self._open.enter_context(asyncio.Runner())
            self._open.callback(access.close)
            self._open.callback(app.state.eke.jobs.stop)
            self._server = Server(app, loop, access, self.session, Clock(), self.folder, tokens)
        return self._server

    # -- looking -------------------------------------------------------------------------------

    def outcome(self, do: Callable[[World], object]) -> str:
        """Everything that an outsider sees of a request, and what it left in the ledger."""
        try:
            seen = do(self)
        except EkeError as error:
            seen = [type(error).__name__, str(error), repr(getattr(error, "refusal", ""))]
        except Exception as error:  # noqa: BLE001 -- whatever it is, both tables must give it
            seen = ["unforeseen", type(error).__name__, str(error)]
        entries = self.session._vault.ledger.entries(after=self._seen)
        for entry in entries:
            self._seen = entry.sequence
            self._learn(entry)
        left = [_public(entry) for entry in entries]
        text = json.dumps([seen, left], default=repr, sort_keys=False)
        # Each hash of the chain follows from a salted one of the table's own fingerprint.
        return _JOB_TIME.sub(r"\1", _HASH.sub(self._named, text))

    def _learn(self, entry: Entry) -> None:
        self._hashes[entry.hash] = self._hashes[entry.hash[:16]] = f"<hash {entry.sequence}>"
        if "private_sha256" in entry.about:
            self._hashes[str(entry.about["private_sha256"])] = "<sealed>"

    def _named(self, found: re.Match[str]) -> str:
        return self._hashes.get(found[0], found[0])

    def close(self) -> None:
        self._open.close()


def _public(entry: Entry) -> list[object]:
    about, payload = dict(entry.about), dict(entry.payload)
    return [entry.sequence, entry.kind, entry.at, about, payload, entry.hash]


@contextmanager
def opened(neighbours: Neighbours, side: int, folder: Path) -> Iterator[World]:
    """One table of a pair, protected in a folder that is as empty as it will be afterwards."""
    place = folder / "world"
    place.mkdir()
    LOGGER.disabled = True  # requests fail here by the dozen
    data = neighbours.place(side, place)
    session = eke.create(
        place / "people.eke", data, neighbours.domain, analyst="ann", **neighbours.settings
    )
    world = World(neighbours, place, session, data)
    try:
        yield world
    finally:
        world.close()
        LOGGER.disabled = False
        shutil.rmtree(place)
