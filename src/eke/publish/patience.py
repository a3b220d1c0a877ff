"""Patience: how long a publication takes, from public facts, told or refused before it is paid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eke.errors import QueryError
from eke.publish.recipe import Recipe

MOST_SECONDS = 3600.0
"""Of a publication that nobody said they would wait for."""
WORTH_SAYING = 60.0
_PER_LOOK = 8e-9  # at one row for one table: what is counted, or whether another value is better


def max_entropy_seconds(attributes: int) -> float:
    """About how long one processor of 2024 needs, with as many rows as are ever fitted.

    Counted, not measured: the same everywhere, and no function of the data.
    """
    recipe = Recipe()
    steps = recipe.most_steps(attributes)
    sweeps = recipe.passes * recipe.sweeps + recipe.last_sweeps
    looks = 2.0 * recipe.passes * recipe.most_options + sweeps * 1.5 * steps
    return looks * recipe.most_rows * _PER_LOOK


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
