"""RemoteArchive: releases that a server keeps."""

from __future__ import annotations

from dataclasses import dataclass

from eke.client.wire import Wire
from eke.codec.release import read_release
from eke.domain import Domain
from eke.session import Release


@dataclass(frozen=True, slots=True)
class RemoteArchive:
    """Releases that a server keeps, with their tables."""

    wire: Wire
    place: str
    domain: Domain

    def release(self, sequence: int) -> Release:
        """The tables of a release, as they were released."""
        document = self.wire.get(f"{self.place}/releases/{int(sequence)}")
        return read_release(document, self.domain)
