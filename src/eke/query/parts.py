"""Parts: a state as named arrays, so that it can be written down and taken up again.

Names of parts within parts are joined by slashes, as those of files in folders.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Parts: TypeAlias = Mapping[str, NDArray[Any]]


def as_bytes(document: Mapping[str, Any]) -> NDArray[np.uint8]:
    """A document, which must be one of JSON, as an array."""
    return np.frombuffer(json.dumps(document).encode(), np.uint8)


def from_bytes(array: NDArray[np.uint8]) -> dict[str, Any]:
    """The document that `as_bytes` made an array of."""
    document: dict[str, Any] = json.loads(array.tobytes())
    return document


def within(name: str, parts: Parts) -> dict[str, NDArray[Any]]:
    """The parts, placed below a name."""
    return {f"{name}/{part}": array for part, array in parts.items()}


def under(name: str, parts: Parts) -> dict[str, NDArray[Any]]:
    """The parts below a name, as they were called before they were placed there."""
    start = f"{name}/"
    return {part[len(start) :]: array for part, array in parts.items() if part.startswith(start)}
