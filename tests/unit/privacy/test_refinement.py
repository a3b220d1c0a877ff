"""What refining costs and what it is worth, from the laws before and after it."""

from __future__ import annotations

import json
import math
from fractions import Fraction

import numpy as np
import pytest

from eke.errors import PrivacyError
from eke.privacy.law import DiscreteGaussian, DiscreteLaplace, charged_from_json, noise_in
from eke.privacy.record_loss import NANO
from eke.privacy.refinement import Earlier, Refinement, charged, earlier_from_json

REFINEMENTS = [Refinement(3, 0, 7), Refinement(1, -2, 2), Refinement(2**20, -17, 2**21 + 5)]


@pytest.mark.parametrize("law", REFINEMENTS, ids=str)
def test_both_together_cost_what_the_finer_costs_alone(law: Refinement) -> None:
    for coefficient in (Fraction(0), Fraction(1), Fraction(-5, 4), Fraction(3)):
        scales = [steps * Fraction(2) ** law.exponent for steps in (law.steps, law.before)]
        exact = NANO * abs(coefficient) * (1 / scales[0] - 1 / scales[1])
        assert law.loss_nano(coefficient) == math.ceil(exact)
        together = law.loss_nano(coefficient) + law.coarse.loss_nano(coefficient)
        assert law.fine.loss_nano(coefficient) <= together <= law.fine.loss_nano(coefficient) + 1
    table = np.array([[0, 1], [-5, 12]])
    losses = law.loss_nano_array(table, -2)
    assert losses.tolist() == [[law.loss_nano(Fraction(n, 4)) for n in row] for row in table]


@pytest.mark.parametrize("law", REFINEMENTS, ids=str)
def test_an_answer_on_top_makes_the_coarser_as_precise_as_the_finer(law: Refinement) -> None:
    coarse, fine = 17.25, -3.5
    difference = law.difference(coarse, fine)
    assert law.refined(coarse, difference) == pytest.approx(fine)
    # Least squares of the coarser answer and that one give the finer, and its variance.
    weights = 1.0 / law.coarse.variance, 1.0 / law.variance
    mean = (weights[0] * coarse + weights[1] * difference) / sum(weights)
    assert mean == pytest.approx(fine)
    assert 1.0 / sum(weights) == pytest.approx(law.fine.variance)


@pytest.mark.parametrize("law", REFINEMENTS, ids=str)
def test_json_gives_the_same_refinement_back(law: Refinement) -> None:
    assert charged_from_json(json.loads(json.dumps(law.to_json()))) == law
    assert noise_in(law) == law.fine
    earlier = Earlier(4, law.before)
    assert earlier_from_json(json.loads(json.dumps(earlier.to_json()))) == earlier
    assert charged(law.fine, earlier) == law
    assert charged(law.fine, None) == law.fine


def test_only_coarser_laplace_noise_is_refined() -> None:
    with pytest.raises(PrivacyError, match="Laplace"):
        charged(DiscreteGaussian(3, 0), Earlier(0, 7))
    for before in (2, 3):
        with pytest.raises(PrivacyError, match="fewer steps"):
            charged(DiscreteLaplace(3, 0), Earlier(0, before))
    assert earlier_from_json(None) is None
    for document in ({}, {"place": 1}, {"place": 1.0, "steps": 2}, {"place": 1, "steps": True}):
        with pytest.raises(PrivacyError, match="place"):
            earlier_from_json(document)
