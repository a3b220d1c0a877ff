"""Archiving: releases and publications that can be read again, wherever the dataset is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from eke.publish import Published, RowEstimate
    from eke.question.posed import Asked
    from eke.session.release.released import Release


class Releases(Protocol):
    """What was released in tables, and published in rows."""

    def release(self, sequence: int) -> Release:
        """The tables of a release, as they were released."""
        ...

    def publication(self, sequence: int) -> Published:
        """The rows of a publication, as they were published."""
        ...

    def report(self, sequence: int) -> str:
        """The report on the rows of a publication, as HTML."""
        ...

    def estimate(self, sequence: int, question: Asked, *, confidence: float = 0.95) -> RowEstimate:
        """What the rows of a publication say of a question, with its interval."""
        ...


class Archiving(ABC):
    """A dataset whose releases and publications can be read again."""

    @property
    @abstractmethod
    def archive(self) -> Releases:
        """What was released, to be read again for nothing.

        `archive.release(sequence)` gives tables, `archive.publication(sequence)` rows, and
        `archive.estimate(sequence, question)` what such rows say of a question.
        """
