"""Plans: what is measured, with which noise, on which grid."""

from __future__ import annotations

from fractions import Fraction

import pytest

from eke.domain import Domain, Integer
from eke.errors import PrivacyError
from eke.planning import Part, Plan, part_for
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, Laplace
from eke.privacy.pure import PURE
from eke.query import count, marginal, total

DOMAIN = Domain(a=Integer(0, 4))


@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
@pytest.mark.parametrize("noise_scale", [1e-80, 3e-7, 0.1, 1.0, 54.3, 1e9, 1e15])
@pytest.mark.parametrize("query", [count(a=1), total("a") / 7, count() * 1000])
def test_noise_is_at_least_what_is_asked_and_hardly_more(measure, noise_scale, query):
    asked = query.on(DOMAIN)
    plan = part_for(asked, noise_scale, measure)
    scale = plan.law.steps * Fraction(2) ** plan.law.exponent
    widest = 2**53 * Fraction(2) ** asked.exponent
    wanted = min(Fraction(noise_scale), widest)
    assert wanted <= scale <= wanted * (1 + Fraction(1, 2**20))
    assert plan.law.exponent <= asked.exponent, "answers lie on the grid of the noise"
    assert isinstance(plan.law, DiscreteLaplace if measure == PURE else DiscreteGaussian)


def test_noise_wider_than_can_be_drawn_is_cut():
    asked = (count() / 3).on(DOMAIN)
    for noise_scale in (1e30, 1e90):
        plan = part_for(asked, noise_scale, PURE)
        assert plan.law.steps == 2**53
        assert plan.law.exponent == asked.exponent


@pytest.mark.parametrize(
    "asked", [count(a=1), total("a") / 7, marginal("a"), marginal("a", of=total("a"))]
)
@pytest.mark.parametrize("measure", [PURE, CONCENTRATED])
def test_a_plan_survives_writing_down(asked, measure):
    plan = Plan((part_for(asked.on(DOMAIN), 3.7, measure), part_for(asked.on(DOMAIN), 9, measure)))
    assert Plan.from_document(DOMAIN, plan.to_document()) == plan


def test_bad_plans_are_refused():
    law = DiscreteLaplace(10, 0)
    with pytest.raises(PrivacyError, match="constant"):
        Part((count() + 1).on(DOMAIN), law)
    with pytest.raises(PrivacyError, match="always zero"):
        Part((count() - count()).on(DOMAIN), law)
    with pytest.raises(PrivacyError, match="grid"):
        Part((count() / 2).on(DOMAIN), law)
    document = {"query": count().on(DOMAIN).to_document(), "law": Laplace(3.0).to_json()}
    with pytest.raises(PrivacyError, match="discrete"):
        Plan.from_document(DOMAIN, {"parts": [document]})
    with pytest.raises(PrivacyError, match="at least one"):
        Plan(())
