"""Accuracy: what a question says itself about how accurate its answers must be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A half-width for all values; no confidence means that of the session."""

    within: float
    confidence: float | None = None
