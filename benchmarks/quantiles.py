"""Quantiles for a price: mean rank errors of eke and of three usual ways, on two columns.

    python benchmarks/quantiles.py                 # the table; some minutes
    python benchmarks/quantiles.py --runs 20       # sooner, and rougher
    python benchmarks/quantiles.py --coverage 150  # how often intervals hold that were asked for

A rank error is how many records lie between the answer and the quantile, 0 for the right number.
All ways spend the same epsilon. The exponential mechanism chooses a value by its rank and splits
epsilon between several quantiles; a histogram counts every value; a tree counts ranges, sixteen in
each, on as many levels as there are, and combines all counts by least squares. None but eke has an
interval, or leaves anything behind that answers another question. Chosen by eke, a quantile has a
bound of its rank error; how often that held comes last.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import eke
from benchmarks.lab.quantiles import LEVELS, Column, asked, coverage
from eke.data import Counts
from eke.engine.exact_ranks import exact_ranks
from eke.history import RankChoice
from eke.mechanism import choose_among_runs
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteLaplace
from eke.privacy.noise_grid import choose_grid
from eke.privacy.pure import PURE

CENSUS = Path(__file__).resolve().parents[1] / "data" / "census_income_kdd_9attr.csv.gz"
SHARES = {"one": [0.5], "five": [0.1, 0.25, 0.5, 0.75, 0.9]}
FAN = 16
Way = Callable[[Column, list[float], float, np.random.Generator], list[int]]


def census() -> Column:
    """The ages of Census-Income."""
    ages = pd.read_csv(CENSUS, usecols=["age"])["age"].to_numpy()
    domain = eke.Domain(age=eke.Integer(0, 90))
    return Column(domain, "age", np.bincount(ages, minlength=91))


def lognormal() -> Column:
    """20,000 records of a skewed column with 2,048 values."""
    rng = np.random.default_rng(20261116)
    numbers = np.clip(rng.lognormal(5.5, 0.7, 20_000), 0, 2047).astype(int)
    domain = eke.Domain(x=eke.Integer(0, 2047))
    return Column(domain, "x", np.bincount(numbers, minlength=2048))


def exponential(
    column: Column, shares: list[float], epsilon: float, rng: np.random.Generator
) -> list[int]:
    """A value chosen with chances ∝ exp(−ε·error / 2Δ) by its rank error."""
    found = []
    for share in shares:
        after = np.cumsum(column.counts)
        before, wanted = after - column.counts, share * after[-1]
        errors = np.maximum(np.maximum(before - wanted, wanted - after), 0.0)
        moved = max(share, 1.0 - share)  # by how much a record moves an error
        scores = -0.5 * epsilon / len(shares) * errors / moved
        found.append(int(np.argmax(scores + rng.gumbel(size=len(scores)))))
    return found


def histogram(
    column: Column, shares: list[float], epsilon: float, rng: np.random.Generator
) -> list[int]:
    """Noisy counts of all values, added up."""
    return _crossings(
        column.counts + rng.laplace(scale=1.0 / epsilon, size=len(column.counts)), shares
    )


def tree(
    column: Column, shares: list[float], epsilon: float, rng: np.random.Generator
) -> list[int]:
    """Noisy counts of ranges on several levels, combined by least squares."""
    levels = _levels(column.counts)
    scale = (len(levels)) / epsilon
    noisy = [level + rng.laplace(scale=scale, size=len(level)) for level in levels]
    return _crossings(_least_squares(noisy, len(column.counts)), shares)


def _levels(counts: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Counts of the values, of sixteen in a row, and so on up to sixteen ranges or fewer."""
    levels = [counts]
    while len(levels[-1]) > FAN:
        last = np.pad(levels[-1], (0, -len(levels[-1]) % FAN))
        levels.append(last.reshape(-1, FAN).sum(axis=1))
    return levels


def _least_squares(noisy: list[NDArray[np.float64]], size: int) -> NDArray[np.float64]:
    """The counts of the values that explain all levels best (Hay et al. 2010, both passes)."""
    best, precision = [noisy[0]], [np.ones(len(noisy[0]))]
    for own in noisy[1:]:  # upwards: what a range is by itself, and by its parts
        width = len(own) * FAN
        below = np.pad(best[-1], (0, width - len(best[-1]))).reshape(-1, FAN).sum(axis=1)
        spread = np.pad(1.0 / precision[-1], (0, width - len(best[-1])))
        told = 1.0 / spread.reshape(-1, FAN).sum(axis=1)
        best.append((own + told * below) / (1.0 + told))
        precision.append(1.0 + told)
    found = best[-1]
    for place in range(len(noisy) - 2, -1, -1):  # downwards: parts add up to their range
        own, weight = best[place], 1.0 / precision[place]
        parent = np.arange(len(own)) // FAN
        summed = np.bincount(parent, own, len(found))
        share = weight / np.bincount(parent, weight, len(found))[parent]
        found = own + share * (found - summed)[parent]
    return found[:size]


def _crossings(counts: NDArray[np.float64], shares: list[float]) -> list[int]:
    added = np.cumsum(counts)
    return [int(np.count_nonzero(added[:-1] < share * added[-1])) for share in shares]


def ours(
    column: Column, shares: list[float], epsilon: float, rng: np.random.Generator
) -> list[int]:
    """What eke finds for the price, and whether its intervals hold."""
    found = asked(column, shares, rng, spend=epsilon, limit=max(1.0, epsilon))
    for share, known in zip(shares, found.known, strict=True):
        low, high = known.interval(0.95)
        HELD.append(low <= column.quantile(share) <= high)
    return [int(known.value) for known in found.known]


def chosen(
    column: Column, shares: list[float], epsilon: float, rng: np.random.Generator
) -> list[int]:
    """What eke's CHOSEN_QUANTILE finds for an equal part of the price each, with its own bits."""
    del rng
    codes = np.flatnonzero(column.counts)
    counted = Counts((column.name,), codes[:, None], column.counts[codes].astype(np.int64))
    found = []
    for share in shares:
        wanted = Fraction(share).limit_denominator(100)
        reach = max(wanted.numerator, wanted.denominator - wanted.numerator)
        law = choose_grid(DiscreteLaplace, 2.0 * reach * len(shares) / epsilon, 0)
        choice = RankChoice(eke.count().on(column.domain), column.name, wanted, law)
        found.append(choice.steps[0] + choose_among_runs(exact_ranks(choice, counted), law))
        within = choice.rank_error(0.95)
        NEAR.append(column.rank_error(found[-1], share) <= within)
    return found


HELD: list[bool] = []
NEAR: list[bool] = []
WAYS: dict[str, Way] = {
    "exponential": exponential,
    "histogram": histogram,
    "tree": tree,
    "eke": ours,
    "eke, chosen": chosen,
}


def mean_error(
    way: Way, column: Column, shares: list[float], epsilon: float, runs: int
) -> tuple[float, float]:
    """The mean rank error over runs and quantiles, and its standard error."""
    rng = np.random.default_rng(1)
    errors = []
    for _ in range(runs):
        steps = way(column, shares, epsilon, rng)
        each = [column.rank_error(*pair) for pair in zip(steps, shares, strict=True)]
        errors.append(float(np.mean(each)))
    return float(np.mean(errors)), float(np.std(errors)) / runs**0.5


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description="Mean rank errors of quantiles for a price.")
    parser.add_argument(
        "--runs", type=int, default=100, help="of eke; others are run ten times as often"
    )
    parser.add_argument("--coverage", type=int, metavar="N", help="of so many runs, nothing else")
    options = parser.parse_args()
    if options.coverage:
        print_coverage(options.coverage)
    else:
        print_errors(options.runs)


def print_coverage(runs: int) -> None:
    """How often intervals hold, from the first look to the last step."""
    print(f"{'asked':>16}" + "".join(f"{level:>9.0%}" for level in LEVELS))
    for name, measure in (("Laplace", PURE), ("Gaussian", CONCENTRATED)):
        held, expected = coverage(runs, 3, measure=measure)
        for title, shares in ((f"{name}, N {runs}", held), ("by whole values", expected)):
            cells = "".join(f"{share:>9.1%}" for share in shares)
            print(f"{title:>16}" + cells, flush=True)


def print_errors(runs: int) -> None:
    """Mean rank errors for a price."""
    tables = {"Census-Income age, ε 0.01": (census(), 0.01), "lognormal, ε 0.1": (lognormal(), 0.1)}
    print(f"{'':34}" + "".join(f"{name:>18}" for name in WAYS) + f"{'held at 95 %':>16}")
    for title, (column, epsilon) in tables.items():
        for how_many, shares in SHARES.items():
            started = time.perf_counter()
            HELD.clear()
            NEAR.clear()
            cells = []
            for way in WAYS.values():
                often = runs if way is ours else 10 * runs
                mean, error = mean_error(way, column, shares, epsilon, often)
                cells.append(f"{f'{mean:.1f} ± {error:.1f}':>18}")
            held = f"{np.mean(HELD):.3f}, {np.mean(NEAR):.3f}"
            took = f"  ({time.perf_counter() - started:.0f} s)"
            print(f"{f'{title}, {how_many}':34}" + "".join(cells) + f"{held:>16}{took}", flush=True)


if __name__ == "__main__":
    main()
