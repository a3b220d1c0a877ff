"""Requests that are struck by an error on their way, and sent again with the same key."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from eke.data import CellSource, MarginalSource
from eke.engine import draws, measuring, vault
from eke.errors import DataError, EkeError
from eke.ledger import book, store
from eke.ledger.failpoint import FAILPOINTS, failpoint
from eke.session.ask.request import Request
from tests.privacy.replay.asking import Maker, pick, random_sql, random_width, shown
from tests.privacy.replay.neighbours import Neighbours
from tests.privacy.replay.outside import publication_body
from tests.privacy.replay.releasing import published, random_plan, random_publication
from tests.privacy.replay.world import World
from tests.random_questions import random_question

PLACES = tuple(place for place in FAILPOINTS if not place.startswith("ledger.create"))


class Injected(Exception):
    """An error that nobody foresaw."""


class Death(BaseException):
    """Stands for a process that ends."""


@dataclass
class Fault:
    """An error at one pass of one place, the same for both tables."""

    place: str  # a failpoint, "counting" or "answering"
    at: int
    error: type[BaseException]
    passes: int = 0

    def pass_by(self, place: str) -> None:
        if place == self.place:
            self.passes += 1
            if self.passes == self.at:
                raise self.error("an error that was put here")


@contextmanager
def struck(fault: Fault) -> Iterator[None]:
    """Within it the fault strikes."""

    def passing(place: str) -> None:
        failpoint(place)
        fault.pass_by(place)

    def before(place: str, plain: Callable[..., Any]) -> Callable[..., Any]:
        def struck_before(*words: Any, **named: Any) -> Any:
            fault.pass_by(place)
            return plain(*words, **named)

        return struck_before

    with pytest.MonkeyPatch.context() as patch:
        for module in (vault, measuring, draws, book, store):
            patch.setattr(module, "failpoint", passing)
        for source in (CellSource, MarginalSource):
            patch.setattr(source, "counts", before("counting", source.counts))
        patch.setattr(Request, "text", before("answering", Request.text))
        yield


def random_fault(rng: np.random.Generator) -> tuple[str, int, type[BaseException]]:
    place = str(pick(rng, (*PLACES, "counting", "answering")))
    error: type[BaseException] = pick(rng, (Injected, Death, DataError, MemoryError))
    return place, int(rng.integers(1, 4)), error


def random_request(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    """A request with a key that nobody else has."""
    kind, key = rng.random(), f"retry-{int(rng.integers(10**6))}"
    within = random_width(rng)
    asked: Any = random_sql(rng) if kind < 0.3 else random_question(rng, pair.domain)
    wanted = random_plan(rng, pair)
    mechanism, options = random_publication(rng, pair)

    def do(world: World) -> object:
        if kind < 0.6:
            return shown(world.session.ask(asked, within, key=key))
        if kind < 0.75:
            return repr(world.session.release(world.session.plan(**wanted), key=key))
        return published(world, mechanism, options, key)

    return do


def retry(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    """The same request until it comes through: struck, struck elsewhere, and left alone."""
    request = random_request(rng, pair)
    faults = [random_fault(rng) for _ in range(int(rng.integers(1, 3)))]

    def do(world: World) -> object:
        seen: list[object] = []
        for fault in faults:
            with struck(Fault(*fault)):
                seen.append(_told(request, world))
        seen += [_told(request, world), _told(request, world)]
        return [seen, repr(world.session.verify().open_reservations)]

    return do


def retried_over_http(rng: np.random.Generator, pair: Neighbours) -> Callable[[World], object]:
    """The same, as a server and its jobs tell of it; only what a server survives."""
    place, at, _ = random_fault(rng)
    error: type[BaseException] = pick(rng, (Injected, DataError, MemoryError))
    headers = {"Idempotency_Key": f"retry-{int(rng.integers(10**6))}"}
    body = publication_body(*random_publication(rng, pair))
    asked = {"sql": random_sql(rng), "within": random_width(rng)}
    as_job = bool(rng.random() < 0.5)

    def request(world: World) -> object:
        if as_job:
            return world.job(body, "ann", **headers)
        return world.http("POST", "/ask", "ann", asked, **headers)

    def do(world: World) -> object:
        with struck(Fault(place, at, error)):
            seen = [request(world)]
        return [*seen, request(world), request(world)]

    return do


def _told(request: Callable[[World], object], world: World) -> object:
    try:
        return request(world)
    except (EkeError, Injected, Death, MemoryError) as error:
        return [type(error).__name__, str(error)]


RETRYING: dict[str, Maker] = {"retry": retry, "retry over HTTP": retried_over_http}
