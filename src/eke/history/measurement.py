"""Measurement: a released noisy answer, kept for ever: (query, noisy value, noise law).

Online answers, batch releases and published statistics are all rows of one list of measurements;
everything eke says is computed from that list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eke.domain import Domain
from eke.errors import QueryError
from eke.privacy.law import Charged, Gaussian, NoiseLaw, Refinement, law_from_json
from eke.privacy.refinement import Earlier, charged, earlier_from_json
from eke.query import Block, Query
from eke.query.kinds import ReadBlocks, block_read

PUBLIC = Gaussian(1e-12)
"""The noise of what is public: a millionth of a person, for methods that need some."""


@dataclass(frozen=True, slots=True)
class Row:
    """One noisy answer to one query: what inference works on."""

    query: Query
    value: float
    law: Charged

    @property
    def is_public(self) -> bool:
        """True when nothing was drawn for it: a number that everybody knows."""
        return self.law is PUBLIC or self.law == PUBLIC

    def __deepcopy__(self, memo: object) -> Row:
        return self  # immutable


@dataclass(frozen=True, slots=True)
class Measurement:
    """What was released: a query or a block of them, its noisy values and their law.

    It may refine a measurement before it, whose values it then has as well.
    """

    query: Block
    law: NoiseLaw
    values: tuple[float, ...]
    sequence: int = 0
    analyst: str = ""
    at: str = ""
    refines: Earlier | None = None
    before: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        expected = self.query.cells
        if len(self.values) != expected:
            raise QueryError(f"a measurement of {expected} queries needs {expected} values")
        if self.query.constant:
            raise QueryError("a measurement is of the query without its constant")
        if len(self.before) != (0 if self.refines is None else expected):
            raise QueryError("a refined measurement needs the values before it, and no other does")

    @property
    def charged(self) -> Charged:
        """What it cost by: its noise, or by how much that is less than before."""
        return charged(self.law, self.refines)

    def rows(self) -> Iterator[Row]:
        """The noisy answers one by one, blocks taken apart.

        Of a refined one, independent answers that make those before as precise as these are.
        """
        law, values = self.charged, self.values
        if isinstance(law, Refinement):
            values = tuple(map(law.difference, self.before, values))
        for query, value in zip(self.query.queries(), values, strict=True):
            yield Row(query, value, law)

    def to_document(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "query": self.query.to_document(),
            "law": self.law.to_json(),
            "values": list(self.values),
        }
        if self.refines is not None:
            document |= {"refines": self.refines.to_json(), "before": list(self.before)}
        return document

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
            earlier_from_json(document.get("refines")),
            tuple(float(v) for v in document.get("before", ())),
        )


def lasting(measurements: Sequence[Measurement]) -> list[Measurement]:
    """Those about records that were not refined later; what refined others stands by itself.

    Given the finer answer the coarser one says nothing more: these are all that was learned of
    cells, and their noises are independent. Numbers of people are no sums over cells.
    """
    refined = {one.refines.place for one in measurements if one.refines is not None}
    return [
        replace(one, refines=None, before=())
        for place, one in enumerate(measurements)
        if place not in refined and not one.query.people
    ]
