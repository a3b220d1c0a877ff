"""A key draws once: whatever fails after a charge, the sampler is asked once for each place.

Every way to release something is carried out while an exception is raised in one call after
another that follows the charge, and then again with the same key until it comes through. The
sampler is counted. See docs/proofs/release.md §3.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.engine import adaptive, draws, measuring, vault
from eke.errors import ReleaseFailed
from eke.ledger.failpoint import FAILPOINTS
from eke.mechanism import choose_several_with_noise, draw, secret
from eke.mechanism.choice import choose_place
from eke.privacy.law import DiscreteLaw
from tests.parts import in_long

PACKAGE = str(Path(eke.__file__).parent)
DOMAIN = eke.Domain(
    a=eke.Integer(0, 3, null=eke.Replace(0)),
    b=eke.Categorical("x", "y", null="bucket", outside="bucket"),
    c=eke.Categorical("u", "v", null="bucket", outside="bucket"),
)
_NUMBERS = np.arange(400)
ROWS = pd.DataFrame(
    {
        "a": _NUMBERS % 4,
        "b": np.where(_NUMBERS % 3, "x", "y"),
        "c": np.where(_NUMBERS % 5, "u", "v"),
    }
)

Release = Callable[[eke.Session], object]
PATHS: dict[str, Release] = {
    "ask": lambda s: s.ask(eke.count(a=(1, 2)), within=60, key="k").to_json(),
    "ask in SQL": lambda s: s.ask("SELECT b, COUNT(*) FROM t GROUP BY b", within=60, key="k"),
    "statement in steps": lambda s: s.ask("SELECT AVG(a) FROM t", within=0.6, key="k").to_json(),
    "choice": lambda s: s.ask(eke.median("a").chosen(), spend=0.5, key="k").to_json(),
    "choice in steps": lambda s: s.ask(
        "SELECT CHOSEN_QUANTILE(a, 0.8) FROM t WHERE b = 'x'", within="9 %", key="k"
    ).to_json(),
    "release": lambda s: s.release(s.plan([eke.marginal("a", "b")], budget=0.3), key="k").sequence,
    "max_entropy": lambda s: s.publish("max_entropy", epsilon=0.5, key="k").codes.tolist(),
    "pca": lambda s: s.publish("pca", epsilon=0.5, components=2, key="k").codes.tolist(),
    "lda": lambda s: s.publish("lda", epsilon=0.5, target="c", key="k").codes.tolist(),
}


class Injected(Exception):
    """An error that nobody foresaw."""


class Death(BaseException):
    """Stands for a process that ends."""


@dataclass
class Sampler:
    """Counts how often noise is drawn."""

    real: Callable[[DiscreteLaw, int], Any] = draw
    calls: int = 0

    def __call__(self, law: DiscreteLaw, number: int) -> Any:
        noise = self.real(law, number)
        self.calls += 1
        return noise


@dataclass
class Fault:
    """Raises in the call of the package with a certain number, once something was charged."""

    at: int
    error: type[BaseException]
    ledger: Any
    charged: bool = False
    calls: int = 0
    struck: str = ""

    def __call__(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not frame.f_code.co_filename.startswith(PACKAGE):
            return
        if frame.f_code.co_flags & inspect.CO_GENERATOR:  # resumed, or closed where none can raise
            return
        if not self.charged:
            self.charged = frame.f_code is draws.Draws.__init__.__code__
            return
        self.calls += 1
        if self.calls == self.at:
            self.struck = f"{Path(frame.f_code.co_filename).name}:{frame.f_code.co_name}"
            raise self.error(self.struck)


@contextmanager
def traced(fault: Fault) -> Iterator[None]:
    before = sys.gettrace()
    sys.settrace(fault)
    try:
        yield
    finally:
        sys.settrace(before)


def counting(patch: pytest.MonkeyPatch) -> Sampler:
    """The sampler of noise and of choices, counted while the patch is there."""
    counted, choose = Sampler(), choose_place

    def chosen(*runs: Any) -> int:
        place = choose(*runs)
        counted.calls += 1
        return place

    several = choose_several_with_noise

    def picked(*asked: Any) -> list[int]:
        before = counted.calls
        places = several(*asked)
        counted.calls = before + 1  # several picks in one place
        return places

    patch.setattr(adaptive, "choose_several_with_noise", picked)
    patch.setattr(secret, "draw", counted)
    patch.setattr(secret, "choose_place", chosen)
    return counted


@pytest.fixture
def sampler(monkeypatch: pytest.MonkeyPatch) -> Sampler:
    return counting(monkeypatch)


def dataset(folder: Path, name: str) -> eke.Session:
    return eke.create(
        folder / f"{name}.eke", ROWS, DOMAIN, epsilon=20.0, neighbours="replace_one", analyst="ann"
    )


def again(folder: Path, name: str) -> eke.Session:
    return eke.open(folder / f"{name}.eke", data=ROWS, analyst="ann")


def undisturbed(folder: Path, release: Release, sampler: Sampler) -> int:
    """How many places a release draws in, when nothing goes wrong."""
    sampler.calls = 0
    release(dataset(folder, "calm"))
    return sampler.calls


def draws_and_charges(
    folder: Path,
    release: Release,
    sampler: Sampler,
    fault: Fault,
    session: eke.Session,
    *,
    fresh: bool,
) -> tuple[int, int, str]:
    """(draws, reservations, how it ended) of a release with a fault, and repeated."""
    sampler.calls = 0
    with traced(fault), suppress(Injected, Death, eke.errors.EkeError):
        release(session)
    try:
        release(again(folder, "faulty") if fresh else session)
    except ReleaseFailed:
        outcome = "failed"
    else:
        outcome = "answered"
    kinds = [entry.kind for entry in session.ledger_entries()]
    return sampler.calls, kinds.count("reserve"), outcome


def stored_places(session: eke.Session) -> int:
    """How many places the ledger holds draws of, each counted once."""
    places = set()
    for entry in session._vault.ledger.entries():
        if entry.kind == draws.DRAW:
            documents: Any = entry.payload["draws"]
            places |= {(entry.payload["reservation"], one["place"]) for one in documents}
    return len(places)


def spread(calls: int, number: int) -> list[int]:
    """Numbers of calls from first to last, all of them or evenly spread."""
    return sorted({int(at) for at in np.linspace(1, calls, min(number, calls))})


def count_calls(folder: Path, release: Release) -> int:
    """How many calls of the package follow the first charge."""
    session = dataset(folder, "counted")
    fault = Fault(-1, Injected, session)
    with traced(fault):
        release(session)
    return fault.calls


def inject_everywhere(folder: Path, name: str, sampler: Sampler, number: int) -> list[str]:
    """What is wrong after faults in so many calls after the charge, spread evenly over them."""
    release, problems = PATHS[name], []
    calls = count_calls(folder, release)
    places = undisturbed(folder, release, sampler)
    for turn, at in enumerate(spread(calls, number)):
        error = (Injected, Death)[turn % 2]
        place = folder / str(turn)
        place.mkdir()
        session = dataset(place, "faulty")
        fault = Fault(at, error, session)
        drawn, charged, outcome = draws_and_charges(
            place, release, sampler, fault, session, fresh=turn % 4 > 1
        )
        allowed = places
        if name == "statement in steps":  # a step decides by what the steps before it gave
            allowed = max(places, charged)
        if name == "max_entropy":  # so does a turn: each place that is stored was drawn in once
            allowed = stored_places(session)
        if drawn > allowed:
            problems.append(f"{at} {fault.struck} {error.__name__}: {drawn} draws, {places} paid")
        if not session.verify().intact or session.verify().open_reservations:
            problems.append(f"{at} {fault.struck}: a charge without an answer")
        if outcome == "failed" and error is Death:
            problems.append(f"{at} {fault.struck}: an interruption became a failure")
    return problems


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("calls", [4, in_long(10)])
def test_an_error_in_any_call_after_the_charge_draws_nothing_anew(name, folder, sampler, calls):
    """N = 4 or 10 calls, evenly spread over all that follow the charge; `make audit` takes more."""
    assert inject_everywhere(folder, name, sampler, calls) == []


class Forgetful(dict[Any, Any]):
    """Holds nothing beyond the release that put it there."""

    def __contains__(self, _: object) -> bool:
        return False


@pytest.mark.parametrize(
    ("name", "calls"),
    [
        ("pca", 5),
        pytest.param("pca", 8, marks=pytest.mark.long),
        pytest.param("max_entropy", 8, marks=pytest.mark.long),
    ],
)
def test_a_release_that_forgets_its_draws_is_caught(name, calls, folder, sampler, monkeypatch):
    """Positive control: the ledger and the memory of draws are not looked at."""
    monkeypatch.setattr(draws.Draws, "_take_in", lambda *_: None)
    monkeypatch.setattr(draws, "_unstored", Forgetful())
    assert inject_everywhere(folder, name, sampler, calls) != []


@pytest.mark.parametrize("name", ["ask", "choice", "release", "pca"])
@pytest.mark.parametrize("place", [one for one in FAILPOINTS if one.startswith("engine.")])
def test_a_death_at_any_failpoint_draws_nothing_anew(name, place, folder, sampler, monkeypatch):
    """In the same process; one that dies between drawing and storing has told nobody anything."""
    expected = undisturbed(folder, PATHS[name], sampler)
    session = dataset(folder, "faulty")
    sampler.calls = 0

    def die(at: str) -> None:
        if at == place:
            raise Death

    with monkeypatch.context() as patched:
        for module in (vault, measuring, draws):
            patched.setattr(module, "failpoint", die)
        with pytest.raises(Death):
            PATHS[name](session)
    PATHS[name](session)
    assert sampler.calls == expected
    assert session.verify().open_reservations == ()
