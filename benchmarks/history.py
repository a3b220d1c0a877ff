"""How fast a long history is put to use, next to the textbook way, in one run.

Census-Income, nine attributes: the kernel of m random two-dimensional ranges, its factorisation, a
scan of 50 values of α with 5 folds, and maximum entropy on all 36 two-way marginals. Textbook: a
double loop over pairs of questions (on a subset, per pair), a PCA for each fold (timed on one), and
the paper's single chain (HIST §4.2: Metropolis steps, γ = 10⁻⁴, every weight after each record),
compiled as well, until its marginals are as good or its time is up.

    python benchmarks/history.py [--questions 5000] [--patience 60] [--out history.json]
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
from numba import njit
from numpy.typing import NDArray
from scipy.linalg import cho_factor, eigh

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from eke.domain import Domain
from eke.inference.features import Features, kernel
from eke.inference.max_entropy import Constraints, Effort, constraints_of, fit_max_entropy
from eke.inference.shrinkage import Evidence, Noise, choose_alpha
from eke.inference.shrinkage.banded import reduce_to_band
from eke.privacy.law import Laplace
from eke.query import Prior, Query, count, inner, marginal
from reproductions.hist.setting import census, pairs

Reals = NDArray[np.float64]
NOISE = 5000.0
GAMMA = 1e-4  # the paper's learning rate


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
    features = Features.of(domain, queries)
    products, kernel_seconds = timed(lambda: kernel(features, prior))
    some = queries[:40]
    _, loop_seconds = timed(lambda: [[inner(a, b, prior) for a in some] for b in some])
    values = products[:, 0] * 3e5 + generator.laplace(0.0, NOISE, questions)
    noise = Noise.of_covariance(np.full(questions, 2.0 * NOISE**2))
    evidence = Evidence.of(features, values, noise, prior, 3e5)
    whitened = noise.whiten_kernel(evidence.kernel)
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
        "reduction for all α": reduction_seconds,
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
    features = Features.of(data.domain, blocks)
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


class SingleChain:
    """The paper's learner, compiled: one chain, one record, every weight after each record."""

    def __init__(self, constraints: Constraints, seed: int = 3) -> None:
        domain = constraints.domain
        self.sizes = np.array(domain.shape, np.int64)
        self.targets, self.bounds = constraints.targets, constraints.bounds
        self.weights = np.zeros(constraints.size)
        self.starts = np.zeros((len(domain), len(domain)), np.int64)
        place = 0
        for a, b in pairs():
            i, j = domain.names.index(a), domain.names.index(b)
            self.starts[i, j] = self.starts[j, i] = place
            place += domain.shape[i] * domain.shape[j]
        self.state = np.zeros(len(domain), np.int64)
        self.seed = seed

    def learn(self, steps: int) -> NDArray[np.int64]:
        """The records of so many steps."""
        self.seed += 1
        return self._run(steps, GAMMA)

    def draw(self, steps: int) -> NDArray[np.int64]:
        """Records at the weights as they are."""
        self.seed += 1
        return self._run(steps, 0.0)

    def _run(self, steps: int, gamma: float) -> NDArray[np.int64]:
        records = np.empty((steps, len(self.sizes)), np.int64)
        _single_chain(
            records,
            (self.state, self.weights),
            (self.targets, self.bounds),
            (self.starts, self.sizes),
            (gamma, self.seed),
        )
        return records


@njit(cache=True)
def _single_chain(  # pragma: no cover - compiled
    records: NDArray[np.int64],
    moving: tuple[NDArray[np.int64], Reals],
    given: tuple[Reals, Reals],
    layout: tuple[NDArray[np.int64], NDArray[np.int64]],
    settings: tuple[float, int],
) -> None:
    state, weights = moving
    targets, bounds = given
    starts, sizes = layout
    gamma, seed = settings
    np.random.seed(seed)  # noqa: NPY002 - compiled code knows only the legacy generator
    attributes = len(sizes)
    for step in range(len(records)):
        for k in range(attributes):
            offered = np.random.randint(0, sizes[k])  # noqa: NPY002
            gain = 0.0
            for j in range(attributes):
                if j == k:
                    continue
                if k < j:
                    gain += weights[starts[k, j] + offered * sizes[j] + state[j]]
                    gain -= weights[starts[k, j] + state[k] * sizes[j] + state[j]]
                else:
                    gain += weights[starts[k, j] + state[j] * sizes[k] + offered]
                    gain -= weights[starts[k, j] + state[j] * sizes[k] + state[k]]
            if np.log(np.random.random()) < gain:  # noqa: NPY002
                state[k] = offered
        records[step] = state
        if gamma > 0.0:
            for i in range(len(weights)):
                weights[i] += gamma * targets[i]
            for i in range(attributes):
                for j in range(i + 1, attributes):
                    weights[starts[i, j] + state[i] * sizes[j] + state[j]] -= gamma
            for i in range(len(weights)):
                weights[i] = min(max(weights[i], -bounds[i]), bounds[i])


def entropy_times(patience: float) -> dict[str, float]:
    """Seconds and errors of maximum entropy on all pairs, ours and the paper's single chain."""
    constraints, records = pair_constraints(), 131_072
    effort = Effort(16384, most_steps=16)
    small = Effort(64, most_steps=1)
    fit_max_entropy(constraints, generator=np.random.default_rng(4), effort=small)  # compiles
    fit, ours = timed(
        lambda: fit_max_entropy(constraints, generator=np.random.default_rng(5), effort=effort)
    )
    wanted = mean_distance(fit.distribution.sample(records, np.random.default_rng(6)))
    chain = SingleChain(constraints)
    chain.learn(10)
    spent, reached = 0.0, np.inf
    while spent < patience * ours and reached > wanted:
        _, seconds = timed(lambda: chain.learn(500_000))
        spent += seconds
        reached = mean_distance(chain.draw(records * 2)[::2])
    return {
        "max entropy": ours,
        "its error": wanted,
        "single chain": spent,
        "single chain's error": reached,
        "single chain was stopped": float(reached > wanted),
    }


def main() -> None:
    """Print seconds and ratios."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=5000)
    parser.add_argument("--patience", type=float, default=60.0, help="times our own seconds")
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
    entropy = entropy_times(arguments.patience)
    for name, number in entropy.items():
        print(f"{name:42} {number:10.4g}", flush=True)
    at_least = "more than " if entropy["single chain was stopped"] else ""
    print(f"ratio: {at_least}{entropy['single chain'] / entropy['max entropy']:.0f} x")
    if arguments.out:
        text = json.dumps({"linear": linear, "entropy": entropy, "peak_gib": peak}, indent=1)
        arguments.out.write_text(text)


if __name__ == "__main__":
    main()
