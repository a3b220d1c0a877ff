"""Outside: what is known of the table from elsewhere, and what it rests on.

A fact is exact: a published total, a condition that nobody meets, a public table of counts. A noisy
table that somebody else has released is known with the noise that they state. Both are the same
here: statements about linear questions, with a law of their noise or none. They cost nothing, for
this dataset's data has no part in them, and the accountant never sees them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from eke.domain import Domain
from eke.errors import FactError
from eke.history.measurement import PUBLIC, Measurement
from eke.privacy.law import NoiseLaw, law_from_json
from eke.query import Block
from eke.query.kinds import block_read

LONGEST_SOURCE = 500
MOST_VALUES = 100_000
"""Of one item: a table of more is not written into a ledger as a whole."""
_LEAST_VARIANCE, _MOST_VARIANCE = 1e-6, 1e30


@dataclass(frozen=True, slots=True)
class Assertion:
    """A question, or several of one block, with what is said of each; exact without a law."""

    query: Block
    values: tuple[Fraction, ...]
    law: NoiseLaw | None = None

    def __post_init__(self) -> None:
        if len(self.values) != self.query.cells:
            raise FactError(
                f"this is about {self.query.cells:,} numbers, and {len(self.values):,} were given; "
                "give one for each"
            )
        if self.law is not None and not _LEAST_VARIANCE <= self.law.variance < _MOST_VARIANCE:
            raise FactError(
                "noise has a standard deviation from a thousandth to 10^15; what is known more "
                "exactly than that is a fact"
            )
        if self.query.constant:
            raise FactError("a statement is about the question without its constant")

    @property
    def is_exact(self) -> bool:
        """True for a fact."""
        return self.law is None

    def measurement(self) -> Measurement:
        """The statement as inference takes it: a fact has the noise of what is public."""
        law = PUBLIC if self.law is None else self.law
        return Measurement(self.query, law, tuple(map(float, self.values)))

    def to_document(self) -> dict[str, Any]:
        """The numbers are texts, so that nothing is rounded."""
        return {
            "query": self.query.to_document(),
            "values": [str(value) for value in self.values],
            "law": None if self.law is None else self.law.to_json(),
        }

    @staticmethod
    def from_document(domain: Domain, document: Mapping[str, Any]) -> Assertion:
        law = document["law"]
        return Assertion(
            block_read(domain, document["query"], ()),
            tuple(Fraction(value) for value in document["values"]),
            None if law is None else law_from_json(law),
        )


@dataclass(frozen=True, slots=True)
class Outside:
    """Statements from one source, which came and may go together.

    Attributes:
        source: where they come from, in words that others can follow up.
        statements: what is said.
        sequence: the ledger entry that holds them; 0 before there is one.
        by: who registered them.
        at: when.
        until: the entry that removed them; None while they hold.
    """

    source: str
    statements: tuple[Assertion, ...]
    sequence: int = 0
    by: str = ""
    at: str = ""
    until: int | None = None

    def __post_init__(self) -> None:
        source = self.source
        if not isinstance(source, str) or not source.strip() or not source.isprintable():
            raise FactError(
                "say where this is published, as printable text: "
                'source="Census 2020, table P1"; others have to be able to look it up'
            )
        if len(source) > LONGEST_SOURCE:
            raise FactError(f"a source is a text of at most {LONGEST_SOURCE} characters")
        if not self.statements:
            raise FactError("there is nothing to register: give at least one statement")
        if sum(len(one.values) for one in self.statements) > MOST_VALUES:
            raise FactError(
                f"at most {MOST_VALUES:,} numbers are registered at once; give tables over fewer "
                "columns"
            )

    @property
    def is_fact(self) -> bool:
        """True when all of it is exact."""
        return all(one.is_exact for one in self.statements)

    @property
    def name(self) -> str:
        """How messages call it."""
        return f"{self.source!r} (entry {self.sequence})" if self.sequence else repr(self.source)

    def holds_at(self, sequence: int) -> bool:
        """True when it was registered by then, and not yet removed."""
        return self.sequence <= sequence and (self.until is None or sequence < self.until)

    @property
    def facts(self) -> list[Assertion]:
        """What is exact of it."""
        return [one for one in self.statements if one.is_exact]

    @property
    def learned(self) -> list[Measurement]:
        """What others measured, as inference takes it."""
        return [one.measurement() for one in self.statements if not one.is_exact]

    def to_records(self) -> Iterator[dict[str, Any]]:
        """A dictionary for each statement, for lists."""
        for statement in self.statements:
            yield {
                "sequence": self.sequence,
                "at": self.at,
                "by": self.by,
                "source": self.source,
                "kind": "fact" if statement.is_exact else "learned",
                "question": statement.query.description,
                "value": float(statement.values[0]) if len(statement.values) == 1 else None,
                "cells": len(statement.values),
                "noise_deviation": 0.0 if statement.law is None else _deviation(statement.law),
            }

    def to_document(self) -> dict[str, Any]:
        """What the ledger holds of it."""
        return {
            "by": self.by,
            "source": self.source,
            "statements": [one.to_document() for one in self.statements],
        }

    @staticmethod
    def from_document(
        domain: Domain, document: Mapping[str, Any], sequence: int = 0, at: str = ""
    ) -> Outside:
        statements = tuple(Assertion.from_document(domain, each) for each in document["statements"])
        return Outside(document["source"], statements, sequence, document["by"], at)


def in_force(known: Iterable[Outside], sequence: int | None = None) -> tuple[Outside, ...]:
    """What holds after an entry of the ledger; without one, now."""
    if sequence is None:
        return tuple(one for one in known if one.until is None)
    return tuple(one for one in known if one.holds_at(sequence))


def last_told(known: Iterable[Outside]) -> int:
    """The last ledger entry that registered or removed something; 0 when none did."""
    return max((one.until or one.sequence for one in known), default=0)


def removed(known: Iterable[Outside], sequence: int, until: int) -> tuple[Outside, ...]:
    """The same, but what one entry registered holds only until another."""
    return tuple(replace(one, until=until) if one.sequence == sequence else one for one in known)


def _deviation(law: NoiseLaw) -> float:
    return float(np.sqrt(law.variance))
