"""Archiving: releases that can be read again, wherever the dataset is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from eke.session.release.released import Release


class Releases(Protocol):
    """What was released in tables."""

    def release(self, sequence: int) -> Release:
        """The tables of a release, as they were released."""
        ...


class Archiving(ABC):
    """A dataset whose releases can be read again."""

    @property
    @abstractmethod
    def archive(self) -> Releases:
        """What was released, to be read again for nothing: `archive.release(sequence)`."""
