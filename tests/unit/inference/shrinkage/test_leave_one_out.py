"""Leaving one answer out equals solving without it, and picks a good α."""

from __future__ import annotations

import numpy as np
import pytest

from eke.errors import EstimateError
from eke.inference.shrinkage import (
    ConjugateGradients,
    Evidence,
    Factorisation,
    Shrinkage,
    Total,
    evidence_of_blocks,
)
from eke.inference.shrinkage.leave_one_out import (
    choose_alpha_by_sample,
    predictions,
    spread_rows,
)
from tests.unit.inference.shrinkage.blocks.histories import (
    ALPHA,
    DOMAIN,
    PRIOR,
    history,
    questions,
)


@pytest.mark.parametrize("total", ["estimated", "ignored", 400.0])
@pytest.mark.parametrize("alpha", [2.0, ALPHA])
def test_predictions_are_those_of_the_history_without_the_answer(
    total: Total, alpha: float
) -> None:
    measurements = history(np.random.default_rng(1), varied=False)
    evidence = evidence_of_blocks(DOMAIN, measurements, PRIOR, total, least_block=2)
    rows = np.array([0, 7, 33, evidence.size - 1], np.intp)
    found = predictions(ConjugateGradients(evidence).at(alpha), rows)
    apart = [
        type(one)(query, one.law, (value,))
        for one in measurements
        for query, value in ((row.query, row.value) for row in one.rows())
    ]
    for place, row in enumerate(rows):
        # Blocks come first among the rows here, as they do in this history.
        others = [one for index, one in enumerate(apart) if index != row]
        left = Shrinkage(Factorisation(Evidence.of_history(DOMAIN, others, PRIOR, total)), alpha)
        (query, (value,), law) = (apart[row].query, apart[row].values, apart[row].law)
        expected = left.estimate([query])
        off = (float(expected.values[0]) - value) ** 2 - law.variance
        assert found.errors[place] == pytest.approx(off, rel=1e-5, abs=1e-5)
        assert found.noise_variances[place] == pytest.approx(
            float(expected.noise_variances[0]), rel=1e-5, abs=1e-7
        )
        assert found.model_variances[place] == pytest.approx(
            float(expected.model_variances[0]), rel=1e-5, abs=1e-5
        )


@pytest.mark.parametrize(
    ("number", "most"), [(6, 0.2), pytest.param(20, 0.1, marks=pytest.mark.long)]
)
def test_the_choice_costs_little_more_than_knowing_alpha(number: int, most: float) -> None:
    """N tables drawn from the prior with α = 30, the best there is on average.

    The estimates at the chosen α are off those at 30 by less than a tenth of their variance, on
    average of 20, and less than a fifth of it, of 6. Positive control: at a thirtieth and at thirty
    times of it they are off by a fifth.
    """
    generator = np.random.default_rng(2)
    sums = dict.fromkeys(("sample", "small", "large"), 0.0)
    for _ in range(number):
        measurements = history(generator, varied=False)
        evidence = Evidence.of_history(DOMAIN, measurements, PRIOR)
        large = evidence_of_blocks(DOMAIN, measurements, PRIOR, least_block=2)
        tried = {
            "sample": choose_alpha_by_sample(ConjugateGradients(large)).alpha,
            "small": ALPHA / 30.0,
            "large": ALPHA * 30.0,
        }
        asked = questions(generator)
        solver = Factorisation(evidence)
        best = Shrinkage(solver, ALPHA)
        for name, alpha in tried.items():
            # How far from the estimate at the true α, in units of its own error.
            off = Shrinkage(solver, alpha).estimate(asked).values - best.estimate(asked).values
            sums[name] += float((off**2 / best.estimate(asked).variances).mean()) / number
    assert sums["sample"] < most
    assert min(sums["small"], sums["large"]) > 0.2


def test_the_curve_and_its_sample_are_reported() -> None:
    measurements = history(np.random.default_rng(3), varied=True)
    evidence = evidence_of_blocks(DOMAIN, measurements, PRIOR, least_block=2)
    told: list[tuple[str, float]] = []
    solver = ConjugateGradients(evidence)
    choice = choose_alpha_by_sample(
        solver, sample=20, progress=lambda what, done: told.append((what, done))
    )
    assert choice.convergence is not None
    assert choice.convergence.converged
    assert (np.diff(choice.alphas) > 0).all()
    assert choice.least_error == choice.mean_squared_errors.min()
    assert choice.alpha in choice.alphas
    assert choice.inflation >= 1.0
    assert told[0] == ("choosing alpha", 0.0)
    assert told[-1] == ("choosing alpha", 1.0)
    assert [done for _, done in told] == sorted(done for _, done in told)
    with pytest.raises(EstimateError, match="sample"):
        choose_alpha_by_sample(solver, sample=1)


def test_error_bars_grow_when_the_prior_promises_too_much() -> None:
    measurements = history(np.random.default_rng(4), varied=False)
    evidence = evidence_of_blocks(DOMAIN, measurements, PRIOR, least_block=2)
    rows = spread_rows(evidence.size, 40)
    solver = ConjugateGradients(evidence)
    assert predictions(solver.at(ALPHA / 100.0), rows).inflation > 10.0
    assert predictions(solver.at(ALPHA * 100.0), rows).inflation == 1.0


@pytest.mark.parametrize(("size", "sample"), [(5, 10), (1000, 64), (1_000_000, 256), (257, 256)])
def test_rows_left_out_are_different_and_spread(size: int, sample: int) -> None:
    rows = spread_rows(size, sample)
    assert len(rows) == len(set(rows.tolist())) == min(size, sample)
    assert rows.min() >= 0
    assert rows.max() < size
    widest = int(np.diff(rows).max(initial=0))
    assert widest <= 4 * max(1, size // sample)


def test_a_rough_alpha_explains_the_deviations() -> None:
    measurements = history(np.random.default_rng(5), varied=False)
    for total in ("estimated", 400.0):
        evidence = evidence_of_blocks(DOMAIN, measurements, PRIOR, total, least_block=2)
        assert ALPHA / 4.0 < evidence.rough_alpha() < ALPHA * 4.0
