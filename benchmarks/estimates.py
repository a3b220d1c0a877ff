"""How well history estimates what nobody asked: error, coverage and width, by kind of history.

Adult as McKenna's group prepared it. A release measures random pairs, triples and single columns;
then conjunctions of two to four columns, with ranges around random records, are estimated and
compared with the truth. Printed for each history: the root mean square error of shrinkage, of
maximum entropy and of the product of the prior's columns (what independence says), and how often
shrinkage's 95 % intervals held, for all questions and for the larger half, with their median
half-width. Exact answers are known to this program only.

    python benchmarks/estimates.py [--seeds 3] [--questions 200] [--epsilon 1]
"""

from __future__ import annotations

import argparse
import json
import tempfile
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import eke
from eke.inference.shrinkage import prior_from_history
from eke.session import Estimate

DATA = Path(__file__).resolve().parents[1] / "data"
MOST_VALUES = 50  # of a column, so that histories keep a few thousand answers
HISTORIES = {"pairs": (10, 0, 0), "pairs, triples, a column": (8, 3, 1), "columns": (0, 0, 13)}
Condition = dict[str, tuple[int, int]]


def adult() -> tuple[eke.Domain, pd.DataFrame]:
    """The columns with few values."""
    sizes = json.loads((DATA / "adult_pgm-domain.json").read_text("utf-8"))
    few = {name: size for name, size in sizes.items() if size <= MOST_VALUES}
    domain = eke.Domain({name: eke.Integer(0, size - 1) for name, size in few.items()})
    return domain, pd.read_csv(DATA / "adult_pgm.csv.gz")[list(few)]


def random_workload(
    domain: eke.Domain, shape: tuple[int, int, int], rng: np.random.Generator
) -> list[list[str]]:
    """So many pairs, triples and single columns, each once."""
    pairs, triples, singles = shape
    found: list[list[str]] = []
    for columns, number in ((2, pairs), (3, triples), (1, singles)):
        small = [
            sorted(names)
            for names in combinations(domain.names, columns)
            if np.prod(domain.sizes(names)) <= 1500
        ]
        wanted = len(found) + min(number, len(small))
        while len(found) < wanted:
            names = sorted(str(one) for one in rng.choice(domain.names, columns, replace=False))
            if names in small and names not in found:
                found.append(names)
    return found


def random_condition(
    domain: eke.Domain, table: pd.DataFrame, rng: np.random.Generator
) -> Condition:
    """Ranges of some columns around a random record."""
    row = table.iloc[int(rng.integers(len(table)))]
    found: Condition = {}
    for name in rng.choice(domain.names, int(rng.integers(2, 5)), replace=False):
        size = domain[str(name)].size
        around = rng.integers(0, size // 3 + 1, 2)
        found[str(name)] = (
            int(max(0, row[name] - around[0])),
            int(min(size - 1, row[name] + around[1])),
        )
    return found


def exact(table: pd.DataFrame, condition: Condition) -> int:
    """The true count."""
    chosen = np.ones(len(table), bool)
    for name, (low, high) in condition.items():
        chosen &= table[name].between(low, high).to_numpy()
    return int(chosen.sum())


def by_independence(session: eke.Session, conditions: list[Condition], records: int) -> Any:
    """The product of what the prior says of each column, times the number of records."""
    prior = prior_from_history(session.domain, session.history)
    parts = [
        [prior.vectors[name][low : high + 1].sum() for name, (low, high) in one.items()]
        for one in conditions
    ]
    return np.array([records * np.prod(part) for part in parts])


def measured(seed: int, history: str, questions: int, epsilon: float) -> dict[str, float]:
    """The figures of one history."""
    rng = np.random.default_rng([20260101, seed])
    domain, table = adult()
    workload = random_workload(domain, HISTORIES[history], rng)
    with tempfile.TemporaryDirectory() as folder:
        session = eke.create(Path(folder) / "adult.eke", table, domain, epsilon=1e6)
        session.release(session.plan(workload, budget=epsilon))
        conditions = [random_condition(domain, table, rng) for _ in range(questions)]
        truth = np.array([exact(table, one) for one in conditions])
        shrunk, fitted = (
            [session.estimate(eke.count(one), method) for one in conditions]
            for method in ("shrinkage", "max_entropy")
        )
        product = by_independence(session, conditions, len(table))
    ends = np.array([one.interval for one in shrunk if isinstance(one, Estimate)])
    held = (ends[:, 0] <= truth) & (truth <= ends[:, 1])
    larger = truth > np.median(truth)

    def error(values: Any) -> float:
        return float(np.sqrt(((values - truth) ** 2).mean()))

    return {
        "shrinkage": error(np.array([one.value for one in shrunk if isinstance(one, Estimate)])),
        "max entropy": error(np.array([one.value for one in fitted if isinstance(one, Estimate)])),
        "product": error(product),
        "held": float(held.mean()),
        "of the larger": float(held[larger].mean()),
        "half-width": float(np.median(ends[:, 1] - ends[:, 0]) / 2.0),
    }


def main() -> None:
    """Print a line for each history, then all of it as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--epsilon", type=float, default=1.0)
    options = parser.parse_args()
    results = []
    for history in HISTORIES:
        for seed in range(options.seeds):
            found = measured(seed, history, options.questions, options.epsilon)
            results.append({"history": history, "seed": seed, **found})
            said = "  ".join(f"{name} {value:,.2f}" for name, value in found.items())
            print(f"{history} ({seed}):  {said}", flush=True)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
