"""Quantiles from history: the slow twin asks about every step, and takes bounds for tests."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import eke
from benchmarks.quantiles import _crossings, _least_squares, _levels
from eke.history import Measurement
from eke.inference import Inference, Survey, halfwidth
from eke.privacy.law import DiscreteLaplace
from eke.question.ladder import Ladder
from tests.parts import in_long

DOMAIN = eke.Domain(sex=eke.Categorical("F", "M"), age=eke.Integer(0, 39, null="bucket"))
COUNTS = np.random.default_rng(3).integers(0, 60, (2, 41))
LAW = DiscreteLaplace(20 * 2**10, -10)


def measured(inference, expressions, rng):
    for expression in expressions:
        query = expression.on(DOMAIN)
        exact = 0.0
        for term in query.terms:
            vectors = dict(term.factors)
            sexes = vectors.get("sex", np.ones(2))
            exact += float(term.weight) * float(
                sexes @ COUNTS @ vectors.get("age", np.ones(COUNTS.shape[1]))
            )
        inference.extend(Measurement(query, LAW, (exact + rng.laplace(scale=20.0),)))
    return inference


def slow_interval(inference, counted, ladder, confidence):
    """As the proof writes it: one-sided bounds at every step that history determines."""
    share = ladder.share
    bounds = {}
    for step in range(ladder.last):
        known = inference.linear(ladder.tilted(counted, step))
        if known is not None:
            width = halfwidth(known[1], confidence)
            bounds[step] = known[0] - width, known[0] + width
    below = share.numerator if ladder.is_between else 0
    beyond = share.denominator - share.numerator if ladder.is_between else 0
    cuts = [-1, *bounds, ladder.last]
    low = next((k for k in bounds if bounds[k][1] >= -below), ladder.last)
    high = next((k for k in reversed(bounds) if bounds[k][0] <= beyond), -1)
    return cuts[cuts.index(low) - 1] + 1, cuts[cuts.index(high) + 1]


@pytest.mark.parametrize("is_between", [True, False])
@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 20), in_long(Fraction(9, 10))])
def test_the_interval_is_that_of_the_slow_twin(share, is_between):
    rng = np.random.default_rng(5)
    edges = [0, 4, 9, 10, 11, 12, 15, 17, 18, 19, 20, 21, 22, 26, 30, 33, 35, 36, 38, 39]
    parts = [eke.count(age=(a, b - 1)) for a, b in pairwise(edges)]
    inference = measured(
        Inference(DOMAIN), [*parts, eke.count(age=39), eke.count(age=(0, 14))], rng
    )
    counted = eke.query.expression.present("age", {}).on(DOMAIN)
    ladder = Ladder.of_column(DOMAIN, "age", share, is_between=is_between)
    known = Survey(inference, ladder).posterior(counted)
    for confidence in (0.5, 0.8, 0.95, 0.99):
        assert known.steps(confidence) == slow_interval(inference, counted, ladder, confidence)
    assert known.steps(0.5)[0] <= known.value <= known.steps(0.5)[1]


def test_history_about_others_says_nothing():
    rng = np.random.default_rng(5)
    women = [eke.count(age=(a, a + 9), sex="F") for a in (0, 10, 20, 30)]
    inference = measured(Inference(DOMAIN), women, rng)
    ladder = Ladder.of_column(DOMAIN, "age", Fraction(1, 2), is_between=False)
    survey = Survey(inference, ladder)
    men = eke.query.expression.present("age", {"sex": "M"}).on(DOMAIN)
    assert survey.posterior(men).steps(0.95) == (0, 39)
    assert survey.posterior(men).records is None
    own = eke.query.expression.present("age", {"sex": "F"}).on(DOMAIN)
    assert survey.posterior(own).cuts.tolist() == [9, 19, 29]


def test_other_people_s_ranges_help():
    """Counts of women and of men, by different people, tell about everyone."""
    rng = np.random.default_rng(6)
    both = [eke.count(age=(a, a + 9), sex=sex) for a in (0, 10, 20, 30) for sex in ("F", "M")]
    inference = measured(Inference(DOMAIN), both, rng)
    ladder = Ladder.of_column(DOMAIN, "age", Fraction(1, 2), is_between=False)
    everyone = eke.query.expression.present("age", {}).on(DOMAIN)
    known = Survey(inference, ladder).posterior(everyone)
    assert known.cuts.tolist() == [9, 19, 29]
    assert known.records is not None


def test_the_tree_of_the_benchmark_is_least_squares():
    """Both passes of Hay et al. against a dense solution, on a size that is no power of sixteen."""
    rng = np.random.default_rng(7)
    counts = rng.integers(0, 50, 91)
    levels = _levels(counts)
    assert [len(level) for level in levels] == [91, 6]
    noisy = [level + rng.laplace(scale=9.0, size=len(level)) for level in levels]
    ranges = np.zeros((6, 91))
    ranges[np.arange(91) // 16, np.arange(91)] = 1.0
    design = np.concatenate([np.eye(91), ranges])
    dense = np.linalg.lstsq(design, np.concatenate(noisy), rcond=None)[0]
    assert _least_squares(noisy, 91) == pytest.approx(dense)
    assert _crossings(counts.astype(float), [0.5])[0] == int(
        np.searchsorted(np.cumsum(counts), 0.5 * counts.sum())
    )
