"""Estimates from synthetic rows: how often their intervals hold the number of the real table.

An evaluation, not a release: noise is NumPy's, and the real table is read for the comparison. The
questions are drawn anew and were not measured: counts under conditions on one, two and three
columns (ranges between values of two records, or the value of one), on one and two between values
anywhere, where often nobody is, and sums and averages of a numeric column under conditions on
another, averages also between values anywhere. Printed for each table and budget (ε at δ = 10⁻⁹
through zCDP): how many intervals at 95 % held the number, how many would have that count sampling
alone, and how many times the mean error they are wide to either side.

    python benchmarks/row_estimates.py [--shipped adult binary] [--epsilon 0.3 1 5] [--runs 2]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import eke
from benchmarks.synthetic import DELTA, TABLES, SimulatedCurator, rho_of
from eke.domain import Domain
from eke.privacy.concentrated import CONCENTRATED
from eke.publish.published import Published
from eke.publish.recipe import Recipe
from eke.publish.row_estimate import RowEstimate
from eke.publish.synthesis import synthesise

Codes = NDArray[np.int64]
ROWS, COLUMNS = 10_000, 9
KINDS = (
    "1 column",
    "2 columns",
    "3 columns",
    "1 column anywhere",
    "2 columns anywhere",
    "sum",
    "average",
    "average anywhere",
)
Z = NormalDist().inv_cdf(0.975)


def made(domain: Domain, real: Codes, epsilon: float, seed: int) -> Published:
    """Simulated rows, with what a receipt says of their accuracy."""
    recipe = Recipe()
    curator = SimulatedCurator(domain, real, rho_of(epsilon, DELTA), CONCENTRATED, seed)
    singles = curator.singles(recipe.singles_share)
    result = synthesise(domain, curator, singles, CONCENTRATED, recipe=recipe)
    receipt = {"total": result.total, "accuracy": result.accuracy.to_document()}
    return Published(domain, domain.names, result.codes, receipt)


def questions(
    domain: Domain, real: Codes, each: int, seed: int
) -> Iterator[tuple[str, Any, float]]:
    """(kind, question, true answer) of questions about real records."""
    draw = np.random.default_rng(seed)
    numeric = [k for k, (_, one) in enumerate(domain.attributes) if one.is_ordered]
    for kind in KINDS:
        for _ in range(each):
            adds_up = not kind[0].isdigit()
            if adds_up and len(numeric) < 2:
                continue
            ways = 1 if adds_up else int(kind[0])
            target = int(draw.choice(numeric)) if adds_up else -1
            columns = [k for k in draw.permutation(len(domain)) if k != target][:ways]
            meets, where = np.ones(len(real), np.bool_), {}
            for k in columns:
                name, attribute = domain.attributes[k]
                if kind.endswith("anywhere"):
                    low, high = np.sort(draw.integers(0, attribute.size - attribute.has_bucket, 2))
                else:
                    low, high = np.sort(real[draw.integers(0, len(real), 2), k])
                high = high if attribute.is_ordered else low
                meets &= (low <= real[:, k]) & (real[:, k] <= high)
                values = attribute.cell_values
                where[name] = (values[low], values[high]) if attribute.is_ordered else values[low]
            if target < 0:
                yield kind, eke.count(where), float(meets.sum())
                continue
            name, attribute = domain.attributes[target]
            numbers = np.array(attribute.cell_values, float)[real[meets, target]]
            if kind == "sum":
                yield kind, eke.total(name, where), float(numbers.sum())
            elif len(numbers) >= 100:
                yield kind, eke.mean(name, where), float(numbers.mean())


def judged(
    rows: Published, asked: Iterator[tuple[str, Any, float]]
) -> dict[str, list[tuple[bool, bool, float, float]]]:
    """By kind: (the interval held it, one of sampling alone did, half-width, error) of each."""
    result: dict[str, list[tuple[bool, bool, float, float]]] = {}
    for kind, question, truth in asked:
        estimate: RowEstimate = rows.estimate(question)
        if estimate.interval is None or estimate.errors is None or estimate.value is None:
            continue
        error, half = abs(estimate.value - truth), estimate.interval[1] - estimate.value
        sampled = error <= Z * estimate.errors.sampling
        result.setdefault(kind, []).append((error <= half, sampled, half, error))
    return result


def some(name: str, rows: int = ROWS, columns: int = COLUMNS) -> tuple[Domain, Codes]:
    """Part of a shipped table, so that many publications can be tried."""
    domain, real = TABLES[name]()
    real = real[np.random.default_rng(0).permutation(len(real))[:rows], :columns]
    names = domain.names[:columns]
    return Domain({name: domain[name] for name in names}), np.ascontiguousarray(real)


def main() -> None:
    """Print the coverage."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--each", type=int, default=100)
    parser.add_argument("--epsilon", type=float, nargs="+", default=[0.3, 1.0, 5.0])
    parser.add_argument("--shipped", nargs="+", choices=sorted(TABLES), default=sorted(TABLES))
    arguments = parser.parse_args()
    print(f"{'':42} {'held':>7} {'sampling':>9} {'half/error':>12} {'N':>6}")
    every = []
    for name in arguments.shipped:
        domain, real = some(name)
        for epsilon in arguments.epsilon:
            together: dict[str, list[tuple[bool, bool, float, float]]] = {}
            for seed in range(arguments.runs):
                rows = made(domain, real, epsilon, seed)
                asked = questions(domain, real, arguments.each, seed + 1)
                for kind, outcomes in judged(rows, asked).items():
                    together.setdefault(kind, []).extend(outcomes)
            for kind, outcomes in together.items():
                held, sampled, half, error = np.mean(outcomes, axis=0)
                every += outcomes
                print(
                    f"{name + f', epsilon {epsilon:g}, {kind}':42} {held:7.1%} {sampled:9.1%} "
                    f"{half / error:12.1f} {len(outcomes):6}",
                    flush=True,
                )
    held, sampled, *_ = np.mean(every, axis=0)
    print(f"{'all':42} {held:7.1%} {sampled:9.1%} {'':12} {len(every):6}")


if __name__ == "__main__":
    main()
