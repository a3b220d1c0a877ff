"""Noise as it is really drawn, and the wrapper from which exact answers leave only with noise."""

from eke.mechanism.noise import draw
from eke.mechanism.secret import Secret, choose_with_noise, reveal_with_noise

__all__ = ["Secret", "choose_with_noise", "draw", "reveal_with_noise"]
