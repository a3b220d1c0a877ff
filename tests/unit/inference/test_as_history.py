"""Facts as models of a history take them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eke.domain import Domain, Integer
from eke.history import PUBLIC, Assertion, Measurement, Outside
from eke.inference.as_history import SHARE_OF_NOISE, outside_measurements, softened
from eke.inference.max_entropy import constraints_of_history, fit_max_entropy
from eke.inference.shrinkage import prior_from_history
from eke.privacy.law import Gaussian, Laplace
from eke.query import count, marginal

DOMAIN = Domain(a=Integer(0, 2), b=Integer(0, 3), wide=Integer(0, 2**30))
SMALL = Domain(a=Integer(0, 2), b=Integer(0, 3))


def test_facts_about_columns_that_can_be_listed_are_handed_on() -> None:
    people = Assertion(count(a=1).on(DOMAIN), (Fraction(5),))
    far = Assertion(count(wide=(7, None)).on(DOMAIN), (Fraction(0),))
    everyone = Assertion(count().on(DOMAIN), (Fraction(9),))
    (taken,) = outside_measurements([Outside("Yearbook", (people, far, everyone))])
    assert taken.law == PUBLIC
    assert taken.values == (5.0,)


def test_shrinkage_is_told_a_share_of_the_smallest_noise() -> None:
    fact = Measurement(count(a=1).on(SMALL), PUBLIC, (5.0,))
    noisy = [Measurement(count(b=1).on(SMALL), law, (5.0,)) for law in (Laplace(3), Gaussian(4))]
    first, *others = softened([fact, *noisy], SHARE_OF_NOISE)
    assert first.law.variance == pytest.approx(SHARE_OF_NOISE**2 * 4.0)
    assert others == noisy
    assert softened([fact], 1.0)[0].law == Gaussian(1.0)


def test_maximum_entropy_meets_facts_and_comes_near_the_rest() -> None:
    exact, noisy = np.array([10.0, 30.0, 60.0]), np.array([40.0, 5.0, 25.0, 30.0])
    known = [
        Measurement(marginal("a").on(SMALL), PUBLIC, tuple(exact)),
        Measurement(marginal("b").on(SMALL), Laplace(20.0), tuple(noisy)),
    ]
    constraints = constraints_of_history(SMALL, known, total=100.0, alpha=0.01)
    assert np.isinf(constraints.bounds[:3]).all()
    assert (constraints.quadratics == 0.0).all()
    assert np.isfinite(constraints.bounds[3:]).all()
    prior = prior_from_history(SMALL, known[1:])
    fit = fit_max_entropy(constraints, prior)
    found = 100.0 * np.asarray(fit.distribution.marginal(("a",))).reshape(-1)
    np.testing.assert_allclose(found, exact, atol=1e-3)
