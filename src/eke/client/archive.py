"""RemoteArchive: releases and publications that a server keeps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from eke.client.wire import Wire
from eke.codec.estimate import read_row_estimate
from eke.codec.release import read_release
from eke.domain import Domain
from eke.publish import Published, RowEstimate
from eke.question import Question
from eke.question.posed import Asked, Posed
from eke.session import Release


@dataclass(frozen=True, slots=True)
class RemoteArchive:
    """Releases that a server keeps, with their tables, and publications with their rows."""

    wire: Wire
    place: str
    domain: Domain
    body_of: Callable[[Asked], dict[str, Any]]  # the part of a body that is the question
    read: Callable[[Posed], Question]

    def release(self, sequence: int) -> Release:
        """The tables of a release, as they were released."""
        document = self.wire.get(f"{self.place}/releases/{int(sequence)}")
        return read_release(document, self.domain)

    def publication(self, sequence: int) -> Published:
        """The rows of a publication, as they were published."""
        place = f"{self.place}/publications/{int(sequence)}/rows?format=json"
        rows = Published.from_text(self.domain, self.wire.text(place)).qualified()
        return replace(rows, sequence=int(sequence))

    def report(self, sequence: int) -> str:
        """The report on the rows of a publication, as HTML; the server knows what was measured."""
        return self.wire.text(f"{self.place}/publications/{int(sequence)}/report")

    def estimate(self, sequence: int, question: Asked, *, confidence: float = 0.95) -> RowEstimate:
        """What the rows of a publication say of a question; the rows stay on the server."""
        place = f"{self.place}/publications/{int(sequence)}/estimate"
        body = {**self.body_of(question), "confidence": confidence}
        estimate = read_row_estimate(self.wire.post(place, body))
        # The server saw numbers only; what they leave open of the columns is known here.
        return estimate if isinstance(question, str) else estimate.qualified(self.read(question))
