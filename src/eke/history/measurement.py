"""Measurement: a released noisy answer, kept for ever: (query, noisy value, noise law).

Online answers, batch releases and published statistics are all rows of one list of measurements;
everything eke says is computed from that list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eke.domain import Domain
from eke.errors import QueryError
from eke.privacy.law import Gaussian, NoiseLaw, law_from_json
from eke.query import Block, Query
from eke.query.kinds import ReadBlocks, block_read

PUBLIC = Gaussian(1e-12)
"""The noise of what is public: a millionth of a person, for methods that need some."""


@dataclass(frozen=True, slots=True)
class Row:
    """One noisy answer to one query: what inference works on."""

    query: Query
    value: float
    law: NoiseLaw

    @property
    def is_public(self) -> bool:
        """True when nothing was drawn for it: a number that everybody knows."""
        return self.law is PUBLIC or self.law == PUBLIC

    def __deepcopy__(self, memo: object) -> Row:
        return self  # immutable


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was released: a query or a block of them, its noisy values and their law."""

    query: Block
    law: NoiseLaw
    values: tuple[float, ...]
    sequence: int = 0
    analyst: str = ""
    at: str = ""

    def __post_init__(self) -> None:
        expected = self.query.cells
        if len(self.values) != expected:
            raise QueryError(f"a measurement of {expected} queries needs {expected} values")
        if self.query.constant:
            raise QueryError("a measurement is of the query without its constant")

    def rows(self) -> Iterator[Row]:
        """The noisy answers one by one, blocks taken apart."""
        for query, value in zip(self.query.queries(), self.values, strict=True):
            yield Row(query, value, self.law)

    def to_document(self) -> dict[str, Any]:
        return {
            "query": self.query.to_document(),
            "law": self.law.to_json(),
            "values": list(self.values),
        }

    @staticmethod
    def from_document(
        domain: Domain,
        document: Mapping[str, Any],
        *,
        read: ReadBlocks = (),
        sequence: int = 0,
        analyst: str = "",
        at: str = "",
    ) -> Measurement:
        return Measurement(
            block_read(domain, document["query"], read),
            law_from_json(document["law"]),
            tuple(float(v) for v in document["values"]),
            sequence,
            analyst,
            at,
        )
