"""History: the measurements and choices released so far, and what is known from elsewhere."""

from eke.history.choice import ChosenStep, RankChoice
from eke.history.measurement import PUBLIC, Measurement, Row, lasting
from eke.history.outside import Assertion, Outside

__all__ = [
    "PUBLIC",
    "Assertion",
    "ChosenStep",
    "Measurement",
    "Outside",
    "RankChoice",
    "Row",
    "lasting",
]
