"""Compiled loops for long histories, loaded when they pay.

Numba and SciPy take longer to load than a short history takes to work through with NumPy alone. So
whatever has a compiled twin in `loops.py` asks here first. Arithmetic on residues is exact, and
gives the same either way; which way floating point goes follows from the history's size alone.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

SMALL = 256
"""Of so many rows NumPy makes short work."""


@cache
def loops() -> Any:
    """The compiled loops."""
    return import_module("eke.inference.loops")
