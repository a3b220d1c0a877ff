"""How fast a long history is put to use, next to the textbook way, in one run.

Census-Income, nine attributes: the kernel of m random two-dimensional ranges, its factorisation, a
scan of 50 values of α with 5 folds, and maximum entropy on all 36 two-way marginals. Textbook: a
double loop over pairs of questions (on a subset, per pair), a PCA for each fold (timed on one), and
the paper's single chain (HIST §4.2, `single_chain.py`), compiled as well and in its thrifty form.

Maximum entropy is fitted from scratch with rising effort. The chain runs until its processor
seconds are `--patience` times those of our last fit, or `--longest` is over; for each of our errors
the time it needed is printed, or that it never got there and where it stood. Errors are eq. 42,
mean over all pairs, of 131,072 records; drawing the chain's is not counted against it, and where
that is better our chains sample at its weights.

    python benchmarks/history.py [--questions 5000] [--patience 60] [--longest 330] [--out x.json]
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, eigh

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.single_chain import ITERATIONS, SingleChain
from eke.domain import Domain
from eke.inference.features import HistoryFeatures, kernel
from eke.inference.max_entropy import Constraints, SamplingEffort, constraints_of, fit_max_entropy
from eke.inference.max_entropy.gibbs import GibbsChains, GibbsPlan
from eke.inference.shrinkage import Evidence, Noise, choose_alpha
from eke.inference.shrinkage.dense.banded import reduce_to_band
from eke.privacy.law import Laplace
from eke.query import Prior, Query, count, inner, marginal
from reproductions.hist.setting import census, pairs

Reals = NDArray[np.float64]
NOISE = 5000.0
RECORDS = 131_072
EFFORTS = (
    SamplingEffort(2048, most_steps=4),
    SamplingEffort(4096, most_steps=8),
    SamplingEffort(16384, most_steps=16),
)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """(result, seconds)."""
    started = time.perf_counter()
    result = work()
    return result, time.perf_counter() - started


def random_range(domain: Domain, generator: np.random.Generator) -> Query:
    """A count over ranges of two attributes."""
    conditions = {}
    for column in generator.choice(len(domain), 2, replace=False):
        low, high = sorted(int(v) for v in generator.integers(0, domain.shape[column], 2))
        conditions[domain.names[column]] = (low, high)
    return count(conditions).on(domain)


def shrinkage_times(questions: int) -> dict[str, float]:
    """Seconds of the kernel, its factorisation and the scan over α, and of the textbook's."""
    generator, domain = np.random.default_rng(1), census().domain
    queries = [random_range(domain, generator) for _ in range(questions)]
    prior = Prior(domain)
    features = HistoryFeatures.of(domain, queries)
    products, kernel_seconds = timed(lambda: kernel(features, prior))
    some = queries[:40]
    _, loop_seconds = timed(lambda: [[inner(a, b, prior) for a in some] for b in some])
    values = products[:, 0] * 3e5 + generator.laplace(0.0, NOISE, questions)
    noise = Noise.of_covariance(np.full(questions, 2.0 * NOISE**2))
    evidence = Evidence.of(features, values, noise, prior, 3e5)
    whitened = noise.whiten_kernel(evidence.kernel.matrix)
    ridged = whitened + np.eye(questions) * float(np.trace(whitened)) / questions
    _, cholesky_seconds = timed(lambda: cho_factor(ridged, lower=True))
    _, reduction_seconds = timed(lambda: reduce_to_band(whitened.copy()))
    _, scan_seconds = timed(lambda: choose_alpha(evidence))
    train = np.flatnonzero(np.arange(questions) % 5)
    part = whitened[np.ix_(train, train)]
    _, pca_seconds = timed(lambda: eigh(part, overwrite_a=True))
    return {
        "kernel": kernel_seconds,
        "kernel, double loop": loop_seconds * (questions / len(some)) ** 2,
        "Cholesky": cholesky_seconds,
        "reduction to a band, for all α": reduction_seconds,
        "50 α × 5 folds": scan_seconds,
        "50 α × 5 folds, a PCA each (at least)": 5.0 * pca_seconds,
    }


def pair_constraints() -> Constraints:
    """All 36 two-way marginals with Laplace noise of scale 36, so ε = 1."""
    generator, data = np.random.default_rng(2), census()
    blocks = [marginal(*pair).on(data.domain) for pair in pairs()]
    exact = np.concatenate([data.counts(pair) for pair in pairs()])
    noisy = exact + generator.laplace(0.0, len(blocks), len(exact))
    laws = [Laplace(float(len(blocks)))] * len(exact)
    features = HistoryFeatures.of(data.domain, blocks)
    return constraints_of(features, noisy, laws, total=float(data.total), alpha=0.002)


def mean_distance(records: NDArray[np.int64]) -> float:
    """The mean error of eq. 42 over all pairs, of as many records as given."""
    data = census()
    off = []
    for pair in pairs():
        first, second = (data.domain.names.index(name) for name in pair)
        size = data.domain.shape[second]
        cells = records[:, first] * size + records[:, second]
        truth = data.counts(pair) / data.total
        found = np.bincount(cells, minlength=len(truth)) / len(records)
        off.append(float(np.abs(found - truth).sum()))
    return float(np.mean(off))


def our_fits(constraints: Constraints) -> tuple[list[dict[str, float]], NDArray[np.int64]]:
    """(seconds and errors of our fit, from scratch, with rising effort; records of the last)."""
    levels, records = [], np.empty((0, 0), np.int64)
    small = SamplingEffort(64, most_steps=1)
    fit_max_entropy(constraints, generator=np.random.default_rng(4), effort=small)  # compiles
    for effort in EFFORTS:
        processor = time.process_time()
        fit, seconds = timed(
            lambda effort=effort: fit_max_entropy(
                constraints, generator=np.random.default_rng(5), effort=effort
            )
        )
        level = {"chains": effort.chains, "steps": fit.convergence.steps, "seconds": seconds}
        level["processor seconds"] = time.process_time() - processor
        records = fit.distribution.sample(RECORDS, np.random.default_rng(6))
        level["error"] = mean_distance(records)
        levels.append(level)
        print(f"max entropy: {_shown(level)}", flush=True)
    return levels, records


def error_of_weights(constraints: Constraints, weights: Reals, states: NDArray[np.int64]) -> float:
    """The mean error of the model with some weights, sampled by many chains from a good start."""
    plan = GibbsPlan.of(constraints.domain, constraints.attribute_sets)
    generator = np.random.default_rng(7)
    chains = GibbsChains(plan, Prior(constraints.domain), len(states), generator, states.copy())
    tables, kept = constraints.log_tables(weights), []
    chains.sweep(tables, 20)
    while sum(map(len, kept)) < RECORDS:
        chains.sweep(tables, 4)
        kept.append(chains.states.copy())
    return mean_distance(np.concatenate(kept))


def single_chain(
    constraints: Constraints, limit: float, states: NDArray[np.int64]
) -> list[dict[str, float]]:
    """What the paper's chain reached when, until its processor seconds are up.

    Drawing records and looking at them is not counted. A chain that is stuck in a corner shows
    its weights at their worst, so they are sampled by our chains, too, and the better error counts.
    """
    plain, chain = SingleChain(constraints), SingleChain(constraints)
    for learner, thrifty in ((plain, False), (chain, True)):
        learner.learn(10, thrifty=thrifty)  # compiles
        started = time.process_time()
        learner.learn(2000, thrifty=thrifty)
        seconds = time.process_time() - started
        form = "only the cells of the record" if thrifty else "every weight after each record"
        print(f"single chain, {form}: {1e6 * seconds / 2000:.3g} µs a step", flush=True)
    if not np.allclose(plain.caught_up(), chain.caught_up(), atol=1e-9):
        raise AssertionError("both forms of the chain must give the same weights")
    reached: list[dict[str, float]] = []
    spent, steps = 0.0, ITERATIONS
    while spent < limit:
        started = time.process_time()
        chain.learn(steps)
        spent += time.process_time() - started
        at = {"steps": float(chain.steps), "seconds": spent}
        at["its own error"] = mean_distance(chain.draw(RECORDS, 10))
        at["error of its weights"] = error_of_weights(constraints, chain.caught_up(), states)
        reached.append(at | {"error": min(at["its own error"], at["error of its weights"])})
        print(f"single chain: {_shown(reached[-1])}", flush=True)
        left = int((limit - spent) * chain.steps / spent) + ITERATIONS
        steps = min(max(ITERATIONS, chain.steps // 2), left)
    return reached


def entropy_times(patience: float, longest: float) -> dict[str, Any]:
    """Times to equal error, ours and the paper's single chain."""
    constraints = pair_constraints()
    levels, records = our_fits(constraints)
    limit = min(longest, patience * levels[-1]["processor seconds"])
    reached = single_chain(constraints, limit, records[:16384])
    for level in levels:
        good = [at["seconds"] for at in reached if at["error"] <= level["error"]]
        at_least = "" if good else "more than "
        seconds = good[0] if good else reached[-1]["seconds"]
        level["single chain reached it"] = float(bool(good))
        level["ratio"] = seconds / level["seconds"]
        level["ratio, processor seconds"] = seconds / level["processor seconds"]
        best = min(at["error"] for at in reached)
        stood = f" (it stood at {reached[-1]['error']:.4f}, {best:.4f} at its best)"
        print(
            f"error {level['error']:.4f}: {level['seconds']:.2f} s against {at_least}"
            f"{seconds:.1f} s of the single chain{'' if good else stood}: "
            f"{at_least}{level['ratio']:.0f} x, by processor seconds "
            f"{level['ratio, processor seconds']:.0f} x"
        )
    return {"ours": levels, "single chain": reached}


def _shown(numbers: dict[str, float]) -> str:
    return ", ".join(f"{name} {number:.4g}" for name, number in numbers.items())


def main() -> None:
    """Print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument(
        "--patience", type=float, default=60.0, help="times our own processor seconds"
    )
    parser.add_argument("--longest", type=float, default=330.0, help="seconds of the single chain")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    linear = shrinkage_times(arguments.questions)
    for name, seconds in linear.items():
        print(f"{name:42} {seconds:10.2f} s", flush=True)
    both = linear["kernel"] + linear["50 α × 5 folds"]
    print(f"kernel and scan together: {both:.1f} s, m = {arguments.questions}")
    loop = linear["kernel, double loop"] / linear["kernel"]
    folds = linear["50 α × 5 folds, a PCA each (at least)"] / linear["50 α × 5 folds"]
    print(f"ratios: kernel {loop:.0f} x, scan {folds:.1f} x")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"peak memory {peak:.2f} GiB")
    entropy = entropy_times(arguments.patience, arguments.longest)
    if arguments.out:
        text = json.dumps({"linear": linear, "entropy": entropy, "peak_gib": peak}, indent=1)
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
