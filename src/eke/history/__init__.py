"""History: the measurements and choices released so far."""

from eke.history.choice import ChosenStep, RankChoice
from eke.history.measurement import PUBLIC, Measurement, Row, lasting

__all__ = ["PUBLIC", "ChosenStep", "Measurement", "RankChoice", "Row", "lasting"]
