"""Fits: the dual's maximum is the primal's minimum (HIST Th. 5, 6); sampling agrees with sums."""

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize

from eke.domain import Domain, Integer
from eke.errors import EstimateError
from eke.history import Measurement
from eke.inference.features import HistoryFeatures, probabilities, table_of
from eke.inference.max_entropy import (
    Constraints,
    Fit,
    SampledDistribution,
    SamplingEffort,
    constraints_of,
    constraints_of_history,
    fit_max_entropy,
    sampled,
)
from eke.inference.max_entropy.exact import Dual, tree_of
from eke.inference.max_entropy.gibbs import GibbsChains, GibbsPlan, counted
from eke.privacy.law import Gaussian, Laplace, NoiseLaw
from eke.query import Marginal, Prior, Query, count, marginal, table

Reals = NDArray[np.float64]
DOMAIN = Domain(a=Integer(0, 3), b=Integer(0, 2), c=Integer(0, 1))
PRIOR = Prior(DOMAIN, {"a": [1, 2, 3, 4]})
TOTAL = 200.0


class Case:
    """Noisy answers over a domain of 24 cells."""

    def __init__(self, law: NoiseLaw, seed: int = 1) -> None:
        generator = np.random.default_rng(seed)
        asked: list[Query | Marginal] = [
            count(a=(0, 1), b=(1, 2)).on(DOMAIN),
            table(["a", "c"], generator.integers(-1, 2, (4, 2))).on(DOMAIN),
            count(b=1, c=1).on(DOMAIN),
            marginal("a").on(DOMAIN),
        ]
        singles = [one for q in asked for one in (q.queries() if isinstance(q, Marginal) else [q])]
        self.matrix = np.array([table_of(q, DOMAIN.names) for q in singles])
        self.features = HistoryFeatures.of(DOMAIN, asked)
        histogram = generator.multinomial(200, generator.dirichlet(np.full(DOMAIN.size, 0.5)))
        noise = generator.laplace(0.0, 10.0, len(singles))
        self.values = self.matrix @ histogram + noise
        self.law = law
        self.p0 = probabilities(PRIOR, DOMAIN.names)

    def constraints(self, alpha: float) -> Constraints:
        laws = [self.law] * len(self.values)
        return constraints_of(self.features, self.values, laws, total=TOTAL, alpha=alpha)

    def primal(self, alpha: float) -> tuple[Any, Reals]:
        """(objective of HIST eq. 41, its minimiser by SLSQP), over all cells."""
        found: Any
        shares, cells, m = self.values / TOTAL, len(self.p0), len(self.values)
        whole: Any = {"type": "eq", "fun": lambda z: z[:cells].sum() - 1.0}
        if self.law.laplace_scale:
            beta = alpha * TOTAL / self.law.laplace_scale

            def objective(p: Reals) -> float:
                return _relative(p, self.p0) + beta * float(np.abs(shares - self.matrix @ p).sum())

            def with_slack(z: Reals) -> float:
                return _relative(z[:cells], self.p0) + beta * float(z[cells:].sum())

            sides: list[Any] = [
                {
                    "type": "ineq",
                    "fun": lambda z, s=sign: z[cells:] - s * (shares - self.matrix @ z[:cells]),
                }
                for sign in (1.0, -1.0)
            ]
            start = np.r_[self.p0, np.abs(shares - self.matrix @ self.p0)]
            bounds: list[Any] = [(1e-12, 1.0)] * cells + [(0.0, None)] * m
            found = minimize(
                with_slack, start, bounds=bounds, constraints=[whole, *sides], **_PRECISE
            )
        else:
            factor = 0.5 * alpha * TOTAL**2 / self.law.variance

            def objective(p: Reals) -> float:
                return _relative(p, self.p0) + factor * float(
                    ((shares - self.matrix @ p) ** 2).sum()
                )

            bounds = [(1e-12, 1.0)] * cells
            found = minimize(objective, self.p0, bounds=bounds, constraints=[whole], **_PRECISE)
        return objective, found.x[:cells]


_PRECISE: dict[str, Any] = {"method": "SLSQP", "options": {"maxiter": 1000, "ftol": 1e-14}}


def _relative(p: Reals, p0: Reals) -> float:
    kept = np.maximum(p, 1e-300)
    return float(kept @ np.log(kept / p0))


@pytest.mark.parametrize("law", [Laplace(10.0), Gaussian(100.0)])
@pytest.mark.parametrize("alpha", [0.02, 0.3])
def test_theorem_6_the_dual_maximum_is_the_primal_minimum(law: NoiseLaw, alpha: float) -> None:
    case = Case(law)
    fit = fit_max_entropy(case.constraints(alpha), PRIOR, tolerance=1e-6)
    objective, cells = case.primal(alpha)
    mine = fit.distribution.marginal(DOMAIN.names).reshape(-1)
    np.testing.assert_allclose(mine, cells, atol=1e-5)
    assert objective(mine) == pytest.approx(objective(cells), abs=1e-6)
    assert fit.convergence.dual == pytest.approx(objective(cells), abs=1e-6)
    assert fit.convergence.converged


def test_theorem_5_the_fit_maximises_the_posterior_density() -> None:
    """ln Φ(p) + L(p) = H(p)/α + L(p) up to a constant, for the uniform base measure."""
    case, alpha, generator = Case(Laplace(10.0)), 0.3, np.random.default_rng(0)
    fit = fit_max_entropy(case.constraints(alpha), Prior(DOMAIN), tolerance=1e-6)
    best = fit.distribution.marginal(DOMAIN.names).reshape(-1)

    def log_posterior(p: Reals) -> float:
        entropy = -float(p @ np.log(p))
        off = np.abs(case.values / TOTAL - case.matrix @ p)
        return entropy / alpha - TOTAL / 10.0 * float(off.sum())

    for size in (1e-3, 1e-1):
        for _ in range(200):
            other = best * np.exp(size * generator.standard_normal(len(best)))
            assert log_posterior(other / other.sum()) <= log_posterior(best) + 1e-7


def test_the_gradient_of_the_dual_is_that_of_finite_differences() -> None:
    constraints = Case(Gaussian(100.0)).constraints(0.3)
    dual = Dual(constraints, PRIOR, tree_of(constraints))
    weights = np.random.default_rng(2).normal(0.0, 0.5, constraints.size)
    _, gradient = dual.value_and_gradient(weights)
    for place in range(constraints.size):
        moved = weights.copy()
        moved[place] += 1e-6
        above, _ = dual.value_and_gradient(moved)
        moved[place] -= 2e-6
        below, _ = dual.value_and_gradient(moved)
        assert gradient[place] == pytest.approx((above - below) / 2e-6, abs=1e-6)


def test_small_alpha_is_the_prior_and_large_alpha_the_answers() -> None:
    case = Case(Laplace(10.0))
    prior_like = fit_max_entropy(case.constraints(1e-6), PRIOR).distribution
    np.testing.assert_allclose(prior_like.marginal(DOMAIN.names).reshape(-1), case.p0, atol=1e-4)
    ages = Measurement(marginal("a").on(DOMAIN), Laplace(1.0), (20.0, 80.0, 40.0, 60.0))
    constraints = constraints_of_history(DOMAIN, [ages], total=TOTAL, alpha=math.inf)
    fitted = fit_max_entropy(constraints, PRIOR).distribution
    assert fitted.marginal(("a",)) == pytest.approx([0.1, 0.4, 0.2, 0.3], abs=1e-5)


def test_gibbs_marginals_agree_with_exact_ones() -> None:
    """N = 60,000 chains: every cell within 5 deviations; after no sweep at all it is not."""
    generator = np.random.default_rng(3)
    sets: list[tuple[str, ...]] = [("a", "b"), ("b", "c"), ("a", "c"), ("a", "b", "c")]
    tables = {own: generator.normal(0.0, 1.0, math.prod(DOMAIN.sizes(own))) for own in sets}
    logarithms = np.log(probabilities(PRIOR, DOMAIN.names)).reshape(DOMAIN.shape)
    for own, flat in tables.items():
        shape = [
            n if name in own else 1 for name, n in zip(DOMAIN.names, DOMAIN.shape, strict=True)
        ]
        logarithms = logarithms + flat.reshape(shape)
    exact = np.exp(logarithms).reshape(-1)
    exact /= exact.sum()
    chains = GibbsChains(GibbsPlan.of(DOMAIN, sets), PRIOR, 60_000, generator)
    limit = 5.0 * np.sqrt(exact * (1.0 - exact) / 60_000)
    assert (np.abs(counted(DOMAIN, chains.states, DOMAIN.names) - exact) > limit).any()
    chains.sweep(tables, 25)
    assert (np.abs(counted(DOMAIN, chains.states, DOMAIN.names) - exact) < limit).all()


def test_gibbs_survives_tables_out_of_range() -> None:
    generator = np.random.default_rng(4)
    plan = GibbsPlan.of(DOMAIN, [("a", "b"), ("a", "c")])
    tables: dict[tuple[str, ...], Reals] = {
        ("a", "b"): np.full(12, -900.0),
        ("a", "c"): np.full(8, -900.0),
    }
    tables[("a", "b")][5] = 0.0  # a = 1, b = 2, only from b = 2 or a = 1 in reach
    tables[("a", "c")][7] = 0.0  # a = 3, c = 1
    chains = GibbsChains(plan, Prior(DOMAIN), 500, generator)
    chains.sweep(tables, 5)
    assert ((chains.states >= 0) & (chains.states < DOMAIN.shape)).all()


def test_jumps_keep_the_distribution_and_cross_between_modes() -> None:
    """N = 20,000 chains all start in one of two modes that sweeps cannot leave."""
    generator = np.random.default_rng(5)
    domain = Domain(a=Integer(0, 1), b=Integer(0, 1))
    tables: dict[tuple[str, ...], Reals] = {("a", "b"): np.array([0.0, -60.0, -60.0, 0.0])}
    start = np.zeros((20_000, 2), np.int64)
    chains = GibbsChains(
        GibbsPlan.of(domain, [("a", "b")]), Prior(domain), 20_000, generator, start
    )
    chains.sweep(tables, 5)
    assert counted(domain, chains.states, ("a",))[0] == 1.0
    offered = np.repeat(generator.integers(0, 2, (20_000, 1)), 2, axis=1)
    even = np.full(20_000, math.log(0.5))
    chains.jump(tables, offered, even, even, generator)
    assert counted(domain, chains.states, ("a",))[0] == pytest.approx(0.5, abs=0.02)


WIDE = Domain(a=Integer(0, 5), b=Integer(0, 4), c=Integer(0, 3), d=Integer(0, 2))


@pytest.mark.parametrize("newton", [True, False])
def test_sampled_fits_agree_with_exact_ones(newton: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(6)
    pairs = [("a", "b"), ("a", "c"), ("a", "d"), ("b", "c"), ("b", "d"), ("c", "d")]
    truth = generator.dirichlet(np.full(WIDE.size, 0.3)).reshape(WIDE.shape)
    blocks = [marginal(*pair).on(WIDE) for pair in pairs]
    exact_counts = [
        2000.0
        * truth.sum(axis=tuple(i for i, n in enumerate(WIDE.names) if n not in pair)).reshape(-1)
        for pair in pairs
    ]
    values = np.concatenate(exact_counts)
    values = values + generator.normal(0.0, 20.0, len(values))
    laws = [Gaussian(400.0)] * len(values)
    constraints = constraints_of(
        HistoryFeatures.of(WIDE, blocks), values, laws, total=2000.0, alpha=0.1
    )
    if not newton:
        monkeypatch.setattr(sampled, "NEWTON_ROWS", 0)
    exact = fit_max_entropy(constraints)
    by_chains = fit_max_entropy(
        constraints, generator=generator, exact_cells=0, effort=SamplingEffort(8192, most_steps=40)
    )
    assert isinstance(by_chains.distribution, SampledDistribution)
    for pair in pairs:
        off = np.abs(by_chains.distribution.marginal(pair) - exact.distribution.marginal(pair))
        assert off.max() < 0.015
    assert by_chains.convergence.root_mean_square < 0.5
    assert "gibbs" in str(by_chains.convergence)


def test_a_warm_start_needs_fewer_steps() -> None:
    case = Case(Gaussian(100.0))
    cold = fit_max_entropy(case.constraints(0.3), PRIOR)
    warm = fit_max_entropy(case.constraints(0.3), PRIOR, start=cold)
    assert warm.convergence.steps < cold.convergence.steps
    np.testing.assert_allclose(warm.weights, cold.weights, atol=1e-2)


def test_a_warm_start_keeps_the_core_and_agrees_with_a_cold_one() -> None:
    pairs = [("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")]
    generator = np.random.default_rng(8)
    blocks = [marginal(*pair).on(WIDE) for pair in pairs]
    features = HistoryFeatures.of(WIDE, blocks)
    values = generator.gamma(1.0, 40.0, features.size)
    laws = [Gaussian(400.0)] * features.size

    def fitted(alpha: float, start: Fit | None = None) -> Fit:
        given = constraints_of(features, values, laws, total=2000.0, alpha=alpha)
        effort = SamplingEffort(4096, most_steps=30)
        source = np.random.default_rng(9)
        return fit_max_entropy(given, generator=source, exact_cells=0, effort=effort, start=start)

    first = fitted(0.05)
    warm, cold = fitted(0.1, first), fitted(0.1)
    assert warm.core is first.core
    assert cold.core is not first.core
    for pair in pairs:
        off = np.abs(warm.distribution.marginal(pair) - cold.distribution.marginal(pair))
        assert off.max() < 0.015
    # Tables that were not there before ask for a core of their own.
    more = HistoryFeatures.of(WIDE, [*blocks, marginal("b", "d").on(WIDE)])
    longer = np.concatenate([values, generator.gamma(1.0, 100.0, more.size - features.size)])
    given = constraints_of(more, longer, [Gaussian(400.0)] * more.size, total=2000.0, alpha=0.1)
    grown = fit_max_entropy(
        given, exact_cells=0, effort=SamplingEffort(256, most_steps=1), start=warm
    )
    assert grown.core is not None
    assert grown.core is not first.core


def test_senseless_constraints_are_refused() -> None:
    features = HistoryFeatures.of(DOMAIN, [count(a=1).on(DOMAIN)])
    with pytest.raises(EstimateError, match="number of records"):
        constraints_of(features, [1.0], [Laplace(1.0)], total=0.0)
    with pytest.raises(EstimateError, match="alpha"):
        constraints_of(features, [1.0], [Laplace(1.0)], total=1.0, alpha=0.0)
    with pytest.raises(EstimateError, match="one value"):
        constraints_of(features, [1.0, 2.0], [Laplace(1.0)], total=1.0)
    with pytest.raises(EstimateError, match="at least 1"):
        SamplingEffort(chains=0)


def test_questions_over_too_many_cells_are_left_out_and_named() -> None:
    wide = Domain({f"a{i}": Integer(0, 99) for i in range(5)})
    queries = [count({f"a{i}": (0, 49) for i in range(5)}).on(wide), count(a0=(0, 9)).on(wide)]
    laws = [Laplace(1.0)] * 2
    constraints = constraints_of(HistoryFeatures.of(wide, queries), [5.0, 20.0], laws, total=100.0)
    assert constraints.left_out == (0,)
    share = fit_max_entropy(constraints).distribution.expectation(queries[1])
    assert share == pytest.approx(0.2, abs=1e-3)
