"""Accuracy: what a question says itself about how accurate its answers must be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Accuracy:
    """A half-width for all values, or a price; no confidence means that of the session."""

    within: float | str | None = (
        None  # a text for a share of the value, "2 %", or a length, "6 hours"
    )
    confidence: float | None = None
    groups_of: int | None = None  # records that a group must have to be so accurate
    spend: float | None = None  # in the dataset's own measure, instead of `within`
