"""Maximum entropy with sampled sums: stochastic ascent of the dual (HIST §4.2), many chains.

The gradient is π − p[f], with p[f] counted over thousands of persistent chains that move a few
sweeps for each step; `ascent.py` turns it into a step. The weights of the last steps are averaged.
The paper stops after a fixed number of steps; here the rule is that what is left of the gradient
is explained by sampling, or small against the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from eke.arrays import Codes, FloatArray
from eke.errors import EstimateError
from eke.inference.max_entropy.ascent import NEWTON_ROWS, DiagonalAscent, NewtonAscent
from eke.inference.max_entropy.constraints import Constraints
from eke.inference.max_entropy.core import Core, fit_core
from eke.inference.max_entropy.gibbs import GibbsChains, GibbsPlan, SampledDistribution, counted
from eke.inference.max_entropy.report import FitDistance
from eke.query import Prior

_BATCHES = 8
_REFRESHED = (0, 4, 10, 20)  # Newton steps before which the curvature is computed anew
_PATIENCE = 4  # looks without progress: only sampling noise is left to fit
_LOOK = 40  # diagonal steps between two looks at convergence


@dataclass(frozen=True, slots=True, eq=False)
class SampledFit:
    """Records of the fitted model, its weights (for a warm start) and how well they converged."""

    distribution: SampledDistribution
    weights: FloatArray  # (m,)
    convergence: FitDistance
    core: Core  # for a warm start as well


@dataclass(frozen=True, slots=True)
class SamplingEffort:
    """How much sampling a fit may use."""

    chains: int = 16384
    sweeps: int = 4  # between two Newton steps; other steps are short, and one is enough
    most_steps: int = 60  # Newton steps; ten times as many otherwise
    tolerance: float = 0.1  # deviations of the noise, root mean square

    def __post_init__(self) -> None:
        if min(self.chains, self.sweeps, self.most_steps) < 1 or not self.tolerance > 0.0:
            raise EstimateError(
                "chains, sweeps and steps must be at least 1, the tolerance above 0"
            )


def fit_by_sampling(
    constraints: Constraints,
    prior: Prior,
    generator: np.random.Generator,
    effort: SamplingEffort | None = None,
    *,
    start: FloatArray | None = None,
    states: Codes | None = None,
    core: Core | None = None,
) -> SampledFit:
    """The maximum entropy distribution as records drawn from it, eight for each chain.

    `start`, `states` and `core` are the weights, records and core of an earlier fit, for a warm
    start when history has grown.
    """
    effort = SamplingEffort() if effort is None else effort
    plan = GibbsPlan.of(constraints.domain, constraints.attribute_sets)
    weights = np.zeros(constraints.size)
    if start is not None and np.any(start):
        core = fit_core(constraints, prior, effort.chains, generator, core)
        weights[: len(start)] = start
    else:
        core = fit_core(constraints, prior, effort.chains, generator)
        weights, states = core.weights, core.records[: effort.chains]
    sampler = GibbsChains(plan, prior, effort.chains, generator, states)
    search = _StepSearch(
        constraints, sampler, prior=prior, effort=effort, core=core, generator=generator
    )
    if constraints.size <= NEWTON_ROWS:
        weights, steps = search.by_newton(weights)
    else:
        weights, steps = search.by_scaling(weights)
    gradients, samples = [], []
    for sweep in range(4 * _BATCHES):
        gradients.append(search.gradient(weights))
        if sweep % 4 == 3:  # far enough apart to be new records
            samples.append(sampler.states.copy())
    size, error, worst = search.left(weights, gradients)
    convergence = FitDistance("gibbs", steps, worst, size, error, effort.tolerance)
    records = SampledDistribution(constraints.domain, np.concatenate(samples))
    return SampledFit(records, weights, convergence, core)


class _StepSearch:
    """The climb itself, on chains that keep their states from step to step."""

    def __init__(
        self,
        constraints: Constraints,
        sampler: GibbsChains,
        *,
        prior: Prior,
        effort: SamplingEffort,
        core: Core,
        generator: np.random.Generator,
    ) -> None:
        self.constraints, self.sampler = constraints, sampler
        self.prior, self.effort = prior, effort
        self.core, self.generator = core, generator
        self._marginals = sampler.marginals()

    def by_newton(self, weights: FloatArray) -> tuple[FloatArray, int]:
        """(weights, steps) of box-constrained Newton steps."""
        ascent = NewtonAscent(self.constraints)
        previous, step = np.inf, 0
        close_weights: list[FloatArray] = []
        for step in range(self.effort.most_steps):
            if step in _REFRESHED:
                ascent.refresh(self._singles())
            gradient = self.gradient(weights, self.effort.sweeps)
            size, error = self._quick(weights, gradient)
            ascent.judge(previous, size)
            previous = size
            weights = ascent.step(weights, gradient)
            close = size**2 <= self.effort.tolerance**2 + 1.2 * error**2
            close_weights = [*close_weights, weights] if close else []
            if len(close_weights) == _BATCHES:
                break
        return (np.mean(close_weights, axis=0) if close_weights else weights), step + 1

    def by_scaling(self, weights: FloatArray) -> tuple[FloatArray, int]:
        """(weights, steps) of scaling steps; averages over ever longer stretches."""
        given = self.constraints
        ascent = DiagonalAscent(given, len(self.sampler.states))
        total, count, step = np.zeros(given.size), 0, 0
        best, looks = np.inf, 0
        gradients: list[FloatArray] = []
        most = 10 * self.effort.most_steps
        for step in range(most):
            gradient = self.gradient(weights)
            weights = ascent.step(weights, gradient, given.expectations(self._marginals))
            if count >= max(_LOOK, step // 2):
                total, count = np.zeros(given.size), 0
            total, count = total + weights, count + 1
            gradients.append(gradient)
            if len(gradients) == _LOOK:
                size, _, _ = self.left(weights, gradients)
                # One sweep and one offered jump leave little memory: half of the steps count.
                error = self._quick(weights, gradient)[1] / math.sqrt(0.5 * _LOOK)
                gradients = []
                looks = 0 if size < 0.95 * best else looks + 1
                best = min(best, size)
                close = size**2 <= self.effort.tolerance**2 + 1.2 * error**2
                if (close or looks == _PATIENCE) and count >= _LOOK:
                    break
        return total / max(count, 1), step + 1

    def gradient(self, weights: FloatArray, sweeps: int = 1) -> FloatArray:
        """The gradient of the dual, as the chains see it after some sweeps; shape (m,)."""
        given = self.constraints
        tables = given.log_tables(weights)
        picked = self.generator.integers(0, len(self.core.records), len(self.sampler.states))
        self.accepted = self.sampler.jump(
            tables,
            self.core.records[picked],
            self.core.log_densities[picked],
            self.core.density(self.sampler.states),
            self.generator,
        )
        self.sampler.sweep(tables, sweeps)
        self._marginals = self.sampler.marginals()
        expected = given.expectations(self._marginals)
        return given.targets - expected - given.quadratics * weights

    def left(self, weights: FloatArray, gradients: list[FloatArray]) -> tuple[float, float, float]:
        """(excess of the averaged gradient, what sampling explains of it, the worst)."""
        given = self.constraints
        gradient = np.mean(gradients, axis=0)
        expected = given.targets - given.quadratics * weights - gradient
        excess = given.excess(weights, gradient, expected) / given.deviations
        parts = np.array_split(np.array(gradients), _BATCHES)
        batches = np.array([part.mean(axis=0) for part in parts]) / given.deviations
        error = batches.var(axis=0, ddof=1) / len(batches)
        size = float(np.sqrt(np.mean(excess**2)))
        return size, float(np.sqrt(np.mean(error))), float(np.abs(excess).max(initial=0.0))

    def _quick(self, weights: FloatArray, gradient: FloatArray) -> tuple[float, float]:
        """(excess of one gradient, what sampling explains of it if chains were independent)."""
        given = self.constraints
        means = given.expectations(self._marginals)
        variances = np.maximum(given.squares(self._marginals) - means**2, 0.0)
        error = variances / len(self.sampler.states) / given.deviations**2
        excess = given.excess(weights, gradient, means) / given.deviations
        return float(np.sqrt(np.mean(excess**2))), float(np.sqrt(np.mean(error)))

    def _singles(self) -> Prior:
        """The product of the chains' one-dimensional marginals, as a prior."""
        domain = self.constraints.domain
        states, least = self.sampler.states, 0.5 / len(self.sampler.states)
        shares = {name: counted(domain, states, (name,)) for name in domain.names}
        vectors = {
            name: np.maximum(shares[name], least * self.prior.vectors[name]).tolist()
            for name in domain.names
        }
        return Prior(domain, vectors)
