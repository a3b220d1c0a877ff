"""Patience: how long a publication takes, from public facts, told or refused before it is paid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from eke.errors import QueryError
from eke.publish.max_entropy import Recipe

MOST_SECONDS = 3600.0
"""Of a publication that nobody said they would wait for."""
WORTH_SAYING = 60.0
_PER_CANDIDATE = 2e-3  # a pair that could be chosen next: what the model expects of it
_PER_CUBE = 75e-9  # its junction tree, times the number of attributes cubed


def max_entropy_seconds(attributes: int) -> float:
    """About how long one processor of 2024 needs: every round looks at every pair.

    Counted, not measured: the same everywhere, and no function of the data.
    """
    each = _PER_CANDIDATE + _PER_CUBE * attributes**3
    return Recipe().rounds(attributes) * math.comb(attributes, 2) * each


def check_patience(seconds: float, options: Mapping[str, Any]) -> None:
    """Raise `QueryError` for what takes longer than anybody said they would wait."""
    if seconds > MOST_SECONDS and options.get("patient") is not True:
        raise QueryError(
            f"this publication takes about {duration(seconds)} of a processor, and it would be "
            "charged first; nothing was spent. Publish fewer columns with attributes=[...], or say "
            "patient=True (--option patient=true) to wait"
        )


def duration(seconds: float) -> str:
    """A time as people say it."""
    if seconds < 2 * WORTH_SAYING:
        return f"{seconds:.0f} seconds"
    if seconds < 2 * MOST_SECONDS:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours"
