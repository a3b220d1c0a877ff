"""Patience: how long a publication takes, from public facts, told or refused before it is paid."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from eke.errors import QueryError
from eke.publish.recipe import Recipe

MOST_SECONDS = 3600.0
"""Of a publication that nobody said they would wait for."""
WORTH_SAYING = 60.0
_PER_LOOK = 8e-9  # at one row for one table: what is counted, or whether another value is better
_PER_OFFER = 6e-5  # a marginal in groups of values, made anew when noise becomes less
_OFFERS = 8
_PER_ASSOCIATION = 0.15  # two columns in an order that are measured; see `association.py`


def max_entropy_seconds(attributes: int, rows: int | None = None, ordered: int = 0) -> float:
    """About how long one processor of 2024 needs; of an unknown number of rows, the most.

    `ordered` is how many of the attributes have an order.

    Counted, not measured: the same everywhere, and no function of the data.
    """
    recipe = Recipe()
    fitted = recipe.most_rows if rows is None else recipe.fitted_rows(rows)
    steps = recipe.most_steps(attributes)
    sweeps = recipe.passes * recipe.sweeps + recipe.last_sweeps
    triples = math.comb(attributes, 3)
    offered = 3 * math.comb(attributes, 2) + (2 * triples if triples <= recipe.most_triples else 0)
    looks = 2.0 * recipe.passes * min(offered, recipe.most_options) + sweeps * 1.5 * steps
    associated = steps * math.comb(ordered, 2) / max(math.comb(attributes, 2), 1)
    return (
        looks * fitted * _PER_LOOK + _OFFERS * offered * _PER_OFFER + associated * _PER_ASSOCIATION
    )


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
