"""Guarded claims: what the history is not to make more probable than the curator allows."""

from eke.session.guard.guarding import Guarding, GuardState
from eke.session.guard.local import GuardingHere

__all__ = ["GuardState", "Guarding", "GuardingHere"]
