"""Factorisation and conjugate gradients solve the same histories alike, and like all cells do.

The slow twin conditions a Gaussian over every cell. Blocks have one or two attributes,
so that the preconditioner is the inverse, and conjugate gradients are as exact as rounding is; what
they may leave where blocks share more is tested beside `solver.py`.
"""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.history import Measurement
from eke.inference.features import probabilities, table_of
from eke.inference.shrinkage import (
    ConjugateGradients,
    Evidence,
    Factorisation,
    Shrinkage,
    Solver,
    Total,
    evidence_of_blocks,
)
from eke.inference.shrinkage.leave_one_out import predictions
from eke.privacy.law import Gaussian, Laplace, NoiseLaw
from eke.query import Block, Prior, Query, count, marginal
from tests.parts import law

Reals = NDArray[np.float64]
DOMAIN = Domain(a=Integer(0, 3), b=Integer(0, 2), c=Integer(0, 4))
PRIOR = Prior(DOMAIN, {"a": [1, 2, 3, 4], "c": [5, 1, 1, 2, 1]})
P0 = probabilities(PRIOR, DOMAIN.names)
RELATIVE = 1e-8  # of the standard error, or of the variance


@st.composite
def histories(draw: st.DrawFn) -> list[Measurement]:
    """A count, marginals of one or two attributes and ranges, some of them asked twice."""
    names = st.sets(st.sampled_from(DOMAIN.names), min_size=1, max_size=2)
    blocks: list[Block] = [
        marginal(*DOMAIN.in_order(chosen)).on(DOMAIN)
        for chosen in draw(st.lists(names, min_size=1, max_size=4))
    ]
    blocks += [count().on(DOMAIN), *draw(st.lists(ranges(), max_size=4))]
    measured = []
    for block in blocks:
        laws: list[NoiseLaw] = [Laplace(1.0), Laplace(3.0), Gaussian(4.0)]
        law = draw(st.sampled_from(laws))
        numbers = st.integers(-50, 500).map(float)
        size = block.cells
        values = draw(st.lists(numbers, min_size=size, max_size=size))
        measured.append(Measurement(block, law, tuple(values)))
    return measured


@st.composite
def ranges(draw: st.DrawFn) -> Query:
    """A count over a range of one attribute and a value of another."""
    low, high = sorted(draw(st.tuples(st.integers(0, 3), st.integers(0, 3))))
    return count(a=(low, high), c=draw(st.integers(0, 4))).on(DOMAIN)


def solvers(measured: list[Measurement], total: Total) -> tuple[Solver, Solver]:
    """The same history for each."""
    dense = Evidence.of_history(DOMAIN, measured, PRIOR, total)
    blocks = evidence_of_blocks(DOMAIN, measured, PRIOR, total, least_block=2)
    return Factorisation(dense), ConjugateGradients(blocks)


def over_all_cells(
    measured: list[Measurement], asked: list[Query], alpha: float, total: float
) -> tuple[Reals, Reals]:
    """(mean, variance) of questions, a Gaussian over the cells conditioned on every answer."""
    singles = [one for each in measured for one in each.query.queries()]
    matrix, questions = (
        np.array([table_of(query, DOMAIN.names) for query in queries])
        for queries in (singles, asked)
    )
    noise = np.array([each.law.variance for each in measured for _ in each.values])
    values = np.array([value for each in measured for value in each.values])
    spread = alpha**2 * (np.diag(P0) - np.outer(P0, P0))
    gain = np.linalg.solve(matrix @ spread @ matrix.T + np.diag(noise), matrix @ spread).T
    mean = total * P0 + gain @ (values - total * matrix @ P0)
    left = spread - gain @ matrix @ spread
    return questions @ mean, np.einsum("ij,jk,ik->i", questions, left, questions)


@law(
    histories(),
    st.lists(ranges(), min_size=1, max_size=3),
    st.floats(1.0, 100.0),
    st.sampled_from(["estimated", "ignored", 300.0]),
    few=25,
    many=100,
)
def test_both_solvers_agree(
    measured: list[Measurement], asked: list[Query], alpha: float, total: Total
) -> None:
    exact, stepwise = (Shrinkage(one, alpha) for one in solvers(measured, total))
    expected, found = exact.estimate(asked), stepwise.estimate(asked)
    scale = 1.0 + np.sqrt(expected.variances) + np.abs(expected.values)
    assert (np.abs(found.values - expected.values) <= RELATIVE * scale).all()
    np.testing.assert_allclose(found.variances, expected.variances, rtol=RELATIVE)
    for query in asked:
        ours, theirs = (one.posterior(query).interval(0.9) for one in (exact, stepwise))
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-7)


@law(
    histories(),
    st.lists(ranges(), min_size=1, max_size=3),
    st.floats(1.0, 100.0),
    few=25,
    many=100,
)
def test_both_are_the_gaussian_over_all_cells(
    measured: list[Measurement], asked: list[Query], alpha: float
) -> None:
    mean, variance = over_all_cells(measured, asked, alpha, 300.0)
    other = over_all_cells(measured, asked, 2.0 * alpha, 300.0)[1]
    for solver in solvers(measured, 300.0):
        found = Shrinkage(solver, alpha).estimate(asked)
        np.testing.assert_allclose(found.values, mean, rtol=1e-7, atol=1e-6)
        np.testing.assert_allclose(found.variances, variance, rtol=1e-7, atol=1e-8 * alpha**2)
    # A control: at another α the same comparison fails.
    assert not np.allclose(other, variance, rtol=1e-3, atol=0.0)


@settings(deadline=None, max_examples=30)
@given(histories(), st.sampled_from(["estimated", 300.0]))
def test_answers_left_out_are_predicted_alike(measured: list[Measurement], total: Total) -> None:
    """Of answers measured once; others are one row for one solver and two for the other."""
    once = list({each.query: each for each in measured}.values())
    blocks = sorted(once, key=lambda each: each.query.is_single)  # as the second solver has them
    rows = np.arange(sum(len(each.values) for each in blocks), dtype=np.intp)
    expected, found = (predictions(one.at(20.0), rows) for one in solvers(blocks, total))
    for name in ("errors", "noise_variances", "model_variances"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)
