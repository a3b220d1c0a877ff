"""How fast history answers, on a domain of 1.3·10¹¹ cells.

Histories of random two-dimensional ranges over nine attributes. Printed: time to append a
measurement, time of a free answer with its interval, memory, and in the same run the ratios to the
papers' convolution and to Monte Carlo, each with the error of its 95 % half-width: how far the
true probability inside it is from 0.95, by a trapezoidal Gil-Pelaez sum that shares no code with
the methods compared.

    python benchmarks/inference.py [--sizes 100 1000 5000] [--out inference.json]
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.integrate import quad

import eke
from eke.history import Row
from eke.inference import ComposedNoise, ExactPosterior, Inference
from eke.inference.papers.convolution import ConvolutionPosterior
from eke.inference.papers.monte_carlo import MonteCarloPosterior
from eke.privacy.law import Laplace
from eke.query import Query, count

NINE = (79, 2, 17, 51, 9, 7, 6, 50, 50)
CONFIDENCE = 0.95
DRAWS = 1_000_000
ANSWERS = 25


def domain_of(sizes: tuple[int, ...]) -> eke.Domain:
    """A domain of integer attributes."""
    return eke.Domain({f"a{i}": eke.Integer(0, size - 1) for i, size in enumerate(sizes)})


def random_range(domain: eke.Domain, generator: np.random.Generator) -> Query:
    """A count over ranges of two attributes."""
    chosen = generator.choice(len(domain), 2, replace=False)
    conditions = {}
    for k in chosen:
        low, high = sorted(int(v) for v in generator.integers(0, domain.shape[k], 2))
        conditions[f"a{k}"] = (low, high)
    return count(conditions).on(domain)


def probability_within(noise: ComposedNoise, x: float) -> float:
    """P(|e| <= x) by QUADPACK's Fourier integral, the Gaussian of equal variance split off."""
    variance = noise.variance

    def rest(t: float) -> float:
        if t == 0.0:
            return 0.0
        return (float(noise.characteristic(t)) - math.exp(-0.5 * variance * t * t)) / t

    integral = quad(rest, 0.0, np.inf, weight="sin", wvar=x, epsabs=1e-12, limlst=500)[0]
    return math.erf(x / math.sqrt(2.0 * variance)) + 2.0 / math.pi * float(integral)


def milliseconds(started: float) -> float:
    """The time since `started`."""
    return 1e3 * (time.perf_counter() - started)


def measure(sizes: tuple[int, ...], lengths: list[int], alternatives: bool) -> list[dict[str, Any]]:
    """The figures at each length of the history."""
    generator = np.random.default_rng(20260101)
    domain = domain_of(sizes)
    inference = Inference(domain)
    warm_up(domain, generator)
    queries: list[Query] = []
    results = []
    appended: list[float] = []
    for length in lengths:
        while len(queries) < length:
            query = random_range(domain, generator)
            queries.append(query)
            row = Row(query, float(generator.normal(0.0, 100.0)), Laplace(100.0))
            started = time.perf_counter()
            inference.append(row)
            appended.append(milliseconds(started))
        answers, posterior = [], None
        for first, second in generator.integers(0, length, (ANSWERS, 2)):
            question = queries[int(first)] + queries[int(second)]
            started = time.perf_counter()
            posterior = inference.posterior(question)
            assert posterior is not None
            posterior.interval(CONFIDENCE)
            answers.append(milliseconds(started))
        result: dict[str, Any] = {
            "measurements": length,
            "rank": inference.regression.rank,
            "cells": float(domain.size),
            "append_ms": float(np.median(appended[-100:])),
            "append_ms_worst": float(np.max(appended[-100:])),
            "answer_ms": float(np.median(answers)),
            "answer_ms_worst": float(np.max(answers)),
            "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0,
        }
        if alternatives and isinstance(posterior, ExactPosterior):
            result.update(compare(posterior.noise, generator))
        results.append(result)
        print_row(result)
    return results


def warm_up(domain: eke.Domain, generator: np.random.Generator) -> None:
    """Compile what is compiled on first use, so that it is not timed."""
    inference = Inference(domain)
    for _ in range(3):
        query = random_range(domain, generator)
        for _ in range(2):
            inference.append(Row(query, 0.0, Laplace(100.0)))
    found = inference.posterior(query)
    assert found is not None
    found.interval(CONFIDENCE)


def compare(noise: ComposedNoise, generator: np.random.Generator) -> dict[str, Any]:
    """The half-width of one answer by three methods: time and error."""
    found: dict[str, Any] = {"parts": len(noise.laplace_scales)}
    for name, repeats, make in (
        ("exact", 11, lambda: ExactPosterior(0.0, noise)),
        ("monte_carlo", 1, lambda: MonteCarloPosterior(0.0, noise, DRAWS, generator)),
        ("convolution", 1, lambda: ConvolutionPosterior(0.0, noise, 0.01, 1.0, "direct")),
    ):
        times = []
        for _ in range(repeats):
            noise.widths.clear()  # a repeated question is looked up; here it must be computed
            started = time.perf_counter()
            found_halfwidth = make().halfwidth(CONFIDENCE)
            times.append(milliseconds(started))
        found[f"{name}_ms"] = float(np.median(times))
        found[f"{name}_error"] = abs(probability_within(noise, found_halfwidth) - CONFIDENCE)
    found["times_faster_than_monte_carlo"] = found["monte_carlo_ms"] / found["exact_ms"]
    found["times_faster_than_convolution"] = found["convolution_ms"] / found["exact_ms"]
    return found


def print_row(result: dict[str, Any]) -> None:
    """Print one result."""
    print(
        f"{result['measurements']:>6} measurements, rank {result['rank']}, "
        f"{result['cells']:.2g} cells: append {result['append_ms']:.2f} ms "
        f"(worst {result['append_ms_worst']:.1f}), free answer {result['answer_ms']:.2f} ms "
        f"(worst {result['answer_ms_worst']:.1f}), peak {result['peak_memory_mib']:.0f} MiB"
    )
    if "exact_ms" in result:
        print(
            f"       half-width: exact {result['exact_ms']:.2f} ms "
            f"(error {result['exact_error']:.1e}); "
            f"Monte Carlo 1e6 {result['times_faster_than_monte_carlo']:.0f}x slower "
            f"(error {result['monte_carlo_error']:.1e}); convolution "
            f"{result['times_faster_than_convolution']:.0f}x slower "
            f"(error {result['convolution_error']:.1e})"
        )
    sys.stdout.flush()


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000, 5000])
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    options = parser.parse_args()
    print("Nine attributes of sizes", *NINE)
    results = measure(NINE, sorted(options.sizes), alternatives=True)
    print("The same with every attribute twice and four times as large: cost without cells in it")
    middle = [min(1000, max(options.sizes))]
    for factor in (2, 4):
        results += measure(tuple(factor * s for s in NINE), middle, alternatives=False)
    if options.out:
        options.out.write_text(json.dumps(results, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
