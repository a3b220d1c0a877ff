"""Noise as it is really drawn, and the wrapper from which exact answers leave only with noise."""

from eke.mechanism.noise import draw
from eke.mechanism.secret import Secret, reveal_with_noise

__all__ = ["Secret", "draw", "reveal_with_noise"]
