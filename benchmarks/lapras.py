"""LAPRAS, which has an oracle, and eke, which has none, on one stream of ranges over Adult.

The stream: distinct random ranges over age (in fives) and education, in random order, and one
budget of (ε, δ) for all of them. The oracle names as many queries as will come; the overlap is the
share of the stream that is among them, the others never come. Printed is the mean absolute error of
LAPRAS (`benchmarks/lab/lapras.py`) with the best of its four splits for each overlap, as
described (epsilons are added up) and with zCDP. Then eke is asked the same stream without any
oracle, not even for its length, each question for the 95 % half-width that normal errors like those
of LAPRAS with zCDP have: the share that is answered within the same budget, the mean absolute
error, and the share of the budget that is spent.

    python benchmarks/lapras.py [--queries 100] [--overlaps 0 25 50 75 100] [--runs 20]
                                [--epsilon 1] [--delta 1e-5] [--policies top_up look_ahead]
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.lab.lapras import (
    SPLITS,
    MatrixMechanism,
    Outcome,
    Variance,
    as_epsilons,
    as_rho,
    independent,
    lapras,
)
from benchmarks.lab.systems import Deciding, play
from benchmarks.lab.traces import Table, Trace, adult
from eke.planning import Demand, Requirement, policy_named
from eke.privacy.concentrated import CONCENTRATED, epsilon_of_rho
from eke.privacy.record_loss import NANO
from eke.query import Query, Term

FloatArray = NDArray[np.float64]
NAMES = ("age", "education")
CONFIDENCE = 0.95
WIDTH_OF_ERROR = 1.959964 * math.sqrt(math.pi / 2.0)  # half-width over mean error, if normal
SEED = 18


def random_queries(table: Table, number: int, rng: np.random.Generator) -> list[Query]:
    """Distinct ranges over both attributes."""
    found: dict[str, Query] = {}
    while len(found) < number:
        vectors = []
        for name in NAMES:
            low, high = np.sort(rng.integers(0, table.domain[name].size, 2))
            vector = np.zeros(table.domain[name].size, np.int64)
            vector[low : high + 1] = 1
            vectors.append((name, vector))
        query = Query.of(table.domain, [Term(Fraction(1), tuple(vectors))])
        if set(query.attributes) == set(NAMES):
            found.setdefault(query.digest, query)
    return list(found.values())


def rows_of(queries: Sequence[Query]) -> FloatArray:
    """Their coefficients over the cells."""
    return np.array([one.table().ravel() for one in queries], np.float64)


def rho_for(epsilon: float, delta: float) -> float:
    """The rho that is so much epsilon at this delta."""
    low, high = 0.0, 1.0
    while epsilon_of_rho(high, delta) < epsilon:
        high *= 2.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if epsilon_of_rho(middle, delta) <= epsilon else (low, middle)
    return low


def best_split(
    queries: FloatArray,  # (stream and others, cells); the stream comes first
    overlap: float,
    stream: int,
    variance: Variance,
    *,
    runs: int,
    rng: np.random.Generator,
) -> tuple[str, float, float]:
    """The split with the least mean error of its answers, that error, and the share answered.

    Where splits answer less than another, they are compared by what they answer first.
    """
    inside = round(overlap * stream)
    oracle = np.concatenate([np.arange(inside), stream + np.arange(stream - inside)])
    mechanism = MatrixMechanism.of(queries[oracle])
    found = {}
    for name, split in SPLITS.items():
        outcomes: list[Outcome] = []
        for _ in range(runs):
            known = np.full(stream, np.nan)
            noise = variance(split.matrix, True)
            known[:inside] = mechanism.errors(queries[:inside], noise, rng)
            outcomes.append(lapras(rng.permutation(known), split, variance, rng))
        answered = float(np.mean([one.answered for one in outcomes]))
        found[name] = answered, float(np.mean([one.mean_error for one in outcomes]))
    most = max(answered for answered, _ in found.values())
    name = min((n for n in found if found[n][0] > most - 0.005), key=lambda n: found[n][1])
    return name, found[name][1], found[name][0]


def eke_on(
    table: Table, queries: Sequence[Query], within: float, rho: float, policy: str
) -> tuple[float, float, float]:
    """The share answered, the mean absolute error, and the share of the budget that is spent."""
    demands = [Demand(query, Requirement(within, CONFIDENCE)) for query in queries]
    limit = math.floor(rho * NANO)
    trace = Trace("ranges", table, demands, list(range(len(demands))), limit)
    rng = np.random.default_rng([SEED, 2])
    figures = play(policy, Deciding(table, limit, CONCENTRATED, rng, policy_named(policy)), trace)
    error = within * float(np.mean(figures.errors)) if figures.errors else math.nan
    return figures.answered / figures.arrivals, error, figures.loss * NANO / limit


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--overlaps", type=float, nargs="+", default=[0, 25, 50, 75, 100])
    parser.add_argument("--runs", type=int, default=20, help="of LAPRAS; eke has one")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-5)
    parser.add_argument("--policies", nargs="+", default=["top_up", "look_ahead"])
    options = parser.parse_args()
    stream, runs = options.queries, options.runs
    rho = rho_for(options.epsilon, options.delta)
    rng, people = np.random.default_rng(SEED), adult()
    drawn = random_queries(people, 2 * stream, rng)
    rows = rows_of(drawn)
    added = as_epsilons(options.epsilon, options.delta, stream)
    whole = MatrixMechanism.of(rows[:stream])
    offline = np.mean(
        [np.abs(whole.errors(rows[:stream], 1 / (2 * rho), rng)).mean() for _ in range(runs)]
    )
    print(f"{stream} ranges over {rows.shape[1]} cells; epsilon {options.epsilon:g} at delta "
          f"{options.delta:g}, which is rho {rho:.6f}")  # fmt: skip
    print(f"all known beforehand, the whole budget for them: {offline:.1f} "
          f"(total variance {whole.total / whole.bound:.4f} of its lower bound)")  # fmt: skip
    for title, variance in (("epsilons added up", added), ("zCDP", as_rho(rho))):
        alone = np.mean([independent(stream, variance, rng).mean_error for _ in range(runs)])
        print(f"independent noise for a known length, {title}: {alone:.1f}")
    head = f"{'overlap':>8} {'LAPRAS':>8} {'answered':>9}  {'split':14}"
    head += f"{'with zCDP':>10} {'answered':>9}  {'split':14}{'within':>8}"
    for policy in options.policies:
        head += f" | {policy + ':':>11} {'answered':>8} {'error':>7} {'spent':>6}"
    print(head, flush=True)
    order = [drawn[place] for place in rng.permutation(stream)]
    for overlap in options.overlaps:
        plain = best_split(rows, overlap / 100, stream, added, runs=runs, rng=rng)
        split, error, answered = best_split(
            rows, overlap / 100, stream, as_rho(rho), runs=runs, rng=rng
        )
        within = WIDTH_OF_ERROR * error
        line = f"{overlap:7.0f}% {plain[1]:8.1f} {plain[2]:9.1%}  {plain[0]:14}"
        line += f"{error:10.1f} {answered:9.1%}  {split:14}{within:8.1f}"
        for policy in options.policies:
            share, found, spent = eke_on(people, order, within, rho, policy)
            line += f" | {'':11} {share:8.1%} {found:7.1f} {spent:6.1%}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
