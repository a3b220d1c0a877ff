"""Centred belief: a posterior θ = θ̂ − e whose intervals lie evenly around its value."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from eke.inference.posterior.composed import ComposedNoise
from eke.inference.posterior.protocol import checked_value


@dataclass(frozen=True, slots=True)
class CentredBelief(ABC):
    """What methods share whose intervals are told by one number."""

    value: float
    noise: ComposedNoise

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", checked_value(self.value))

    @property
    def variance(self) -> float:
        """Var(θ), which is the variance of the noise: known, not estimated."""
        return self.noise.variance

    @abstractmethod
    def halfwidth(self, confidence: float) -> float:
        """Half the width of `interval(confidence)`."""

    def interval(self, confidence: float) -> tuple[float, float]:
        """The centred (low, high) that holds θ with at least this probability."""
        half = self.halfwidth(confidence)
        return self.value - half, self.value + half

    def support(self, coverage: float = 0.999) -> tuple[float, float]:
        """A (low, high) worth plotting: it holds θ with probability `coverage`."""
        return self.interval(coverage)
