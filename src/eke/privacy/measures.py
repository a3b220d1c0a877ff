"""All measures, by the names that documents give them."""

from __future__ import annotations

from types import MappingProxyType

from eke.errors import PrivacyError
from eke.privacy.concentrated import CONCENTRATED
from eke.privacy.law import Charged
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE

MEASURES = MappingProxyType({measure.name: measure for measure in (PURE, CONCENTRATED)})


def measure_named(name: str) -> Measure:
    """The measure that a document names."""
    if name not in MEASURES:
        raise PrivacyError(f"losses are counted in {' or '.join(MEASURES)}, not in {name!r}")
    return MEASURES[name]


def measure_of(law: Charged) -> Measure:
    """The measure in which the loss by some noise is counted."""
    return measure_named(law.loss_unit)
