"""Row basis: what rows can be held against, and how far they are from it.

Every number here was released or is public. Rows are compared with what was measured, not with the
table: nobody needs to be asked for that, and nothing is spent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from eke.arrays import Codes, FloatArray
from eke.domain import Domain
from eke.history import Assertion, Measurement
from eke.privacy.law import DiscreteLaplace, Laplace, NoiseLaw
from eke.query import Block
from eke.query.vector import IntMatrix

_MOST_LISTED_CELLS = 2**22


@dataclass(frozen=True, slots=True, eq=False)
class RowBasis:
    """The measurements that rows follow, and the public facts that held when they were charged.

    `facts` are pairs of a source and what it says; `records` is the number of records where that is
    public; `measured` is False for rows from history, which measured nothing of their own.
    """

    measurements: tuple[Measurement, ...]
    facts: tuple[tuple[str, Assertion], ...] = ()
    records: int | None = None
    measured: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class TableDistance:
    """One measured table, and the same numbers computed from rows.

    `rows` are scaled to as many records as there are estimated to be; `deviation` is that of the
    noise on each number, and `expected` how far a number is off by noise alone, on average.
    """

    attributes: tuple[str, ...]
    question: str
    values: FloatArray
    rows: FloatArray
    deviation: float
    expected: float
    law: str
    counts: bool  # whether every record is in exactly one of its cells
    fine: bool  # whether its cells are the single values of its attributes

    @property
    def distance(self) -> float:
        """How far a number of the rows is from the measured one, on average."""
        return float(np.abs(self.rows - self.values).mean())

    @property
    def ratio(self) -> float:
        """The same in multiples of what noise alone would make."""
        return self.distance / self.expected


@dataclass(frozen=True, slots=True)
class FactCheck:
    """A public fact, and what rows make of it; `rows` is None where they do not have its columns.

    `says` is for all records. `holds` compares shares exactly, for as many rows as there are.
    """

    source: str
    question: str
    says: Fraction
    rows: Fraction | None
    holds: bool | None


def distances(
    basis: RowBasis, domain: Domain, columns: Mapping[str, Codes], total: float
) -> Iterator[TableDistance]:
    """What was measured in these columns, beside what rows say; numbers of people are left out.

    Privacy: post-processing; it reads released values and published rows.
    """
    rows = max((len(codes) for codes in columns.values()), default=0)
    scale = total / max(rows, 1)
    for measurement in basis.measurements:
        block = measurement.query
        if block.people or not set(block.read) <= set(columns) or not block.read:
            continue
        deviation = float(measurement.law.variance) ** 0.5
        counts, fine = _kind(block)
        yield TableDistance(
            domain.in_order(block.read),
            block.description,
            np.array(measurement.values),
            scale * np.array([float(each) for each in answers_of(block, columns)]),
            deviation,
            deviation * mean_of_noise(measurement.law),
            "Laplace" if isinstance(measurement.law, (Laplace, DiscreteLaplace)) else "Gaussian",
            counts,
            fine,
        )


def fact_checks(basis: RowBasis, columns: Mapping[str, Codes]) -> Iterator[FactCheck]:
    """Each public number, and whether rows keep to it, in proportion where there are others.

    Privacy: facts are public, and rows were published.
    """
    rows = max((len(codes) for codes in columns.values()), default=0)
    # Of nobody there is none in any number of rows; other numbers need that of records.
    share = Fraction(basis.records or rows or 1, rows or 1)
    for source, fact in basis.facts:
        block = fact.query
        if not fact.is_exact or block.people:
            continue
        known = set(block.read) <= set(columns)
        answers = answers_of(block, columns) if known else []
        for place, (query, says) in enumerate(zip(block.queries(), fact.values, strict=True)):
            told = answers[place] * share if known else None
            holds = told == says if known else None
            yield FactCheck(source, query.description, says, told, holds)


def answers_of(block: Block, columns: Mapping[str, Codes]) -> list[Fraction]:
    """What rows answer to each question of a block, exactly."""
    names = block.needed
    rows = max((len(codes) for codes in columns.values()), default=0)
    shape = block.domain.sizes(names)
    if not names:
        cells, counts = np.zeros((1, 0), np.int64), np.array([rows], np.int64)
    else:
        given = tuple(columns[name] for name in names)
        if math.prod(shape) <= _MOST_LISTED_CELLS:
            every = np.bincount(np.ravel_multi_index(given, shape), minlength=math.prod(shape))
            used = np.flatnonzero(every)
            cells = np.stack(np.unravel_index(used, shape), axis=1).astype(np.int64)
            counts = every[used].astype(np.int64)
        else:
            cells, counts = np.unique(np.stack(given, axis=1), axis=0, return_counts=True)
    unit = Fraction(2) ** block.exponent
    return [int(each) * unit for each in block.exact_answers(names, cells, counts)]


def mean_of_noise(law: NoiseLaw) -> float:
    """How far noise is from 0 on average, in standard deviations."""
    is_laplace = isinstance(law, (Laplace, DiscreteLaplace))
    return math.sqrt(0.5) if is_laplace else math.sqrt(2.0 / math.pi)


def _kind(block: Block) -> tuple[bool, bool]:
    """(every record is counted in exactly one answer, which is that of one cell)."""
    if block.grouped is not None:
        counts = block.inside is not None and set(block.inside.extremes()) == {Fraction(1)}
        return counts, counts
    if block.matrices is None:
        return False, False
    counts = all(
        bool((matrix >= 0).all() and (matrix.sum(axis=0) == 1).all()) for matrix in block.matrices
    )
    return counts, counts and all(map(_is_identity, block.matrices))


def _is_identity(matrix: IntMatrix) -> bool:
    """Whether each row of 0 and 1 that groups values holds one value, in order."""
    rows, values = matrix.shape
    return rows == values and bool((matrix.argmax(axis=0) == np.arange(rows)).all())
