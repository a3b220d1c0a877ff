"""Datasets: the sessions that a server has open, by name."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import parse_qs

from eke.engine import UNPACED, Tempo
from eke.errors import EkeError, ServiceError
from eke.session import Session, open_dataset
from eke.session.ask.turn import Turns, at_once

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


class Datasets:
    """Open sessions by name; more can be added while the server runs.

    In `folder`, where one is named, other workers of the server may make datasets.
    """

    def __init__(
        self, opened: Iterable[tuple[str, Session]] = (), folder: Path | None = None
    ) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._sessions: dict[str, Session] = {}
        self._twins: dict[str, Session] = {}
        self._turns: Turns = at_once
        self._tempo: Tempo = UNPACED
        for name, session in opened:
            self.add(name, session)

    def add(self, name: str, session: Session) -> None:
        if not NAME.fullmatch(name):
            raise ServiceError(
                "the name of a dataset has up to 64 letters, digits or any of . _ - ; give one as "
                "NAME=PLACE"
            )
        with self._lock:
            if name in self._sessions:
                raise ServiceError(f"two datasets are called {name!r}; name one with NAME=PLACE")
            session.serve(self._turns, self._tempo)
            self._sessions[name] = session

    def serve(self, turns: Turns, tempo: Tempo) -> None:
        """On all datasets, those to come too, work waits for its turn and looks keep a tempo."""
        with self._lock:
            self._turns, self._tempo = turns, tempo
            for session in self._sessions.values():
                session.serve(turns, tempo)

    def offer(self, name: str, session: Session) -> Session:
        """Add a dataset that was just made, unless it was seen in the folder already."""
        try:
            self.add(name, session)
        except ServiceError:
            return self._sessions[name]
        return session

    def get(self, name: str) -> Session | None:
        session = self._sessions.get(name)
        if session is None and self.folder is not None and NAME.fullmatch(name):
            place = self.folder / f"{name}.eke"
            if place.is_file():
                session = self._opened(name, place)
        return session

    def _opened(self, name: str, place: Path) -> Session | None:
        try:
            return self.offer(name, open_dataset(place, analyst="server"))
        except EkeError:  # it is being made
            return None

    def twin(self, name: str) -> Session:
        """A second session on the dataset, for long work that questions should not wait for."""
        with self._lock:
            if name not in self._twins:
                # It works for jobs, which have a queue of their own.
                self._twins[name] = self._sessions[name].twin()
            return self._twins[name]

    def items(self) -> list[tuple[str, Session]]:
        for place in self.folder.glob("*.eke") if self.folder else ():
            self.get(place.stem)
        with self._lock:
            return sorted(self._sessions.items())


def read_place(text: str) -> tuple[str, str]:
    """(name, place) of a dataset as the command line gives it: NAME=PLACE, a path or an address.

    A file is known by its own name, a ledger in PostgreSQL by its `dataset`.
    """
    name, equals, place = text.partition("=")
    if equals and NAME.fullmatch(name):
        return name, place
    if "://" in text:
        path, _, query = text.partition("?")
        return parse_qs(query).get("dataset", [Path(path).stem])[-1], text
    return Path(text).stem, text


def open_datasets(places: Iterable[str], folder: Path | None) -> Datasets:
    """The datasets at these places, and all those in the folder."""
    opened = Datasets()
    for place in places:
        name, where = read_place(place)
        opened.add(name, open_dataset(where, analyst="server"))
    for path in sorted(folder.glob("*.eke")) if folder else []:
        if opened.get(path.stem) is None:
            opened.add(path.stem, open_dataset(path, analyst="server"))
    return opened
