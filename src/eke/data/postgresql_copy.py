"""Copy reader: whole numbers that PostgreSQL sends by binary COPY, as an Arrow table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from eke.data.sealed import FAILURE
from eke.errors import DataError

_HEADER = 19  # a signature of 11 bytes and two integers
_TRAILER = 2
_PIECE = 2**24  # bytes
_WIDTHS = {"int8": 2, "int16": 2, "int32": 4, "int64": 8}  # SMALLINT is the narrowest there is
SQL_TYPES = {"int8": "SMALLINT", "int16": "SMALLINT", "int32": "INTEGER", "int64": "BIGINT"}


class CopyReader:
    """The columns of a binary COPY of whole numbers, read piece by piece as it comes."""

    def __init__(self, types: Mapping[str, str]) -> None:
        self._types = types
        fields: list[tuple[str, str]] = [("fields", ">i2")]
        for name, dtype in self._types.items():
            fields += [(f"{name} length", ">i4"), (name, f">i{_WIDTHS[dtype]}")]
        self._row = np.dtype(fields)
        self._buffer = bytearray()
        self._header = _HEADER
        self._pieces: dict[str, list[Any]] = {name: [] for name in self._types}

    def take(self, block: bytes) -> None:
        """Take in the next bytes."""
        self._buffer += block
        if len(self._buffer) >= _PIECE:
            self._read()

    def table(self) -> Any:
        """All rows as an Arrow table."""
        self._read()
        if len(self._buffer) != _TRAILER:
            raise DataError(FAILURE)
        return pa.table({name: np.concatenate(parts) for name, parts in self._pieces.items()})

    def _read(self) -> None:
        del self._buffer[: self._header]
        self._header = 0
        whole = len(self._buffer) // self._row.itemsize * self._row.itemsize
        rows = np.frombuffer(bytes(memoryview(self._buffer)[:whole]), self._row)
        del self._buffer[:whole]
        for name, dtype in self._types.items():
            if np.any(rows[f"{name} length"] != _WIDTHS[dtype]):  # NULL has none
                raise DataError(FAILURE)
            self._pieces[name].append(rows[name].astype(dtype))
