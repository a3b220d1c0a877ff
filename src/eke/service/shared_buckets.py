"""Shared buckets: what callers may still send, in a file that all workers of a server map.

Names are kept as keyed hashes. A name has a few slots to lie in, and takes the one that was used
longest ago.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from eke.service.rate import Level

if sys.platform != "win32":
    import fcntl

_SLOTS, _PROBES = 16_384, 8
_SLOT = struct.Struct("<Qdd")  # whose it is, what is left, when that was


class SharedBuckets:
    """Levels that several processes and their threads read and write."""

    def __init__(self, path: Path, key: bytes) -> None:
        size = _SLOTS * _SLOT.size
        self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        os.ftruncate(self._file, size)  # zeros at first: nobody's, and never used
        self._slots = mmap.mmap(self._file, size)
        self._lock = threading.Lock()
        self._key = key

    @contextmanager
    def held(self) -> Iterator[None]:
        with self._lock:  # locks of a file are those of a process
            _lock(self._file, "LOCK_EX")
            try:
                yield
            finally:
                _lock(self._file, "LOCK_UN")

    def get(self, name: str) -> Level | None:
        tag, place = self._place(name)
        whose, left, when = _SLOT.unpack_from(self._slots, place)
        return (left, when) if whose == tag else None

    def put(self, name: str, level: Level) -> None:
        tag, place = self._place(name)
        _SLOT.pack_into(self._slots, place, tag, *level)

    def _place(self, name: str) -> tuple[int, int]:
        """The tag of a name, and where its slot begins."""
        digest = hashlib.blake2b(name.encode(), digest_size=16, key=self._key).digest()
        tag, first = int.from_bytes(digest[:8], "little") | 1, int.from_bytes(digest[8:], "little")
        slots = [(first + n) % _SLOTS * _SLOT.size for n in range(_PROBES)]
        held = [_SLOT.unpack_from(self._slots, slot) for slot in slots]
        same = [slot for slot, (whose, _, _) in zip(slots, held, strict=True) if whose == tag]
        return tag, same[0] if same else min(zip(slots, held, strict=True), key=_when)[0]


def _when(slot: tuple[int, tuple[int, float, float]]) -> float:
    return slot[1][2]


def _lock(file: int, how: str) -> None:
    if sys.platform != "win32":  # where a server has one worker
        fcntl.lockf(file, getattr(fcntl, how))
