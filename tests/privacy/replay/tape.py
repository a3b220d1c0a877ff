"""A tape: what the first table's draws gave, given again to the second in place of its own.

Then both histories are equal, and whatever still differs comes from the data by another way than
the noisy values. The second table's own draws are made all the same, so that they may fail, and
thrown away. Noise comes from a seeded sampler: a failing pair can be played again.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from functools import partial
from itertools import count
from typing import Any

import numpy as np
import pytest

from eke.engine import draws
from eke.engine.draws import Draws, Wanted
from eke.ledger import book, store
from eke.mechanism import secret

_plain_generator = np.random.default_rng


@dataclass
class Tape:
    """Draws in the order in which they were made."""

    seed: int
    recording: bool = True
    drawn: list[tuple[str, list[int]]] = field(default_factory=list)
    at: int = 0
    strays: int = 0  # draws that the first table did not make, or not then

    def rewound(self) -> Tape:
        """The same tape, to be played."""
        return Tape(self.seed, recording=False, drawn=self.drawn)

    @property
    def rest(self) -> int:
        """Draws that the first table made and this one did not; 0 while recording."""
        return 0 if self.recording else len(self.drawn) - self.at

    def take(self, wanted: Wanted) -> list[int]:
        """The next draw: made and kept, or made and replaced by the one that was kept."""
        own = wanted.draw()
        what = hashlib.sha256(wanted.what.encode()).hexdigest()
        if self.recording:
            self.drawn.append((what, own))
            return own
        known = self.drawn[self.at] if self.at < len(self.drawn) else ("", [])
        self.at += 1
        if known[0] != what or len(known[1]) != len(own):
            self.strays += 1
            return own
        return known[1]


@contextmanager
def forced(tape: Tape) -> Iterator[None]:
    """Within it draws go over the tape, and all else that is random or tells the time is fixed."""
    rng = _plain_generator(tape.seed)
    plain = Draws.take

    def take(self: Draws, wanted: Sequence[Wanted]) -> list[list[int]]:
        return plain(self, [Wanted(one.what, partial(tape.take, one)) for one in wanted])

    def draw(law: Any, number: int) -> Any:
        return np.round(rng.laplace(size=number) * law.steps).astype(np.int64)

    def choose(widths: Sequence[int], scores: Sequence[int], _: Any) -> int:
        best = int(np.argmin(scores))
        return sum(widths[:best]) + int(rng.integers(widths[best]))

    def uniform(below: int, count: int) -> list[int]:
        numbers: list[int] = rng.integers(below, size=count).tolist()
        return numbers

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Draws, "take", take)
        # Ledgers that are equal to the byte have reservations of the same hash: what one of them
        # left in memory is not the other's.
        patch.setattr(draws, "_unstored", {})
        patch.setattr(secret, "draw", draw)
        patch.setattr(secret, "choose_place", choose)
        patch.setattr(secret, "_uniform", uniform)
        patch.setattr(secrets, "token_hex", _counted_names())
        patch.setattr(np.random, "default_rng", _counted_generators())
        patch.setattr(book, "datetime", _Clock())
        patch.setattr(store, "datetime", _Clock())
        yield


def _counted_names() -> Callable[[int], str]:
    """Names of requests, jobs and ledgers: random ones would differ between the two tables."""
    numbers = count()

    def named(length: int = 32) -> str:
        return f"{next(numbers):0{2 * length}x}"

    return named


def _counted_generators() -> Callable[..., np.random.Generator]:
    """Generators of rows, which are no part of any guarantee, by the order of their making."""
    numbers = count()

    def made(seed: Any = None) -> np.random.Generator:
        return _plain_generator([next(numbers), 1] if seed is None else seed)

    return made


class _Clock:
    """Stands for `datetime` where entries of the ledger get their times."""

    def __init__(self) -> None:
        self._ticks = count()

    def now(self, _: tzinfo) -> datetime:
        return datetime(2030, 1, 1, tzinfo=UTC) + timedelta(microseconds=next(self._ticks))
