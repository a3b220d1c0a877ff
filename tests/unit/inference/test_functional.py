"""Intervals of ratios: their ends are found whatever the rounding errors of the widths."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eke.errors import AccuracyError
from eke.inference import FormulaPosterior, Joint
from eke.inference.functional import _edge
from eke.question import Aggregate, Root


@pytest.mark.parametrize("side", [-1.0, 1.0])
@pytest.mark.parametrize("error", [0.0, 1e-15, 1e-12, 1e-9])
def test_an_end_within_rounding_errors_of_a_step_is_found(side, error):
    """The width is a root itself: asked twice at one place, it may come out on either side of it.

    Before, such an end raised an error, which depended on the noisy values.
    """
    for steps in range(4):
        end = 1.25**steps
        asked: list[float] = []

        def excess(x: float, end: float = end, asked: list[float] = asked) -> float:
            asked.append(x)
            wobble = error if len(asked) % 2 else -error
            return float(abs(x) - end * (1.0 + wobble))

        found = _edge(excess, 0.0, side)
        assert math.copysign(1.0, found) == side
        assert end * (1.0 - 1e-6) <= abs(found) <= 1.25 * end * (1.0 + 1e-6)


def test_an_end_that_is_never_reached_is_infinite():
    assert _edge(lambda _: -1.0, 0.0, 1.0) == math.inf
    assert _edge(lambda _: -1.0, 0.0, -1.0) == -math.inf
    assert _edge(lambda _: -1.0, 3.0, 0.0) == 3.0


def test_a_formula_without_any_value_has_no_end():
    """A deviation of hardly anybody: every draw of the variance is negative."""
    exact = Joint(np.array([-4.0]), np.zeros((1, 0)), *[np.empty(0)] * 4)
    posterior = FormulaPosterior(Root(Aggregate(0)), exact, 1)
    assert math.isnan(posterior.value)
    assert posterior.interval(0.95) == (-math.inf, math.inf)
    assert posterior.halfwidth(0.95) == math.inf
    with pytest.raises(AccuracyError, match="says nothing about this formula"):
        posterior.variance  # noqa: B018 - it is computed when somebody looks
