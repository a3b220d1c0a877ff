"""How long a decision takes to certify the loss, on a domain of 1.3·10¹¹ cells.

1,000 mixed questions (counts over ranges of one to three attributes, sums, conjunctions over all
nine, marginals) are charged one after the other; each decision recomputes the certified maximum
over all cells. Afterwards decisions are timed with the limit put right at that maximum, where
certification is hardest.

    python benchmarks/accounting.py [--questions 1000] [--out accounting.json]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

import eke
from eke.planning import part_for
from eke.privacy.accountant import Accountant
from eke.privacy.law import DiscreteLaw
from eke.privacy.pure import PURE
from eke.query import Marginal, Query, count, marginal, total

NINE = (79, 2, 17, 51, 9, 7, 6, 50, 50)
FAR = 10**15


def random_question(domain: eke.Domain, generator: np.random.Generator) -> Query | Marginal:
    """A range over one to three attributes, a sum, a conjunction over all, or a marginal."""
    kind = generator.choice(["range", "range", "range", "sum", "all", "marginal"])
    if kind == "marginal":
        names = generator.choice(domain.names, 2, replace=False)
        return marginal(*(str(n) for n in names)).on(domain)
    size = len(domain) if kind == "all" else int(generator.integers(1, 4))
    conditions = {}
    for k in generator.choice(len(domain), size, replace=False):
        low, high = sorted(int(v) for v in generator.integers(0, domain.shape[k], 2))
        conditions[domain.names[k]] = (low, high)
    if kind == "sum":
        name = str(generator.choice(domain.names))
        conditions.pop(name, None)
        return total(name, conditions).on(domain)
    return count(conditions).on(domain)


def noise_for(query: Query | Marginal, epsilon: float) -> DiscreteLaw:
    """Laplace noise with which the question costs this much by itself."""
    inside = query.inside if isinstance(query, Marginal) else query
    low, high = inside.extremes()
    return part_for(query, float(max(abs(low), abs(high))) / epsilon, PURE).law


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=1000)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    options = parser.parse_args()
    generator = np.random.default_rng(20260101)
    domain = eke.Domain({f"a{i}": eke.Integer(0, size - 1) for i, size in enumerate(NINE)})
    accountant = Accountant(domain, PURE, "add_remove")
    times = []
    for _ in range(options.questions):
        query = random_question(domain, generator)
        law = noise_for(query, float(generator.uniform(0.0001, 0.01)))
        started = time.perf_counter()
        after = accountant.after(query, law, FAR)
        times.append(time.perf_counter() - started)
        accountant.add(query, law, after)
    at_limit = []
    for _ in range(20):
        query = random_question(domain, generator)
        law = noise_for(query, 0.001)
        limit = accountant.after(query, law, FAR)
        for tried in (limit - 1, limit):
            started = time.perf_counter()
            accountant.after(query, law, tried)
            at_limit.append(time.perf_counter() - started)
    figures = {
        "cells": float(domain.size),
        "questions": options.questions,
        "loss": accountant.spent / 1e9,
        "sum_of_prices": accountant.sequential / 1e9,
        "median_ms": 1e3 * float(np.median(times)),
        "worst_ms": 1e3 * float(np.max(times)),
        "at_limit_median_ms": 1e3 * float(np.median(at_limit)),
        "at_limit_worst_ms": 1e3 * float(np.max(at_limit)),
    }
    print(
        f"{options.questions} questions over {figures['cells']:.2g} cells: a decision takes "
        f"{figures['median_ms']:.1f} ms (worst {figures['worst_ms']:.0f}); with the limit at the "
        f"certified loss {figures['at_limit_median_ms']:.0f} ms "
        f"(worst {figures['at_limit_worst_ms']:.0f}).\n"
        f"Certified loss {figures['loss']:.4f} epsilon; the prices add up to "
        f"{figures['sum_of_prices']:.4f}."
    )
    if options.out:
        options.out.write_text(json.dumps(figures, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
