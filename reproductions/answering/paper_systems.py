"""The papers' answering systems: allocate, infer or refuse (ONLINE Alg. 1, BAYES §5.1).

All of them pay for a direct answer what ONLINE Th. 3.7 / BAYES Th. 5.3 says, charge it cell by
cell, and refuse what would pass the budget. They differ in what they do before paying. A direct
answer is returned as it comes, with [A(D) - ε, A(D) + ε], whatever else is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from eke.inference import ComposedNoise, halfwidth
from reproductions.answering.paper_history import PaperHistory
from reproductions.answering.product_posterior import Observation, product_posterior
from reproductions.answering.representations import greedy_representations
from reproductions.answering.source import NoisySource

Query = NDArray[np.int64]  # (cells,)
_ROUNDING = 1e-12


@dataclass(frozen=True, slots=True)
class Reply:
    """A returned answer: point estimate and credible interval, and whether it was paid for.

    An answer is `guaranteed` if its interval holds the truth with the confidence asked for.
    """

    value: float
    low: float
    high: float
    paid: bool
    guaranteed: bool = True


class System(Protocol):
    """Something that answers one question after the other until its budget is gone."""

    @property
    def spent(self) -> float:
        """ᾱ, the privacy cost so far."""
        ...

    def start_from(self, rows: Query, values: Sequence[float], laplace_scale: float) -> None:
        """Begin with a history that was released before the first question."""
        ...

    def ask(self, query: Query, within: float, delta: float) -> Reply | None:
        """An answer of half-width `within` at most, with confidence 1 - δ; None if refused."""
        ...


def necessary_scale(within: float, delta: float) -> float:
    """The Laplace scale S/α of a direct answer, with α = S·(-ln δ)/ε."""
    return within / -math.log(delta)


class Baseline:
    """Direct answers only, each with its own necessary budget: the "improved baseline"."""

    def __init__(self, source: NoisySource, budget: float) -> None:
        self.history = PaperHistory(source.histogram.cells)
        self._source = source
        self._budget = budget

    @property
    def spent(self) -> float:
        return self.history.system_cost

    def start_from(self, rows: Query, values: Sequence[float], laplace_scale: float) -> None:
        for row, value in zip(rows, values, strict=True):
            self.history.append(row, value, laplace_scale)

    def ask(self, query: Query, within: float, delta: float) -> Reply | None:
        return self.pay(query, within, necessary_scale(within, delta))

    def pay(self, query: Query, within: float, laplace_scale: float) -> Reply | None:
        if self.history.cost_with(query, laplace_scale) > self._budget + _ROUNDING:
            return None
        value = self._source.measure(query, laplace_scale)
        self.history.append(query, value, laplace_scale)
        return Reply(value, value - within, value + within, paid=True)


class StaticBaseline(Baseline):
    """Direct answers that cost the same α each, whatever accuracy is asked for."""

    def __init__(self, source: NoisySource, budget: float, alpha: float) -> None:
        super().__init__(source, budget)
        self._alpha = alpha

    def ask(self, query: Query, within: float, delta: float) -> Reply | None:
        laplace_scale = float(np.abs(query).max()) / self._alpha
        reply = self.pay(query, within, laplace_scale)
        if reply is None:
            return None
        return replace(reply, guaranteed=laplace_scale <= necessary_scale(within, delta))


Infer = Callable[[PaperHistory, Query, float], Reply | None]


class InferringSystem(Baseline):
    """History first: a question is paid for only if inference is not accurate enough."""

    def __init__(self, source: NoisySource, budget: float, infer: Infer) -> None:
        super().__init__(source, budget)
        self._infer = infer

    def ask(self, query: Query, within: float, delta: float) -> Reply | None:
        inferred = self._infer(self.history, query, delta)
        if inferred is not None and inferred.high - inferred.low <= 2.0 * within:
            return inferred
        return super().ask(query, within, delta)


class LeastSquaresSystem(InferringSystem):
    """The point estimates of ordinary least squares, with the allocation of the BLUE system.

    Least squares has no interval of its own, so it answers and pays when BLUE would, and its
    answer goes with ± ε. Only its values differ.
    """

    def __init__(self, source: NoisySource, budget: float) -> None:
        super().__init__(source, budget, infer_blue)

    def ask(self, query: Query, within: float, delta: float) -> Reply | None:
        reply = super().ask(query, within, delta)
        if reply is None:
            return None
        value = self.history.least_squares(query)
        assert value is not None, "what was answered is determined"
        return Reply(value, value - within, value + within, reply.paid)


def infer_blue(history: PaperHistory, query: Query, delta: float) -> Reply | None:
    """BAYES §3 and §4: BLUE, and the exact posterior of its composed noise."""
    estimate = history.best_linear_unbiased(query)
    if estimate is None:
        return None
    half = halfwidth(ComposedNoise(estimate.laplace_scales), 1.0 - delta)
    return Reply(estimate.value, estimate.value - half, estimate.value + half, paid=False)


def infer_product(history: PaperHistory, query: Query, delta: float) -> Reply | None:
    """ONLINE §3.2: the product of the likelihoods of greedily found representations."""
    if not len(history):
        return None
    scales, values = history.laplace_scales, history.values
    observations = []
    for weights in greedy_representations(history.matrix, query):
        used = np.flatnonzero(weights)
        parts = np.abs(weights[used]) * scales[used]
        observations.append(Observation(float(weights[used] @ values[used]), parts))
    if not observations:
        return None
    posterior = product_posterior(observations)
    low, high = posterior.interval(delta)
    return Reply(posterior.mean, low, high, paid=False)
