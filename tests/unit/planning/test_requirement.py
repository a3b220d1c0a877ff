"""What may be asked for."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from eke.errors import AccuracyError
from eke.planning import Requirement


@pytest.mark.parametrize(
    "within", [60, 0.5, np.float32(0.25), np.int64(7), Fraction(1, 3), 1e-99, 1e99]
)
def test_every_positive_number_is_a_width(within):
    requirement = Requirement(within, np.float64(0.95))
    assert type(requirement.within) is float
    assert type(requirement.confidence) is float
    assert requirement.within == float(within)


BAD = ["5", None, True, [5], 5j, Decimal(5), math.nan, math.inf, -math.inf, 0, -1, 1e-300, 1e300]


@pytest.mark.parametrize("within", [*BAD, 10**400])
def test_other_widths_are_refused(within):
    with pytest.raises(AccuracyError, match="within"):
        Requirement(within, 0.95)


@pytest.mark.parametrize("confidence", [*BAD, 1, 1.0, 95, 1.0000001])
def test_other_confidences_are_refused(confidence):
    if confidence == 1e-300:
        return  # silly, but a probability
    with pytest.raises(AccuracyError, match="confidence"):
        Requirement(5, confidence)
