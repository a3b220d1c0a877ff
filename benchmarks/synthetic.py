"""Synthetic Adult: how far a synthetic table is from the real one, and how long it takes.

An evaluation, not a release: the curator below reads the table and draws NumPy noise, so that the
method can be judged on its own. 14 attributes of the sizes that MST, AIM and ResidualPlanner report
on; ε = 1, δ = 10⁻⁹ through zCDP, then pure ε = 1. Printed: mean total variation over all 1-, 2- and
3-way marginals, next to records with independent attributes and to raw noisy marginals.

    python benchmarks/synthetic.py [--runs 3] [--out synthetic.json]
    python benchmarks/synthetic.py --released    # the same through `session.publish`, once each
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import eke
from eke.domain import Categorical, Domain, Integer
from eke.privacy.concentrated import CONCENTRATED, epsilon_of_rho
from eke.privacy.law import Gaussian, Laplace
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.publish.coarse import CoarseMarginal
from eke.publish.synthesis import Recipe, decoded
from eke.publish.published import Published
from eke.publish.selection import Candidate, measuring_law, score_sensitivity, scores

DATA = Path(__file__).resolve().parents[1] / "data"
ORDERED = {"age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"}
EPSILON, DELTA = 1.0, 1e-9
REFERENCES = {
    "MST, measured on a 2-core machine": (0.0126, 0.0560, 0.1164, 48.0),
    "SWIFT, measured on a 2-core machine": (0.0120, 0.0420, 0.0907, 190.0),
}
Codes = NDArray[np.int64]


def adult() -> tuple[Domain, Codes]:
    """The table in integer codes."""
    table = pd.read_csv(DATA / "adult_pgm.csv.gz")
    sizes = json.loads((DATA / "adult_pgm-domain.json").read_text())
    domain = Domain(
        {
            name: Integer(0, sizes[name] - 1)
            if name in ORDERED
            else Categorical(*(f"v{code}" for code in range(sizes[name])))
            for name in table.columns
        }
    )
    return domain, table.to_numpy(np.int64)


def rho_of(epsilon: float, delta: float) -> float:
    """The largest ρ whose (ε, δ) statement holds, by bisection of the accountant."""
    low, high = 1e-6, 10.0
    for _ in range(60):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if epsilon_of_rho(middle, delta) <= epsilon else (low, middle)
    return low


class SimulatedCurator:
    """Reads the table and draws NumPy noise: for evaluation only."""

    def __init__(self, domain: Domain, codes: Codes, generator: np.random.Generator) -> None:
        self.domain, self.codes, self.generator = domain, codes, generator
        self._known: dict[tuple[str, ...], Codes] = {}

    def counts(self, block: CoarseMarginal) -> Codes:
        """The exact coarse counts."""
        if block.attributes not in self._known:
            places = [self.domain.names.index(name) for name in block.attributes]
            cells = np.zeros(len(self.codes), np.int64)
            for place, labels, size in zip(places, block.groups, block.shape, strict=True):
                cells = cells * size + labels[self.codes[:, place]]
            self._known[block.attributes] = np.bincount(cells, minlength=block.cells)
        return self._known[block.attributes]

    def measure(
        self, block: CoarseMarginal, law: Laplace | Gaussian
    ) -> tuple[NDArray[np.float64], Laplace | Gaussian]:
        """Counts with noise of the law; one-dimensional ones are measured before any grouping."""
        exact = self.counts(block)
        if len(block.attributes) == 1:
            self._known.clear()
        if isinstance(law, Laplace):
            return exact + self.generator.laplace(0.0, law.laplace_scale, len(exact)), law
        return exact + self.generator.normal(0.0, law.variance**0.5, len(exact)), law

    def choose(self, candidates: Sequence[Candidate], epsilon: float) -> int:
        """The exponential mechanism as a Gumbel race."""
        gains = scores(candidates, self.counts)
        race = epsilon * gains / (2.0 * score_sensitivity("add_remove"))
        return int(np.argmax(race + self.generator.gumbel(size=len(race))))


def distances(domain: Domain, real: Codes, made: Codes, ways: int) -> float:
    """Mean total variation over all marginals of so many attributes."""
    found = []
    for chosen in combinations(range(len(domain)), ways):
        shape = [domain.shape[k] for k in chosen]
        both = [np.ravel_multi_index([t[:, k] for k in chosen], shape) for t in (real, made)]
        weights = np.concatenate(
            [np.full(len(c), s / len(c)) for c, s in zip(both, (1, -1), strict=True)]
        )
        cells = np.concatenate(both)
        if math.prod(shape) > 2_000_000:
            cells = np.unique(cells, return_inverse=True)[1]
        found.append(0.5 * float(np.abs(np.bincount(cells, weights=weights)).sum()))
    return float(np.mean(found))


def raw_distances(
    domain: Domain, real: Codes, loss: float, measure: Measure, generator: np.random.Generator
) -> list[float]:
    """The same of all marginals of each kind measured with equal noise, the whole loss for each."""
    result = []
    for ways in (1, 2, 3):
        sets = list(combinations(domain.shape, ways))
        law = measuring_law(loss / len(sets), measure)
        # Cells that hold nobody are as noisy as the others, so counts do not matter.
        found = []
        for shape in sets:
            cells = math.prod(shape)
            drawn = min(cells, 200_000)
            noise = (
                generator.laplace(0.0, law.laplace_scale, drawn)
                if isinstance(law, Laplace)
                else generator.normal(0.0, law.variance**0.5, drawn)
            )
            found.append(0.5 * float(np.abs(noise).mean()) * cells / len(real))
        result.append(float(np.mean(found)))
    return result


def evaluate(measure: Measure, loss: float, runs: int, recipe: Recipe) -> dict[str, Any]:
    """Distances and seconds, averaged over runs."""
    domain, real = adult()
    rows = []
    for run in range(runs):
        generator = np.random.default_rng(run)
        curator = SimulatedCurator(domain, real, generator)
        started = time.perf_counter()
        made = synthesise(domain, curator, loss, measure, recipe=recipe, generator=generator)
        seconds = time.perf_counter() - started
        rows.append([*(distances(domain, real, made.codes, k) for k in (1, 2, 3)), seconds])
    means = np.mean(rows, axis=0).tolist()
    return {"one": means[0], "two": means[1], "three": means[2], "seconds": means[3]}


def independent(measure: Measure, loss: float) -> list[float]:
    """Distances of records whose attributes are drawn one by one from noisy marginals."""
    domain, real = adult()
    generator = np.random.default_rng(0)
    curator = SimulatedCurator(domain, real, generator)
    single = Recipe(singles_share=0.999, rounds_each=1e-9)
    made = synthesise(domain, curator, loss, measure, recipe=single, generator=generator)
    return [distances(domain, real, made.codes, k) for k in (1, 2, 3)]


def released(measure: Measure, loss: float) -> list[float]:
    """Distances and seconds of rows that a session released: real noise, charged in a ledger."""
    domain, real = adult()
    frame = Published(domain, domain.names, real, {}).to_pandas()
    with tempfile.TemporaryDirectory() as folder:
        session = eke.create(
            Path(folder) / "adult.eke",
            frame,
            domain,
            **{measure.name: loss},  # type: ignore[arg-type]
        )
        started = time.perf_counter()
        rows = session.publish("max_entropy", **{measure.name: loss})
        seconds = time.perf_counter() - started
    return [*(distances(domain, real, rows.codes, k) for k in (1, 2, 3)), seconds]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--released", action="store_true", help="through a session, once each")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rho = rho_of(EPSILON, DELTA)
    print(f"rho = {rho:.5f} for epsilon = {EPSILON:g}, delta = {DELTA:g}")
    domain, real = adult()
    table: dict[str, list[float]] = {name: list(v) for name, v in REFERENCES.items()}
    budgets: list[tuple[str, Measure, float]] = [
        ("zCDP", CONCENTRATED, rho),
        ("pure epsilon", PURE, EPSILON),
    ]
    for title, measure, loss in budgets:
        if arguments.released:
            table[f"eke, {title}, released"] = released(measure, loss)
            continue
        found = evaluate(measure, loss, arguments.runs, Recipe())
        table[f"eke, {title}"] = list(found.values())
        table[f"independent attributes, {title}"] = [*independent(measure, loss), math.nan]
        raw = raw_distances(domain, real, loss, measure, np.random.default_rng(1))
        table[f"raw noisy marginals, {title}"] = [*raw, math.nan]
    print(f"{'mean total variation':40} {'1-way':>8} {'2-way':>8} {'3-way':>8} {'seconds':>8}")
    for name, numbers in table.items():
        print(f"{name:40} " + " ".join(f"{number:8.4g}" for number in numbers))
    if arguments.out:
        arguments.out.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
