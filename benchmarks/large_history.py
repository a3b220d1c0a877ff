"""What a history too large for a dense kernel costs: time and memory, next to the dense way.

Census-Income, nine attributes: noisy answers of all 36 two-way marginals, the nine one-way ones and
many single questions (HIST's random two-dimensional ranges). The dense way is timed on fewer
marginals, where it fits and is done within the minute, and the other one there as well; both
estimate the same new questions. Each way runs in its own process, so that peaks of memory are its
own.

    python benchmarks/large_history.py [--singles 1000] [--small 6] [--out large_history.json]
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from eke.history import Measurement
from eke.inference.features import table_of
from eke.inference.shrinkage import (
    ConjugateGradients,
    Evidence,
    Factorisation,
    Shrinkage,
    Solver,
    evidence_of_blocks,
    prior_from_history,
)
from eke.privacy.law import Laplace
from eke.query import Query, count, marginal
from reproductions.hist.setting import census

LAPLACE_SCALE = 36.0
NEW = 200


def random_range(names: Sequence[str], size: int, generator: np.random.Generator) -> Query:
    """A count over ranges of so many attributes."""
    domain, conditions = census().domain, {}
    for place in generator.choice(len(names), size, replace=False):
        last = domain[names[place]].size
        low, high = sorted(int(v) for v in generator.integers(0, last, 2))
        conditions[names[place]] = (low, high)
    return count(conditions).on(domain)


def exact(query: Query) -> float:
    """The true answer."""
    return float(table_of(query, query.attributes) @ census().counts(query.attributes))


def history(names: Sequence[str], singles: int) -> list[Measurement]:
    """Marginals of one and two attributes and single questions, all with the same noise."""
    generator, data = np.random.default_rng(1), census()
    law = Laplace(LAPLACE_SCALE)
    measured = []
    for size in (1, 2):
        for chosen in combinations(names, size):
            counts = data.counts(chosen)
            noisy = counts + generator.laplace(0.0, LAPLACE_SCALE, len(counts))
            measured.append(Measurement(marginal(*chosen).on(data.domain), law, (*noisy.tolist(),)))
    for _ in range(singles):
        query = random_range(names, 2, generator)
        noisy_answer = exact(query) + float(generator.laplace(0.0, LAPLACE_SCALE))
        measured.append(Measurement(query, law, (noisy_answer,)))
    return measured


def resident_mebibytes(which: str) -> float:
    """Memory in use (VmRSS) or its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(which)) / 1024


def run(way: str, attributes: int, singles: int) -> dict[str, Any]:
    """Processor seconds, memory and error of one way on one history."""
    names = census().domain.names[-attributes:]
    measured = history(names, singles)
    generator = np.random.default_rng(2)
    asked = [random_range(names, size, generator) for size in (2, 3) for _ in range(NEW // 2)]
    truth = np.array([exact(query) for query in asked])
    before = resident_mebibytes("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # Linux: the peak starts from here
    started = time.process_time()
    prior = prior_from_history(census().domain, measured)
    solver: Solver
    if way == "dense":
        solver = Factorisation(Evidence.of_history(census().domain, measured, prior))
    else:
        solver = ConjugateGradients(evidence_of_blocks(census().domain, measured, prior))
    choice = solver.choose()
    chosen = time.process_time()
    estimator = Shrinkage(solver, choice.alpha, inflation=choice.inflation)
    found = estimator.estimate(asked)
    reports = (choice.convergence, estimator.convergence)
    steps = max(0 if report is None else report.steps for report in reports)
    ended = time.process_time()
    peak = resident_mebibytes("VmHWM")
    off = np.abs(found.values - truth)
    return {
        "way": way,
        "answers": sum(len(one.values) for one in measured),
        "processor seconds to choose alpha": chosen - started,
        "processor seconds to estimate": ended - chosen,
        "peak MiB above the start": peak - before,
        "a kernel in MiB": 8.0 * sum(len(one.values) for one in measured) ** 2 / 2**20,
        "alpha": estimator.alpha,
        "steps of conjugate gradients": steps,
        "rms error, two attributes": math.sqrt(float((off[: NEW // 2] ** 2).mean())),
        "rms error, three attributes": math.sqrt(float((off[NEW // 2 :] ** 2).mean())),
        "inside 95 %": float((off <= 1.96 * np.sqrt(found.variances)).mean()),
    }


def in_own_process(way: str, attributes: int, singles: int) -> dict[str, Any]:
    """The same, with its own peak of memory."""
    words = [sys.executable, __file__, "--one", way, str(attributes), str(singles)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout))


def main() -> None:
    """Print both ways on a small history, and the large one alone."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--singles", type=int, default=1000)
    parser.add_argument("--small", type=int, default=6, help="attributes where dense fits")
    parser.add_argument("--one", nargs=3, metavar=("WAY", "ATTRIBUTES", "SINGLES"))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(run(given.one[0], int(given.one[1]), int(given.one[2]))))
        return
    few = min(given.singles, 300)
    plans = [
        ("dense", given.small, few),
        ("blocks", given.small, few),
        ("blocks", 9, given.singles),
    ]
    rows = []
    for plan in plans:
        rows.append(in_own_process(*plan))
        print(*(f"{name}: {_shown(value)}" for name, value in rows[-1].items()), sep="\n  ")
    quicker = (
        rows[0]["processor seconds to choose alpha"] / rows[1]["processor seconds to choose alpha"]
    )
    print(f"choosing alpha on the small history: {quicker:.1f} x quicker with blocks")
    smaller = rows[2]["a kernel in MiB"] / max(rows[2]["peak MiB above the start"], 1.0)
    print(f"one dense kernel of the large history: {smaller:.1f} x the whole peak with blocks")
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1))


def _shown(value: object) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    main()
