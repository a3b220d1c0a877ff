"""What averages cost when nothing is known beforehand, and how long many of them take.

An average is found in steps: looks at how many records there are and how large the sum is, then one
question around the average. The cost is compared with that of somebody who knows the number of
records, the average and its group beforehand, and measures the sum of x − average once. The times
are of an average in each group: asked for the first time, asked again, asked once more with nothing
new in the ledger, and after something was, as multiples of a paid count in each group.

    python benchmarks/averages.py [--rows 10000 1000000] [--groups 1 20] [--within 0.2 1 5]
                                  [--limits 1 10] [--timed 50 200]
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd

import eke

CONFIDENCE = 0.95
MOST = 100


@dataclass(frozen=True, slots=True)
class Cost:
    """One average, or one in each group, next to what it costs with everything known."""

    measure: str
    limit: float
    rows: int
    groups: int
    within: float
    steps: int
    cost: float | None  # None: refused
    times_everything_known: float | None


@dataclass(frozen=True, slots=True)
class Times:
    """Processor seconds of averages by group, as multiples of a paid count by group."""

    groups: int
    first: float
    again: float
    once_more: float
    later: float


def table(rows: int, groups: int) -> pd.DataFrame:
    """Values around 40 in groups of about the same size, the same each time."""
    draw = np.random.default_rng(7)
    values = np.clip(draw.normal(40.0, 12.0, rows).round(), 0, MOST).astype(int)
    return pd.DataFrame({"g": draw.integers(0, groups, rows), "x": values})


def dataset(folder: str, rows: int, groups: int, measure: str, limit: float) -> eke.Session:
    """A new dataset of such a table."""
    domain = eke.Domain(g=eke.Integer(0, max(groups - 1, 1)), x=eke.Integer(0, MOST))
    place, data = Path(folder) / "t.eke", table(rows, groups)
    if measure == "rho":
        return eke.create(place, data, domain, rho=limit)
    return eke.create(place, data, domain, epsilon=limit)


def everything_known(data: pd.DataFrame, measure: str, within: float) -> float:
    """The loss of Σ(x − average) in each group, at the accuracy that the smallest one needs."""
    sizes, means = data.groupby("g")["x"].size(), data.groupby("g")["x"].mean()
    reach = float(np.maximum(means, MOST - means).max())
    half = within * float(sizes.min())
    if measure == "rho":
        sigma = half / NormalDist().inv_cdf(0.5 + CONFIDENCE / 2.0)
        return 0.5 * (reach / sigma) ** 2
    return -math.log(1.0 - CONFIDENCE) * reach / half


def cost(measure: str, limit: float, rows: int, groups: int, within: float) -> Cost:
    """What averages cost here."""
    by = "" if groups == 1 else " GROUP BY g"
    keys = "" if groups == 1 else "g, "
    least = everything_known(table(rows, groups), measure, within)
    with tempfile.TemporaryDirectory() as folder:
        made = dataset(folder, rows, groups, measure, limit)
        try:
            answer = made.ask(f"SELECT {keys}AVG(x) AS mean FROM t{by}", within=within)  # noqa: S608
        except eke.Refused:
            return Cost(measure, limit, rows, groups, within, 0, None, None)
    steps, price = answer.receipt.steps, answer.cost
    return Cost(measure, limit, rows, groups, within, steps, price, price / least)


def seconds(made: eke.Session, asked: str, within: float) -> float:
    """Processor seconds of one answer."""
    begun = time.process_time()
    made.ask(asked, within=within)
    return time.process_time() - begun


def times(groups: int) -> Times:
    """How long averages take in so many groups."""
    averages = "SELECT g, AVG(x) AS mean FROM t GROUP BY g"
    counts = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"
    with tempfile.TemporaryDirectory() as folder:
        made = dataset(folder, 2000 * groups, groups, "epsilon", 100.0)
        made.ask("SELECT AVG(x) AS mean FROM t", within=1)  # what is loaded late is loaded
        unit = seconds(made, counts, 50.0)
        taken = [seconds(made, averages, 2.0) for _ in range(3)]
        made.ask("SELECT COUNT(*) FROM t WHERE x > 70", within=50)
        taken.append(seconds(made, averages, 2.0))
    return Times(groups, *(each / unit for each in taken))


def main() -> None:
    """Print every cost and every time as a line of JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 1_000_000])
    parser.add_argument("--groups", type=int, nargs="+", default=[1, 20])
    parser.add_argument("--within", type=float, nargs="+", default=[0.2, 1.0, 5.0])
    parser.add_argument("--limits", type=float, nargs="+", default=[1.0, 10.0])
    parser.add_argument("--timed", type=int, nargs="*", default=[50, 200])
    options = parser.parse_args()
    for measure in ("epsilon", "rho"):
        for rows in options.rows:
            for groups in options.groups:
                for within in options.within:
                    for limit in options.limits:
                        print(json.dumps(asdict(cost(measure, limit, rows, groups, within))))
    for groups in options.timed:
        print(json.dumps(asdict(times(groups))))


if __name__ == "__main__":
    main()
