"""Compiled loops for long histories, loaded when they pay.

Numba takes longer to load than NumPy takes to answer a few questions, or to work through a short
history. So arithmetic on residues, which is exact and gives the same either way, asks here first.
Doubles would differ in their last digits: which of two ways they go depends on their number alone,
never on what was asked before.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from itertools import count
from typing import Any

SMALL = 256
"""Of so many rows NumPy makes short work."""
FEW = 40
"""So often NumPy may be slower, with more rows, before the compiled loops are loaded."""

_long = count(1)


def worth(rows: int) -> bool:
    """Whether work on so many rows is for the compiled loops."""
    return rows > SMALL and next(_long) > FEW


@cache
def loops() -> Any:
    """The compiled loops."""
    return import_module("eke.inference.loops")
