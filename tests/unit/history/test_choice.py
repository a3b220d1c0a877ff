"""Choices: what may be chosen, how far off it is, and its document."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from eke.domain import Categorical, Domain, Integer
from eke.errors import EkeError, PrivacyError
from eke.history import ChosenStep, RankChoice
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace
from eke.query import count, total

DOMAIN = Domain(x=Integer(0, 99), sex=Categorical("F", "M"))
HALF, LAW = Fraction(1, 2), DiscreteLaplace(40, -2)


def choice(share: Fraction = HALF, law: DiscreteLaplace = LAW) -> RankChoice:
    return RankChoice(count(sex="F").on(DOMAIN), "x", share, law)


def test_a_document_and_back():
    for one in (choice(), choice(Fraction(999, 1000), DiscreteLaplace(3, 0))):
        document = json.loads(json.dumps(one.to_document()))
        assert RankChoice.from_document(DOMAIN, document) == one


@pytest.mark.parametrize(
    ("share", "reach"), [(HALF, 1), (Fraction(9, 10), 9), (Fraction(1, 10), 9), (Fraction(2, 3), 2)]
)
def test_reach_and_scale(share, reach):
    assert choice(share).reach == reach
    assert choice(share).scale == 10
    assert choice().needed == ("x", "sex")


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999999])
@pytest.mark.parametrize("scale", [1, 7, 300])
def test_the_rank_error_holds_for_the_worst_scores_and_is_the_least_that_does(confidence, scale):
    """One step is best and all others are as far off as may be: the chance to be further off."""
    one = choice(Fraction(9, 10), DiscreteLaplace(scale, 0))
    score = int(one.rank_error(confidence) * 10)
    others = 99

    def chance(off: int) -> float:
        weights = others * np.exp(-off / scale)
        return float(weights / (1.0 + weights))

    assert chance(score + 1) <= 1.0 - confidence
    assert score == 0 or chance(score) > 1.0 - confidence


def test_a_column_of_one_value_is_never_off():
    domain = Domain(x=Integer(5, 5))
    only = RankChoice(count().on(domain), "x", HALF, DiscreteLaplace(10**6, 0))
    assert only.rank_error(0.999999) == 0
    assert ChosenStep(only, 0).value == 5.0


def test_like_choices_are_of_the_same_records_and_share():
    other = RankChoice(count(sex="M").on(DOMAIN), "x", HALF, LAW)
    assert choice().is_like(choice(law=DiscreteLaplace(3, 0)))
    assert not choice().is_like(other)
    assert not choice().is_like(choice(Fraction(1, 3)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"counted": total("x").on(DOMAIN)},
        {"counted": (2 * count()).on(DOMAIN)},
        {"counted": (count() + 1).on(DOMAIN)},
        {"counted": (count() - count()).on(DOMAIN)},
        {"attribute": "nobody"},
        {"share": Fraction(1)},
        {"share": 0.5},
        {"share": Fraction(1, 10**7)},
        {"law": DiscreteGaussian(3, 0)},
    ],
)
def test_what_cannot_be_chosen_is_refused(wrong):
    given = {"counted": count().on(DOMAIN), "attribute": "x", "share": HALF, "law": LAW}
    with pytest.raises(EkeError):
        RankChoice(**{**given, **wrong})


@pytest.mark.parametrize("step", [-1, 100, 1.0, True])
def test_a_chosen_step_is_one_of_the_column(step):
    with pytest.raises(PrivacyError):
        ChosenStep(choice(), step)
