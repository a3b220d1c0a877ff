"""Maximum entropy with sampled sums: stochastic ascent of the dual (HIST §4.2), many chains.

The gradient is π − p[f], with p[f] counted over thousands of persistent chains that move a few
sweeps for each step; `ascent.py` turns it into a step. The weights of the last steps are averaged.
The paper stops after a fixed number of steps; here the rule is that what is left of the gradient
is explained by sampling, or small against the noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eke.inference.max_entropy.ascent import NEWTON_ROWS, DiagonalAscent, NewtonAscent
from eke.inference.max_entropy.constraints import Constraints
from eke.inference.max_entropy.gibbs import Codes, GibbsChains, GibbsPlan, SampledDistribution
from eke.inference.max_entropy.report import Convergence
from eke.query import Prior

FloatArray = NDArray[np.float64]

_BATCHES = 8
_LEAST_AVERAGED = 8


@dataclass(frozen=True, slots=True, eq=False)
class SampledFit:
    """Records of the fitted model, its weights (for a warm start) and how well they converged."""

    distribution: SampledDistribution
    weights: FloatArray  # (m,)
    convergence: Convergence


@dataclass(frozen=True, slots=True)
class Effort:
    """How much sampling a fit may use."""

    chains: int = 16384
    sweeps: int = 4  # between two Newton steps; other steps are short, and one is enough
    most_steps: int = 60  # Newton steps; ten times as many otherwise
    tolerance: float = 0.1  # deviations of the noise, root mean square


def fit_by_sampling(
    constraints: Constraints,
    prior: Prior,
    generator: np.random.Generator,
    effort: Effort | None = None,
    *,
    start: FloatArray | None = None,
    states: Codes | None = None,
) -> SampledFit:
    """The maximum entropy distribution as records drawn from it.

    `start` and `states` are the weights and records of an earlier fit, for a warm start when
    history has grown.
    """
    effort = Effort() if effort is None else effort
    sets = constraints.attribute_sets
    plan = GibbsPlan.of(constraints.domain, sets)
    sampler = GibbsChains(plan, prior, effort.chains, generator, states)
    search = _Search(constraints, sampler, prior, effort)
    weights = np.zeros(constraints.size)
    if start is not None:
        weights[: len(start)] = start
    steps = search.climb(weights)
    gradients = [search.gradient(search.weights) for _ in range(4 * _BATCHES)]
    size, error, worst = search.left(gradients)
    convergence = Convergence("gibbs", steps, worst, size, error, effort.tolerance)
    records = SampledDistribution(constraints.domain, sampler.states.copy())
    return SampledFit(records, search.weights, convergence)


class _Search:
    """The climb itself: chains, weights, and their running average."""

    def __init__(
        self, constraints: Constraints, sampler: GibbsChains, prior: Prior, effort: Effort
    ) -> None:
        self.constraints, self.sampler, self.prior, self.effort = (
            constraints,
            sampler,
            prior,
            effort,
        )
        self.weights = np.zeros(constraints.size)
        self._newton = constraints.size <= NEWTON_ROWS
        self._marginals = sampler.marginals(constraints.attribute_sets)

    def climb(self, weights: FloatArray) -> int:
        """Step until converged; returns the number of steps."""
        given, effort = self.constraints, self.effort
        newton = NewtonAscent(given)
        diagonal = DiagonalAscent(given, effort.chains)
        refreshes = {0, 4, 10, 20} if self._newton else range(0, 10**9, 25)
        most = effort.most_steps * (1 if self._newton else 10)
        previous, kept = np.inf, []
        self.weights = weights
        for step in range(most):
            if step in refreshes:
                singles = self._singles()
                if self._newton:
                    newton.refresh(singles)
                else:
                    diagonal.refresh(singles, self._marginals)
            gradient = self.gradient(weights, effort.sweeps if self._newton else 1)
            self.weights = weights
            size, error = self._quick(gradient)
            if self._newton:
                newton.judge(previous, size)
                weights = newton.step(weights, gradient)
            else:
                weights = diagonal.step(weights, gradient)
            previous = size
            kept = [*kept, weights] if size**2 <= effort.tolerance**2 + 1.2 * error**2 else []
            if len(kept) >= _LEAST_AVERAGED * (1 if self._newton else 8):
                break
        self.weights = np.mean(kept, axis=0) if kept else weights
        return step + 1

    def gradient(self, weights: FloatArray, sweeps: int = 1) -> FloatArray:
        """The gradient of the dual, as the chains see it after some sweeps; shape (m,)."""
        given = self.constraints
        self.sampler.sweep(given.log_tables(weights), sweeps)
        self._marginals = self.sampler.marginals(given.attribute_sets)
        expected = given.expectations(self._marginals)
        return given.targets - expected - given.quadratics * weights

    def left(self, gradients: list[FloatArray]) -> tuple[float, float, float]:
        """(excess of the averaged gradient, what sampling explains of it, the worst)."""
        given = self.constraints
        excess = self._excess(np.mean(gradients, axis=0))
        parts = np.array_split(np.array(gradients), _BATCHES)
        batches = np.array([part.mean(axis=0) for part in parts]) / given.deviations
        error = batches.var(axis=0, ddof=1) / len(batches)
        size = float(np.sqrt(np.mean(excess**2)))
        return size, float(np.sqrt(np.mean(error))), float(np.abs(excess).max(initial=0.0))

    def _quick(self, gradient: FloatArray) -> tuple[float, float]:
        """(excess of one gradient, what sampling explains of it if chains were independent)."""
        given = self.constraints
        error = self._variances() / len(self.sampler.states) / given.deviations**2
        excess = self._excess(gradient)
        return float(np.sqrt(np.mean(excess**2))), float(np.sqrt(np.mean(error)))

    def _excess(self, gradient: FloatArray) -> FloatArray:
        return self.constraints.excess(self.weights, gradient) / self.constraints.deviations

    def _variances(self) -> FloatArray:
        given = self.constraints
        means = given.expectations(self._marginals)
        return np.maximum(given.squares(self._marginals) - means**2, 0.0)

    def _singles(self) -> Prior:
        """The product of the chains' one-dimensional marginals, as a prior."""
        domain = self.constraints.domain
        shares = self.sampler.marginals([(name,) for name in domain.names])
        least = 0.5 / len(self.sampler.states)
        vectors = {
            name: np.maximum(shares[(name,)], least * self.prior.vectors[name]).tolist()
            for name in domain.names
        }
        return Prior(domain, vectors)
