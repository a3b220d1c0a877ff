"""What is known about formulas that are no ratios."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eke.errors import AccuracyError
from eke.inference import FormulaPosterior, Joint
from eke.question import Aggregate, Root


def test_a_formula_without_any_value_has_no_end():
    """A deviation of hardly anybody: every draw of the variance is negative."""
    exact = Joint(np.array([-4.0]), np.zeros((1, 0)), *[np.empty(0)] * 4)
    posterior = FormulaPosterior(Root(Aggregate(0)), exact, 1)
    assert math.isnan(posterior.value)
    assert posterior.interval(0.95) == (-math.inf, math.inf)
    assert posterior.halfwidth(0.95) == math.inf
    with pytest.raises(AccuracyError, match="says nothing about this formula"):
        posterior.variance  # noqa: B018 - it is computed when somebody looks
