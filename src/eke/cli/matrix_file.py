"""Matrix files: rows of numbers, as CSV without a header or as an array that NumPy saved."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

from eke.errors import QueryError

MOST_BYTES = 64_000_000


def read_matrix(path: Path) -> Any:
    """The rows in a file; what they may hold is checked where they are planned with."""
    if path.stat().st_size > MOST_BYTES:
        raise QueryError(f"{path.name}: a strategy matrix has at most {MOST_BYTES:,} bytes")
    if path.suffix == ".npy":
        return _saved(path)
    rows: list[list[float]] = []
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            for number, row in enumerate(csv.reader(file), 1):
                if row:
                    rows.append(_numbers(row, path, number))
    except (UnicodeDecodeError, csv.Error):
        raise QueryError(
            f"{path.name}: not a text of numbers; a matrix is CSV without a header, or a .npy file"
        ) from None
    if len({len(row) for row in rows}) > 1:
        raise QueryError(f"{path.name}: its rows are not equally long")
    return rows


def _numbers(row: list[str], path: Path, number: int) -> list[float]:
    try:
        return [float(cell) for cell in row]
    except ValueError:
        raise QueryError(
            f"{path.name}, row {number}: a strategy matrix is numbers with commas, without a header"
        ) from None


def _saved(path: Path) -> Any:
    import numpy as np  # noqa: PLC0415 - slow to load

    try:
        # Mapped, not read: an array that says it is longer than its file asks for no memory.
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OverflowError, SyntaxError, TypeError):
        raise QueryError(f"{path.name}: not an array of numbers that NumPy saved") from None
