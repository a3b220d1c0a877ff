"""What the times of paid answers tell, with the server's step and without.

Two neighbouring tables are asked in turns, in random order, by way of the server's application in
this process: in `few` one cell is filled, in `many` one more person has filled a quarter of a
million. That is the extreme in which the time of a measurement shows what the table holds. The
times at which answers leave are compared by Welch's t, on all of them and on those below each of
some percentiles (a busy machine's late ones hide small differences); the largest |t| counts.

- neighbours: `few` against `many`;
- same: `few` against `few`, every other answer (the A/A control);
- noise: answers of `few` whose noise was larger than the median against the others;
- bare: `few` against `many` without a step: the positive control, which must show.

    python benchmarks/timing.py [--pairs 2000] [--step-ms 100] [--lanes 4]

10⁵ pairs take hours of waiting and little work; lanes wait side by side. The step must leave room
for the work of all lanes, or answers take several steps, which the table shows.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import eke
from eke.service import Access, Account, Datasets, Settings, create_app, send

BOUND = 4.5  # |t| above it shows: by chance once in 150,000 comparisons
ATTRIBUTES = 18
ASKED = 14  # attributes of a question
FILLED = 250_000
NAMES = [f"a{place}" for place in range(ATTRIBUTES)]
DOMAIN = eke.Domain(**{name: eke.Integer(0, 1) for name in NAMES})
CROPS = (100.0, 99.0, 95.0, 80.0, 50.0)  # percentiles of both sides together
Times: TypeAlias = Sequence[float] | NDArray[np.float64]
_LIFE = 300  # questions to a pair of datasets before a new one: history makes all answers slower
_BARE_PAIRS = 400


@dataclass(frozen=True, slots=True)
class Timing:
    """The largest |t| of each comparison, and how many steps answers took."""

    pairs: int
    step: float  # seconds
    neighbours: float
    same: float
    noise: float
    bare: float
    steps: dict[int, int]

    @property
    def hidden(self) -> bool:
        """Whether nothing shows with the step."""
        return max(self.neighbours, self.same, self.noise) < BOUND

    @property
    def shown(self) -> bool:
        """Whether the control shows without one."""
        return self.bare > BOUND


@dataclass
class Answers:
    """When answers of one side left, and their distance from 0, in `few` that of the noise."""

    seconds: list[float] = field(default_factory=list)
    noise: list[float] = field(default_factory=list)


def welch(one: Times, other: Times) -> float:
    """Welch's t: the difference of two means in its own standard errors; 0 without a spread."""
    if min(len(one), len(other)) < 2:
        return 0.0
    spread = np.var(one, ddof=1) / len(one) + np.var(other, ddof=1) / len(other)
    difference = float(np.mean(one) - np.mean(other))
    return difference / float(np.sqrt(spread)) if spread else 0.0


def largest(one: Times, other: Times) -> float:
    """The largest |t| of two sides, whole and cropped at percentiles of both together."""
    both = np.concatenate([one, other])
    found = [0.0]
    for crop in CROPS:
        edge = np.percentile(both, crop)
        sides = [np.asarray(side)[np.asarray(side) <= edge] for side in (one, other)]
        found.append(abs(welch(*sides)))
    return max(found)


def people(filled: int) -> pd.DataFrame:
    """Person 0 in one cell; person 1, if any, in `filled` others."""
    codes = np.arange(filled + 1)
    owners = (codes > 0).astype(int)
    return pd.DataFrame({"id": owners, **{n: codes >> i & 1 for i, n in enumerate(NAMES)}})


@dataclass
class Lane:
    """A pair of datasets that are asked in turns, replaced when their histories get long."""

    number: int
    tables: dict[str, pd.DataFrame]
    folder: Path
    served: Datasets
    asked: int = 0
    names: dict[str, str] = field(default_factory=dict)

    def renew(self, rows: int) -> None:
        """New datasets with the same tables, each read once."""
        self.asked += 1
        for side, table in self.tables.items():
            name = self.names[side] = f"{side}-{self.number}-{self.asked}"
            unit = eke.Unit("id", rows)
            made = eke.create(self.folder / f"{name}.eke", table, DOMAIN, epsilon=1e9, unit=unit)
            made.ask(eke.count(), within=1e9)
            self.served.add(name, made)


async def _asked(app: Any, headers: dict[str, str], dataset: str, sql: str) -> tuple[float, Any]:
    """(seconds until the answer left, the answer)."""
    left = 0.0

    async def stamped(scope: Any, receive: Any, deliver: Any) -> None:
        async def stamp(message: Any) -> None:
            nonlocal left
            left = time.perf_counter()
            await deliver(message)

        await app(scope, receive, stamp)

    body = json.dumps({"sql": sql, "within": 1e6}).encode()
    began = time.perf_counter()
    found = await send(stamped, "POST", f"/api/v1/datasets/{dataset}/ask", headers, body)  # type: ignore[arg-type]
    answer = found.json()
    assert answer["source"] == "measured", answer
    return left - began, answer


def _question(places: tuple[int, ...]) -> str:
    """A question about some attributes of every filled cell; nobody in `few` is counted by it."""
    chosen = " AND ".join(f"{NAMES[place]} = 1" for place in places)
    return f"SELECT COUNT(*) FROM t WHERE {chosen}"  # noqa: S608 - eke reads it


def collect(pairs: int, step: float, *, lanes: int, filled: int) -> dict[str, Answers]:
    """When the answers of both sides left, asked in turns."""
    found = {"few": Answers(), "many": Answers()}
    tables = {"few": people(0), "many": people(filled)}
    questions = list(combinations(range(ATTRIBUTES), ASKED))[: _LIFE + 1]
    with tempfile.TemporaryDirectory() as name:
        access = Access(None)
        access.add(Account("ann", "analyst"))
        headers = {
            "Authorization": f"Bearer {access.new_token('ann').text}",
            "Content-Type": "application/json",
        }
        served = Datasets()
        settings = Settings(answer_step=step, requests_per_minute=10**9)
        app = create_app(served, access, settings)
        left = iter(range(pairs))

        async def run(lane: Lane) -> None:
            waiting: list[tuple[int, ...]] = []
            for _ in left:
                if not waiting:
                    await asyncio.to_thread(lane.renew, filled + 1)
                    waiting = list(questions)
                    sql = _question(waiting.pop())
                    for dataset in lane.names.values():  # the first one warms up
                        await _asked(app, headers, dataset, sql)
                sql = _question(waiting.pop())
                for side in random.sample(list(found), 2):
                    seconds, answer = await _asked(app, headers, lane.names[side], sql)
                    found[side].seconds.append(seconds)
                    found[side].noise.append(abs(answer["value"]))

        async def run_all() -> None:
            each = (Lane(number, tables, Path(name), served) for number in range(lanes))
            await asyncio.gather(*(run(lane) for lane in each))

        asyncio.run(run_all())
        access.close()
    return found


def measure(pairs: int, step: float = 0.1, *, lanes: int = 4, filled: int = FILLED) -> Timing:
    """What so many pairs tell with a step, beside a few hundred without one."""
    bare = collect(min(pairs, _BARE_PAIRS), 0.0, lanes=1, filled=filled)
    held = collect(pairs, step, lanes=lanes, filled=filled)
    few, many = held["few"], held["many"]
    median = float(np.median(few.noise))
    by_noise = list(zip(few.seconds, few.noise, strict=True))
    return Timing(
        pairs=pairs,
        step=step,
        neighbours=largest(few.seconds, many.seconds),
        same=largest(few.seconds[::2], few.seconds[1::2]),
        noise=largest(
            [seconds for seconds, noise in by_noise if noise > median],
            [seconds for seconds, noise in by_noise if noise <= median],
        ),
        bare=largest(bare["few"].seconds, bare["many"].seconds),
        steps=dict(sorted(Counter(int(s / step) for s in few.seconds + many.seconds).items())),
    )


def main() -> None:
    """Print the table, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--step-ms", type=float, default=100.0)
    parser.add_argument("--lanes", type=int, default=4)
    options = parser.parse_args()
    found = measure(options.pairs, options.step_ms / 1000.0, lanes=options.lanes)
    print(f"{found.pairs} pairs, step {found.step * 1000:g} ms, bound |t| < {BOUND}")
    for name in ("neighbours", "same", "noise", "bare"):
        print(f"{name:12}{getattr(found, name):10.2f}")
    print("steps taken " + ", ".join(f"{steps}: {n}" for steps, n in found.steps.items()))
    print(f"hidden with the step: {found.hidden}; shown without: {found.shown}")
    values = {name: getattr(found, name) for name in ("neighbours", "same", "noise", "bare")}
    print(json.dumps({"pairs": found.pairs, "step": found.step, **values, "steps": found.steps}))


if __name__ == "__main__":
    main()
