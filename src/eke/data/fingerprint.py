"""Fingerprint: how eke notices that a data file is no longer the one it has answered about."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eke.errors import DataError

CHANGED = (
    "the protected table has changed since this dataset was created. Answers already given are "
    "about the old table, and history must not mix two tables: put the old table back, or create "
    "a new dataset (with a budget of its own) for the new one"
)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Size, time of change and digest of a file.

    Privacy: A digest lets whoever guesses the whole file check the guess. It belongs to the
    curator's side, next to the path, and is never part of an answer.
    """

    size: int
    mtime_ns: int
    sha256: str

    def to_document(self) -> dict[str, object]:
        return {"size": self.size, "mtime_ns": self.mtime_ns, "sha256": self.sha256}

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Fingerprint:
        try:
            return cls(int(document["size"]), int(document["mtime_ns"]), str(document["sha256"]))
        except (KeyError, TypeError, ValueError):
            raise DataError("the stored reference to the data file has no fingerprint") from None


def take_fingerprint(path: str) -> Fingerprint:
    """The fingerprint of a file as it is now; reads all of it."""
    size, mtime_ns = size_and_time(path)
    try:
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        raise DataError(f"cannot read {path}; check that it is a readable file") from None
    return Fingerprint(size, mtime_ns, digest)


def check_fingerprint(path: str, known: Fingerprint) -> Fingerprint:
    """The fingerprint of a file that is still the known one; DataError when it is not.

    The digest is only taken when size or time differ, so that opening a large file is quick.
    """
    size, mtime_ns = size_and_time(path)
    if (size, mtime_ns) == (known.size, known.mtime_ns):
        return known
    now = take_fingerprint(path)
    if now.sha256 != known.sha256:
        raise DataError(CHANGED)
    return now


def size_and_time(path: str) -> tuple[int, int]:
    """Bytes and nanoseconds of the last change, the quick half of a fingerprint."""
    try:
        status = Path(path).stat()
    except OSError:
        raise DataError(f"there is no file {path}; check the path") from None
    return status.st_size, status.st_mtime_ns


def check_untouched(path: str, fingerprint: Fingerprint) -> None:
    """Raise when size or time of a file are no longer those of its fingerprint."""
    if size_and_time(path) != (fingerprint.size, fingerprint.mtime_ns):
        raise DataError(CHANGED)
