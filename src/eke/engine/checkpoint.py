"""Checkpoint: a standing written down beside the ledger, so that opening costs what is new.

It saves work and decides nothing about charges. It holds what follows from the ledger's entries up
to one of them, and is bound to that entry by its hash; one that is missing, damaged or of another
ledger is left aside and made anew.

Privacy: it holds what was released before, and no accounts. Whatever is charged is reckoned from
the entries themselves (`accounts.py`).

The file is a line, a header in JSON with the place of each array, and the arrays. They are written
from where they are, and read each into memory of its own, which lives as long as it is needed. The
file is not mapped into memory: somebody may copy another over it.
"""

from __future__ import annotations

import json
import math
import os
import secrets
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eke.engine.standing import Beginning, Standing
from eke.ledger import Entry
from eke.query.parts import Parts

LEAST_ROWS = 16
"""Fewer are worked through as fast."""
NEW_SHARE = 16
"""A process makes it anew at once, if anything was new, and then when one row in so many is."""
MOST_BYTES = 2**28
LAYOUT = 4
"""To be raised whenever the meaning of a part changes: others are left aside."""

_FIRST_LINE = b"eke checkpoint\n"
_ALIGNED = 64
_KINDS = ("<i4", "<i8", "<f8", "|u1")


class Checkpoint:
    """The checkpoint of one ledger, in a file; without a path there is none."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._rows = 0  # of the one that is there
        self._is_first = True  # the next call of `keep`: what was new had to be worked through

    def standing(
        self,
        beginning: Beginning,
        hash_of: Callable[[int], str | None],
        entries: Callable[[int], Iterable[Entry]],
    ) -> Standing:
        """Where following a ledger begins: at the checkpoint, or before the first entry.

        `hash_of` gives the hash of one entry, `entries` reads those up to one.
        """
        if self._path is None:
            return Standing(beginning)
        try:
            parts = read_arrays(self._path)
            standing = Standing.from_parts(beginning, parts, entries)
        except (OSError, ValueError, LookupError, TypeError, ArithmeticError):
            return Standing(beginning)
        if hash_of(standing.seen) != standing.head:
            return Standing(beginning)
        self._rows = standing.rows
        return standing

    def keep(self, standing: Standing) -> None:
        """Write a standing down, if enough of it is new; a failure to do so is no failure."""
        rows = standing.rows
        if self._path is None or rows < LEAST_ROWS:
            return
        new = rows - self._rows
        is_due = new > 0 if self._is_first else new * NEW_SHARE > rows
        self._is_first = False
        if not is_due:
            return
        self._rows = rows
        parts = standing.parts()
        if parts is not None and sum(array.nbytes for array in parts.values()) <= MOST_BYTES:
            write_arrays(self._path, parts)


NO_CHECKPOINT = Checkpoint(None)
CHECKPOINT_ENDING = "-checkpoint"
"""Of the file, after the name of the ledger's."""


def write_arrays(path: Path, parts: Parts) -> None:
    """Replace a file by one that holds these arrays, as a whole or not at all."""
    places, at, checksum = {}, 0, 0
    for name, array in parts.items():
        places[name] = [array.dtype.str, list(array.shape), at]
        at += _padded(array.nbytes)
        for piece in _written(array):
            checksum = zlib.crc32(piece, checksum)
    header = json.dumps({"layout": LAYOUT, "checksum": checksum, "size": at, "arrays": places})
    first = _FIRST_LINE + header.encode() + b"\n"
    temporary = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    try:
        with os.fdopen(
            os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb"
        ) as file:
            file.write(first.ljust(_padded(len(first)), b" "))
            for array in parts.values():
                file.writelines(_written(array))
        temporary.replace(path)
    except OSError:  # no room, or no permission: opening takes longer, that is all
        with suppress(OSError):
            temporary.unlink()


def read_arrays(path: Path) -> Parts:
    """The arrays of a file that `write_arrays` wrote; `ValueError` when it is not intact."""
    with path.open("rb") as file:
        if file.readline(len(_FIRST_LINE)) != _FIRST_LINE:
            raise ValueError("no checkpoint")
        header = json.loads(file.readline())
        if header["layout"] != LAYOUT:
            raise ValueError("a checkpoint of another layout")
        file.seek(_padded(file.tell()))
        parts: dict[str, NDArray[Any]] = {}
        end, checksum = 0, 0
        for name, (kind, shape, at) in header["arrays"].items():
            if kind not in _KINDS or at != end:
                raise ValueError("a checkpoint of unknown numbers")
            number = math.prod(shape)
            room = number * np.dtype(kind).itemsize
            if not 0 <= room <= 2 * MOST_BYTES - end:
                raise ValueError("a checkpoint of too many numbers")
            flat = np.empty(number, kind)
            read = file.readinto(_bytes_of(flat))
            padding = file.read(_padded(room) - room)
            if read + len(padding) != _padded(room):
                raise ValueError("a damaged checkpoint")
            checksum = zlib.crc32(padding, zlib.crc32(_bytes_of(flat), checksum))
            parts[name] = flat.reshape(shape)
            end += _padded(room)
        if end != header["size"] or file.read(1) or checksum != header["checksum"]:
            raise ValueError("a damaged checkpoint")
    return parts


def _written(array: NDArray[Any]) -> tuple[memoryview, bytes]:
    """An array as it is in the file, and what fills its place."""
    return _bytes_of(array), bytes(_padded(array.nbytes) - array.nbytes)


def _bytes_of(array: NDArray[Any]) -> memoryview:
    """The bytes of an array; it is copied only if it has gaps."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _padded(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
