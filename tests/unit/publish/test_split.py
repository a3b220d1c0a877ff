"""Noise for a budget: never dearer than it, and wiser than the same for all."""

from __future__ import annotations

import numpy as np
import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import PrivacyError
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.publish.features import features_of
from eke.publish.moments import statistics_for
from eke.publish.split import CLASS_WEIGHT, check_split, noise_scales, plan_within, price_alone

DOMAIN = Domain(
    a=Integer(0, 9),
    c=Categorical(*(str(i) for i in range(12))),
    d=Categorical("u", "v"),
    t=Categorical("no", "yes"),
)
STATISTICS = statistics_for(features_of(DOMAIN, ["a", "c", "d"]), "t", count=False).statistics


@pytest.mark.parametrize("split", ["expected_error", "paper"])
@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
@pytest.mark.parametrize("budget", [NANO // 1000, NANO, 20 * NANO])
def test_the_price_is_the_budget_and_not_more(split, measure, neighbours, budget):
    terms = {"domain": DOMAIN, "measure": measure, "neighbours": neighbours}
    plan = plan_within(STATISTICS, split, budget, **terms)
    price = price_alone(plan.parts, enough=budget, **terms)
    assert 0.999 * budget < price <= budget
    assert len(plan.parts) == len(STATISTICS)


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
def test_the_split_by_error_has_the_least_error(measure):
    def error(scales: list[float]) -> float:
        weights = [s.cells * (CLASS_WEIGHT if s.by_class else 1.0) for s in STATISTICS]
        return float(sum(w * b * b for w, b in zip(weights, scales, strict=True)))

    best = noise_scales(STATISTICS, "expected_error", 1.0, measure, "replace_one")
    assert error(best) < error(noise_scales(STATISTICS, "paper", 1.0, measure, "replace_one"))
    rng = np.random.default_rng(1)
    power = 1 if measure == PURE else 2
    changes = [2.0 if s.cells > 1 else 1.0 for s in STATISTICS]

    def loss(scales: np.ndarray) -> float:
        return float(sum(c / b**power for c, b in zip(changes, scales, strict=True)))

    for _ in range(200):
        other = np.array(best) * np.exp(rng.normal(0, 0.2, len(best)))
        other *= (loss(other) / loss(np.array(best))) ** (1 / power)
        assert error(list(other)) >= error(best) * (1 - 1e-9)


def test_a_budget_for_nothing_is_refused():
    with pytest.raises(PrivacyError, match="too small"):
        plan_within(STATISTICS, "paper", 1, domain=DOMAIN, measure=PURE, neighbours="add_remove")


def test_an_unknown_split_is_refused():
    with pytest.raises(PrivacyError, match="expected_error, paper"):
        check_split("halves")
