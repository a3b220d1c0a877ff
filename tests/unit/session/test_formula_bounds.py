"""Averages that noise puts beyond what is possible look no more certain than others."""

from __future__ import annotations

import pytest

import eke
from eke.history import Measurement
from eke.inference import FormulaPosterior, Inference, Joint
from eke.privacy.law import Laplace
from eke.question import Aggregate
from eke.question.formula import Operation
from tests.unit.session.conftest import DOMAIN

AVERAGE = Operation("/", Aggregate(0), Aggregate(1))


def posterior(total: float, *, bounded: bool = True) -> FormulaPosterior:
    """What is known of an average by noisy answers: a total, and some 270 records."""
    queries = [eke.total("age", sex="Male").on(DOMAIN), eke.count(sex="Male").on(DOMAIN)]
    laws = [Laplace(100.0), Laplace(5.0)]
    answers = [(total,), (270.0,)]
    known = [Measurement(*one) for one in zip(queries, laws, answers, strict=True)]
    joint = Joint.of(Inference(DOMAIN, known), queries)
    assert joint is not None
    return FormulaPosterior(AVERAGE, joint, 1, *([(17.0, 26.0)] if bounded else []))


@pytest.mark.parametrize("value", [-90.0, 10.0, 16.9, 17.5, 21.5, 25.9, 26.1, 30.0, 400.0])
def test_an_interval_that_is_cut_is_never_nearly_a_point(value):
    cut, whole = posterior(value * 270.0), posterior(value * 270.0, bounded=False)
    low, high = cut.interval(0.95)
    first, last = whole.interval(0.95)
    half = whole.halfwidth(0.95)
    assert 17.0 <= low <= cut.value <= high <= 26.0
    assert low <= max(first, 17.0) or high >= min(last, 26.0)
    assert high - low >= min(half, 9.0) * (1.0 - 1e-9)
    assert cut.halfwidth(0.95) == pytest.approx(min(half, 4.5))  # what ends measuring is not cut
