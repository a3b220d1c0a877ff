"""What is known from outside: facts, and noisy tables that others published."""

from eke.session.outside.knowing import Knowing
from eke.session.outside.local import KnowingHere
from eke.session.outside.told import Fact, Known, NoisyTable, Told

__all__ = ["Fact", "Knowing", "KnowingHere", "Known", "NoisyTable", "Told"]
