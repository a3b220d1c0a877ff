"""What the times of paid answers tell, with the server's step and without.

Two neighbouring tables are asked in turns, in random order, by way of the server's application in
this process: in `few` one cell is filled, in `many` one more person has filled a quarter of a
million. That is the extreme in which the time of a measurement shows what the table holds. The
times at which answers leave are compared by Welch's t, on all of them and on those below each of
some percentiles (a busy machine's late ones hide small differences); the largest |t| counts.

- neighbours: `few` against `many`;
- chance: the same with the two sides of each pair swapped at random, the largest of 999 times (the
  A/A control: what the machine makes of two sides that are alike);
- noise: answers of `few` whose noise was larger than the median against the others;
- bare: `few` against `many` by the time of the work, without a step: the positive control, which
  must show.

    python benchmarks/timing.py [--pairs 2000] [--step-ms 100] [--lanes 2] [--wait] [--keep FOLDER]

Lanes are processes. Pairs are asked in slices; with --keep, those that are in the folder are not
asked again, so that a long run can be broken off and goes on. Waiting for the step is skipped: the
server's clock is moved on by what it would have slept, and everything else is as it is. So 10⁵
pairs take the work of 2 × 10⁵ answers, and not six hours. `--wait` waits.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

import eke
from eke.service import Access, Account, Datasets, Settings, create_app, send
from eke.service.pace import Pace

BOUND = 4.5  # |t| above it shows: by chance once in 150,000 comparisons
SIDE = 512  # values of each of two attributes
FILLED = 250_000
DOMAIN = eke.Domain(a=eke.Integer(0, SIDE - 1), b=eke.Integer(0, SIDE - 1))
CROPS = (100.0, 99.0, 95.0, 80.0, 50.0)  # percentiles of both sides together
SWAPS = 999
Floats: TypeAlias = NDArray[np.float64]
_LIFE = 300  # questions to a pair of datasets before a new one: history makes all answers slower
_AT_ONCE = 37  # random swaps of all pairs that are in memory together
_SLICE = 2_000


# -- statistics --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Timing:
    """The largest |t| of each comparison, and how many steps answers took."""

    pairs: int
    step: float  # seconds
    neighbours: float
    chance: float
    noise: float
    bare: float
    steps: dict[int, int]

    @property
    def hidden(self) -> bool:
        """Whether nothing shows with the step."""
        return max(self.neighbours, self.noise) < BOUND and self.neighbours <= self.chance

    @property
    def shown(self) -> bool:
        """Whether the control shows without one."""
        return self.bare > BOUND


def largest(one: ArrayLike, other: ArrayLike) -> float:
    """The largest |t| of Welch of two sides, whole and cropped at percentiles of both together."""
    sides = np.asarray(one, float), np.asarray(other, float)
    middle = float(np.median(np.concatenate(sides)))  # sums of squares need small numbers
    found = [
        _t(*(_sums(side - middle, edge).sum(axis=0)[None, :] for side in sides))
        for edge in _edges(*sides)
    ]
    return float(max(t[0] for t in found))


def swapped(one: ArrayLike, other: ArrayLike, swaps: int = SWAPS, seed: int = 1) -> float:
    """The largest `largest` of pairs whose sides are swapped at random, so many times."""
    sides = np.asarray(one, float), np.asarray(other, float)
    middle = float(np.median(np.concatenate(sides)))
    rng = np.random.default_rng(seed)
    sums = [[_sums(side - middle, edge) for side in sides] for edge in _edges(*sides)]
    found = 0.0
    for begin in range(0, swaps, _AT_ONCE):
        kept = rng.integers(0, 2, (min(_AT_ONCE, swaps - begin), len(sides[0]))).astype(float)
        for few, many in sums:
            first = many.sum(axis=0) + kept @ (few - many)
            second = few.sum(axis=0) + many.sum(axis=0) - first
            found = max(found, float(_t(first, second).max()))
    return found


def _edges(one: Floats, other: Floats) -> Iterator[float]:
    """Where times are cropped, as differences from the median of both sides."""
    both = np.concatenate([one, other])
    both -= np.median(both)
    yield from (float(np.percentile(both, crop)) for crop in CROPS)


def _sums(times: Floats, edge: float) -> Floats:
    """Of each time up to the edge: 1, itself and its square; zeros of the others."""
    inside = times <= edge
    return np.stack([inside, times * inside, times**2 * inside], axis=1).astype(float)


def _t(one: Floats, other: Floats) -> Floats:
    """|t| of Welch by the sums of two sides, a row each; 0 without a spread."""
    spread, means = 0.0, []
    for n, total, squares in (one.T, other.T):
        size = np.maximum(n, 2.0)
        mean = total / size
        spread = spread + np.maximum(squares - size * mean**2, 0.0) / (size - 1) / size
        means.append(mean)
    enough = (one[:, 0] > 1) & (other[:, 0] > 1) & (spread > 0)
    difference: Floats = np.abs(means[0] - means[1])
    return np.where(enough, difference / np.sqrt(np.where(enough, spread, 1.0)), 0.0)


# -- measuring ---------------------------------------------------------------------------------


@dataclass
class Answers:
    """When answers of one side left, when their work was done, and how large they were.

    Nobody in `few` is counted by a question, so that its answers are the noise.
    """

    left: list[float] = field(default_factory=list)
    worked: list[float] = field(default_factory=list)
    size: list[float] = field(default_factory=list)

    def take(self, other: Answers) -> None:
        self.left += other.left
        self.worked += other.worked
        self.size += other.size


@dataclass
class Watch:
    """The server's clock; unless it waits, it is moved on by what would have been slept.

    `rested` is the time that looks at the data were made longer by: not a part of the work.
    """

    wait: bool
    skipped: float = 0.0
    rested: float = 0.0
    worked: float | None = None

    def clock(self) -> float:
        return time.perf_counter() + self.skipped

    async def sleep(self, seconds: float) -> None:
        if self.worked is None:  # the first of an answer: the work is done
            self.worked = self.clock()
        if not self.wait:
            self.skipped, seconds = self.skipped + seconds, 0.0
        await asyncio.sleep(seconds)

    def nap(self, seconds: float) -> None:
        began = self.clock()
        if self.wait:
            time.sleep(seconds)
        else:
            self.skipped += seconds
        self.rested += self.clock() - began


def people(filled: int) -> pd.DataFrame:
    """Person 0 in the first cell; person 1, if any, in `filled` others."""
    codes = np.arange(filled + 1)
    return pd.DataFrame({"id": (codes > 0).astype(int), "a": codes // SIDE, "b": codes % SIDE})


@dataclass
class Asked:
    """A server of two datasets that are asked in turns, replaced when their histories get long."""

    folder: Path
    step: float
    watch: Watch
    tables: dict[str, pd.DataFrame]

    def __post_init__(self) -> None:
        access = Access(None)
        access.add(Account("ann", "analyst"))
        self.served = Datasets()
        settings = Settings(answer_step=self.step, requests_per_minute=10**9)
        pace = Pace(self.step, self.watch.clock, self.watch.sleep, self.watch.nap)
        self.app: Any = create_app(self.served, access, settings, pace=pace)
        self.headers = {
            "Authorization": f"Bearer {access.new_token('ann').text}",
            "Content-Type": "application/json",
        }

    def renew(self, number: int) -> None:
        """New datasets with the same tables, each read once."""
        unit = eke.Unit("id", max(map(len, self.tables.values())))
        for side, table in self.tables.items():
            path = self.folder / f"{side}-{number}.eke"
            made = eke.create(path, table, DOMAIN, epsilon=1e9, unit=unit)
            made.ask(eke.count(), within=1e9)
            self.served.add(f"{side}-{number}", made)

    async def ask(self, dataset: str, value: int, into: Answers) -> None:
        """One paid answer, and when it left."""
        left = 0.0

        async def stamped(scope: Any, receive: Any, deliver: Any) -> None:
            async def stamp(message: Any) -> None:
                nonlocal left
                left = self.watch.clock()
                await deliver(message)

            await self.app(scope, receive, stamp)

        sql = f"SELECT COUNT(*) FROM t WHERE a = {value}"  # noqa: S608 - eke reads it
        body = json.dumps({"sql": sql, "within": 1e7}).encode()
        self.watch.worked, self.watch.rested, began = None, 0.0, self.watch.clock()
        place = f"/api/v1/datasets/{dataset}/ask"
        found = await send(stamped, "POST", place, self.headers, body)  # type: ignore[arg-type]
        answer = found.json()
        assert answer["source"] == "measured", answer
        worked = self.watch.worked
        if worked is None:  # the work ended at a step, with nothing left to wait for
            assert left - began >= self.step, "nothing was held back"
            worked = left
        into.left.append(left - began)
        into.worked.append(worked - began - self.watch.rested)
        into.size.append(abs(answer["value"]))


def collect(pairs: int, step: float, filled: int, *, wait: bool) -> dict[str, Answers]:
    """The answers of both sides, asked in turns."""
    tables = {"few": people(0), "many": people(filled)}
    found = {side: Answers() for side in tables}

    async def run(asked: Asked) -> None:
        for number in range(pairs):
            turn, value = divmod(number, _LIFE)
            if not value:
                await asyncio.to_thread(asked.renew, turn)
                for side in tables:  # the first question warms up
                    await asked.ask(f"{side}-{turn}", _LIFE + 1, Answers())
            for side in random.sample(list(tables), 2):
                await asked.ask(f"{side}-{turn}", value + 1, found[side])

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(run(Asked(Path(folder), step, Watch(wait), tables)))
    return found


@dataclass(frozen=True, slots=True)
class Slice:
    """Some of the pairs, and the file that keeps their answers, if any."""

    pairs: int
    step: float
    filled: int
    wait: bool
    place: Path | None

    def answers(self) -> dict[str, Answers]:
        """As they are kept, or measured now."""
        if self.place is not None and self.place.exists():
            kept = json.loads(self.place.read_text("utf-8"))
            return {side: Answers(**answers) for side, answers in kept.items()}
        found = collect(self.pairs, self.step, self.filled, wait=self.wait)
        if self.place is not None:
            written = json.dumps({side: asdict(answers) for side, answers in found.items()})
            unfinished = self.place.with_suffix(".unfinished")
            unfinished.write_text(written, "utf-8")
            unfinished.replace(self.place)
        return found


def sliced(
    pairs: int, step: float, filled: int, *, wait: bool, keep: Path | None
) -> Iterator[Slice]:
    """All pairs in slices, each with a file of its own in the folder, if one is given."""
    for number, begin in enumerate(range(0, pairs, _SLICE)):
        size = min(_SLICE, pairs - begin)
        way = "waiting" if wait else "skipping"
        name = f"{way}-{step:g}-{filled}-{size}-{number}.json"
        yield Slice(size, step, filled, wait, None if keep is None else keep / name)


def measure(
    pairs: int,
    step: float = 0.1,
    *,
    lanes: int = 1,
    filled: int = FILLED,
    wait: bool = False,
    keep: Path | None = None,
) -> Timing:
    """What so many pairs tell, measured in so many processes side by side."""
    sides = {"few": Answers(), "many": Answers()}
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
    slices = [*sliced(pairs, step, filled, wait=wait, keep=keep)]
    if lanes == 1:
        parts = [one.answers() for one in slices]
    else:
        with ProcessPoolExecutor(lanes, get_context("spawn")) as pool:
            parts = list(pool.map(Slice.answers, slices))
    for part in parts:
        for side, answers in sides.items():
            answers.take(part[side])
    few, many = sides["few"], sides["many"]
    loud = np.asarray(few.size) > np.median(few.size)
    times = np.asarray(few.left)
    return Timing(
        pairs=pairs,
        step=step,
        neighbours=largest(few.left, many.left),
        chance=swapped(few.left, many.left),
        noise=largest(times[loud], times[~loud]),
        bare=largest(few.worked, many.worked),
        steps=dict(sorted(Counter(int(s / step) for s in few.left + many.left).items())),
    )


def main() -> None:
    """Print the table, then the same as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--step-ms", type=float, default=100.0)
    parser.add_argument("--lanes", type=int, default=2)
    parser.add_argument("--wait", action="store_true", help="sleep until the step is over")
    parser.add_argument("--keep", type=Path, help="where slices of the run are kept")
    options = parser.parse_args()
    step = options.step_ms / 1000.0
    found = measure(options.pairs, step, lanes=options.lanes, wait=options.wait, keep=options.keep)
    print(f"{found.pairs} pairs, step {found.step * 1000:g} ms, bound |t| < {BOUND}")
    values = {name: getattr(found, name) for name in ("neighbours", "chance", "noise", "bare")}
    for name, value in values.items():
        print(f"{name:12}{value:10.2f}")
    print("steps taken " + ", ".join(f"{steps}: {n}" for steps, n in found.steps.items()))
    print(f"hidden with the step: {found.hidden}; shown without: {found.shown}")
    print(json.dumps({"pairs": found.pairs, "step": found.step, **values, "steps": found.steps}))


if __name__ == "__main__":
    main()
