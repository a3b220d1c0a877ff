"""Record and replay over every surface: neighbours differ in nothing but the noisy values.

`replay_triples` puts the same requests to a table and to its neighbour. The draws of the first are
forced upon the second (`tape.py`), and everything an outsider sees is compared: decisions, prices,
status, texts, keys, documents, files, errors, and what each request leaves in the ledger.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from tests.privacy.replay.asking import ASKING, Act, Maker
from tests.privacy.replay.neighbours import MEMORY, Neighbours, random_neighbours
from tests.privacy.replay.outside import OUTSIDE
from tests.privacy.replay.releasing import RELEASING
from tests.privacy.replay.retrying import RETRYING
from tests.privacy.replay.tape import Tape, forced
from tests.privacy.replay.world import opened

SURFACES: Mapping[str, Maker] = MappingProxyType({**ASKING, **RELEASING, **OUTSIDE, **RETRYING})
# How often each is used: publications and commands take longest.
_SHARES: Mapping[str, float] = MappingProxyType(
    {
        "query": 6,
        "sql": 5,
        "database": 2,
        "choice": 3,
        "explanation": 6,
        "estimate": 5,
        "claim": 2,
        "plan": 3,
        "release": 3,
        "publication": 2,
        "command": 1,
        "export": 1,
        "http": 10,
        "ask many": 1,
        "job": 1,
        "retry": 2,
        "retry over HTTP": 1,
    }
)
HISTORY = 40
"""Requests put to one pair, one after the other."""


@dataclass(frozen=True, slots=True)
class Result:
    """So many triples of table, neighbour and request, and in how many of them they differ."""

    triples: int
    differences: int
    by_surface: Mapping[str, int]  # triples of each
    kinds: Mapping[str, int]  # how requests ended, and what entries they left
    examples: tuple[str, ...] = ()  # of what differs, with the seed of the pair


def replay_triples(count: int, seed: int) -> Result:
    """The comparison of at least so many triples."""
    found = Result(0, 0, {}, {})
    for number in range(-(-count // HISTORY)):
        own = seed * 100_000 + number
        pair, acts = random_history(own)
        found = added(found, replay(pair, acts, own))
    return found


def random_history(seed: int) -> tuple[Neighbours, list[Act]]:
    """A pair of neighbours and requests on all surfaces, in random order."""
    rng = np.random.default_rng(seed)
    pair = random_neighbours(rng)
    weights = np.array([_SHARES[name] for name in SURFACES])
    if pair.form in MEMORY:  # which commands cannot open
        weights[list(SURFACES).index("command")] /= 8
    names = rng.choice(list(SURFACES), size=HISTORY, p=weights / weights.sum())
    return pair, [Act(str(name), SURFACES[str(name)](rng, pair)) for name in names]


def replay(pair: Neighbours, acts: Sequence[Act], seed: int) -> Result:
    """The requests put to both tables of one pair, and compared one by one."""
    tape = Tape(seed)
    with tempfile.TemporaryDirectory(dir=_memory()) as name:
        first = _played(pair, 0, acts, tape, Path(name))
        again = tape.rewound()
        second = _played(pair, 1, acts, again, Path(name))
    differing = [n for n, (one, two) in enumerate(zip(first, second, strict=True)) if one != two]
    examples = tuple(
        f"seed {seed}, request {n} ({acts[n].family}, {pair.form}):\n"
        f"{_around(first[n], second[n])}\n{_around(second[n], first[n])}"
        for n in differing[:1]
    )
    # A draw that only one table made would show in the ledger as well; it is counted by itself.
    strays = again.strays + again.rest
    return Result(
        len(acts),
        len(differing) + strays,
        Counter(act.family for act in acts),
        Counter(kind for outcome in first for kind in _kinds(outcome)),
        examples,
    )


def _played(
    pair: Neighbours, side: int, acts: Sequence[Act], tape: Tape, folder: Path
) -> list[str]:
    with forced(tape), opened(pair, side, folder) as world:
        return [world.outcome(act.do) for act in acts]


def _memory() -> str | None:
    """A folder on the fastest disk there is."""
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


_TOLD = (
    "unforeseen",
    "Refused",
    "KeyConflict",
    "ReleaseFailed",
    "SqlError",
    "BudgetExceeded",
    "InternalError",
)
_ENTRIES = ("reserve", "draw", "commit", "remember", "limit")


def _kinds(outcome: str) -> list[str]:
    """What happened, to see that everything does."""
    found = [word for word in _TOLD if f'"{word}"' in outcome or f'"{word}\\"' in outcome]
    return found + [f"entry: {kind}" for kind in _ENTRIES if f', "{kind}", "2030' in outcome]


def _around(text: str, other: str, width: int = 160) -> str:
    """The place where a text begins to differ from another."""
    pairs = zip(text, other, strict=False)
    at = next((n for n, (one, two) in enumerate(pairs) if one != two), min(len(text), len(other)))
    return f"  …{text[max(0, at - width) : at + width]}…"


def added(one: Result, other: Result) -> Result:
    """Both together."""
    return Result(
        one.triples + other.triples,
        one.differences + other.differences,
        Counter(one.by_surface) + Counter(other.by_surface),
        Counter(one.kinds) + Counter(other.kinds),
        (one.examples + other.examples)[:10],
    )
