"""Knowing the number of records makes errors smaller and keeps what they promise.

Recovery is linear, so its errors are compared with dense least squares, exactly. Intervals of
shrinkage are counted: N = 100 histories with fixed seeds, 400 in the long part, 24 questions each.
With a wrong number the same checks fail.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from eke.inference.features import HistoryFeatures
from eke.inference.shrinkage import Evidence, Factorisation, Noise, Shrinkage
from eke.planning import ReleasePlan, Workload, plan_release
from eke.planning.workload.release.queries import workload_matrix
from eke.planning.workload.workload import all_marginals, marginals_up_to, prefixes, ranges
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import Gaussian
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.query import Marginal, count, marginal
from tests.parts import in_long
from tests.unit.planning.cubes import answers_split, cube, noise_of, strategy_of

FloatArray = NDArray[np.float64]

HISTORIES = [100, in_long(400)]
DOMAIN = cube(6, 4)
WORKLOADS: dict[str, Callable[[], Workload]] = {
    "all cells": lambda: all_marginals(DOMAIN, 2),
    "single attributes": lambda: all_marginals(DOMAIN, 1),
    "up to pairs": lambda: marginals_up_to(DOMAIN, 2),
    "ranges": lambda: ranges(DOMAIN, "a"),
    "boxes": lambda: prefixes(DOMAIN, "a", "b"),
    "questions": lambda: Workload.of(
        DOMAIN, [count(a="v1").on(DOMAIN), count(b="v2").on(DOMAIN), count().on(DOMAIN)]
    ),
}


def affine(plan: ReleasePlan, *, known: bool) -> tuple[FloatArray, FloatArray, FloatArray]:
    """(values, stated variances, matrix): recovery is matrix · answers + values · number."""
    size = len(noise_of(plan))

    def recovered(answers: FloatArray, total: float | None) -> tuple[FloatArray, FloatArray]:
        tables = plan.recover(answers_split(plan, answers), total)
        spread = [np.broadcast_to(t.variance, t.values.shape).reshape(-1) for t in tables]
        return np.concatenate([t.values.reshape(-1) for t in tables]), np.concatenate(spread)

    values, stated = recovered(np.zeros(size), 1.0 if known else None)
    columns = [recovered(unit, 0.0 if known else None)[0] for unit in np.eye(size)]
    return values, stated, np.array(columns).T


def best_variances(plan: ReleasePlan, questions: FloatArray) -> FloatArray:
    """Of dense least squares given the number of records: C − C·1·1ᵀC / 1ᵀC1."""
    rows = strategy_of(plan) / np.sqrt(noise_of(plan))[:, None]
    covariance = np.linalg.pinv(rows.T @ rows, rcond=1e-9)
    with_total = covariance.sum(axis=1)
    covariance -= np.multiply.outer(with_total, with_total) / with_total.sum()
    return np.asarray(np.einsum("ij,jk,ik->i", questions, covariance, questions))


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("kind", WORKLOADS)
def test_recovery_with_a_known_number_is_the_best_one(kind: str, measure: Measure) -> None:
    workload = WORKLOADS[kind]()
    plan = plan_release(workload, measure=measure, budget=0.5)
    questions = workload_matrix(workload, DOMAIN.names)
    values, stated, matrix = affine(plan, known=True)
    # Unbiased: what answers and number say together is the question, whatever the table.
    told = matrix @ strategy_of(plan) + np.multiply.outer(values, np.ones(DOMAIN.size))
    assert np.allclose(told, questions, atol=1e-8)
    assert np.allclose(matrix**2 @ noise_of(plan), stated, rtol=1e-6, atol=1e-8)
    assert np.allclose(stated, best_variances(plan, questions), rtol=1e-6, atol=1e-8)
    _, before, _ = affine(plan, known=False)
    assert (stated <= before * (1.0 + 1e-12)).all()
    assert stated.sum() < before.sum()


def test_spreading_the_difference_evenly_would_not_do() -> None:
    """The control: on ranges it adds up to the number, too, but is not the best."""
    plan = plan_release(ranges(DOMAIN, "a"), measure=CONCENTRATED, budget=0.5)
    questions = workload_matrix(plan.workload, DOMAIN.names)
    _, _, matrix = affine(plan, known=False)
    share = questions.sum(axis=1, keepdims=True) / DOMAIN.size
    whole = questions.sum(axis=1).argmax()
    spread = matrix - share * matrix[whole]
    variances = spread**2 @ noise_of(plan)
    assert not np.allclose(variances, best_variances(plan, questions), rtol=1e-6, atol=1e-8)


def shrinkage_coverage(told: float | None, histories: int) -> tuple[float, float]:
    """(share of intervals at 90 % that hold the truth, mean half-width) over all histories.

    The table is drawn from the prior that the estimator believes in, with 1,000 records; `told` is
    the number that the estimator is told, or None when it has to estimate it.
    """
    rng = np.random.default_rng(20240607)
    alpha, records, noise = 12.0, 1000.0, 15.0
    measured: list[Marginal] = [marginal("a").on(DOMAIN), marginal("b").on(DOMAIN)]
    features = HistoryFeatures.of(DOMAIN, measured)
    cells = np.array([list(q.queries()) for q in [marginal("a", "b").on(DOMAIN)]]).reshape(-1)
    asked = HistoryFeatures.of(DOMAIN, list(cells))
    hits, widths = [], []
    for _ in range(histories):
        deviation = rng.normal(size=DOMAIN.shape) * alpha / math.sqrt(DOMAIN.size)
        table = records / DOMAIN.size + deviation - deviation.mean()
        truth = np.concatenate([table.sum(axis=1), table.sum(axis=0)])
        values = truth + rng.normal(size=len(truth)) * noise
        laws = Noise.of_laws([Gaussian(noise**2)] * len(truth))
        evidence = Evidence.of(features, values, laws, total="estimated" if told is None else told)
        found = Shrinkage(Factorisation(evidence), alpha).estimate(asked)
        half = 1.6449 * np.sqrt(found.variances)
        hits.append(np.abs(found.values - table.reshape(-1)) <= half)
        widths.append(half)
    return float(np.mean(hits)), float(np.mean(widths))


@pytest.mark.parametrize("histories", HISTORIES)
def test_intervals_with_a_known_number_are_narrower_and_hold(histories: int) -> None:
    unknown, wide = shrinkage_coverage(None, histories)
    known, narrow = shrinkage_coverage(1000.0, histories)
    assert narrow < wide
    # 9,600 intervals: four deviations are 1.2 points, and they are little correlated.
    most = 0.02 * (400 / histories) ** 0.5
    assert abs(known - 0.9) < most
    assert abs(unknown - 0.9) < most


@pytest.mark.parametrize("histories", HISTORIES)
def test_a_wrong_number_is_noticed(histories: int) -> None:
    """The control: told 1.3 times the number, the same intervals miss."""
    wrong, _ = shrinkage_coverage(1300.0, histories)
    assert wrong < 0.5
