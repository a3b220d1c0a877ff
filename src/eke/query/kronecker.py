"""Kronecker: a block of queries whose coefficients are products of small integer matrices.

Each attribute has a matrix of whole numbers, one column for each of its values. The block has a
query for every combination of rows, and its coefficient at a cell is the product of the matrices'
entries. A marginal is the special case of identity matrices; contrasts, hierarchies and wavelets
are others. The block stays one object however many queries it has, and a record in cell t touches
them with coefficients whose absolute values (or squares) add up to a product over the attributes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain
from eke.errors import QueryError
from eke.query.block import Names, Reach
from eke.query.canonical import Term
from eke.query.linear import Block, Query
from eke.query.own import own_name
from eke.query.vector import SAFE, IntMatrix, IntVector, absolute_sum, height

MOST_QUERIES = 10_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Kronecker(Block):
    """The queries Π_k matrix_k[row_k, t_k], for every combination of rows; without a condition."""

    kind: ClassVar[str] = "kronecker"
    domain: Domain = field()
    attributes: Names = field()
    matrices: tuple[IntMatrix, ...] = field()  # (rows_k, |A_k|) each
    _groups: tuple[IntVector, ...] | None = field(init=False, repr=False)  # the row of each value

    def __post_init__(self) -> None:
        if self.attributes != self.domain.in_order(self.attributes):
            raise QueryError("a block's attributes must be in the domain's order, each once")
        if len(self.matrices) != len(self.attributes):
            raise QueryError("a block needs one matrix for each of its attributes")
        copies = []
        for name, matrix in zip(self.attributes, self.matrices, strict=True):
            size = self.domain[name].size
            copy = np.array(matrix)  # a copy: whoever keeps the matrix cannot change the block
            if copy.ndim != 2 or copy.shape[1] != size or not len(copy):
                raise QueryError(f"the matrix over {name!r} needs rows of {size} coefficients")
            if copy.dtype.kind != "i":
                raise QueryError(f"the matrix over {name!r} must hold whole numbers")
            copy = copy.astype(np.int64, copy=False)
            copy.setflags(write=False)
            copies.append(copy)
        object.__setattr__(self, "matrices", tuple(copies))
        if self.cells > MOST_QUERIES:
            raise QueryError(f"a block may have at most {MOST_QUERIES:,} queries; take fewer")
        # A matrix of zeros must not hide what the others hold: each is looked at on its own, too.
        if math.prod(max(1, height(matrix)) for matrix in copies) >= SAFE:
            raise QueryError("the coefficients of a block must stay below 2^62; scale them down")
        object.__setattr__(self, "_groups", _groups_of(copies))

    def __eq__(self, other: object) -> bool:
        """Equal when they ask the same, row by row; a block of another kind is another."""
        return isinstance(other, Kronecker) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        rows = tuple((len(matrix), matrix.tobytes()) for matrix in self.matrices)
        return self.domain, self.attributes, rows

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(len(matrix) for matrix in self.matrices)

    @property
    def exponent(self) -> int:
        """Coefficients are integers: multiples of 2^0."""
        return 0

    @property
    def inside(self) -> None:
        """None: a record touches every query whose coefficient is not 0 in its cell."""

    @property
    def grouped(self) -> None:
        """None: rows are no values of an attribute, even where they count single ones."""

    def cell(self, index: int) -> Query:
        """One query of the block, by its flat index in C order."""
        if not 0 <= index < self.cells:
            raise QueryError(f"the block has queries 0 to {self.cells - 1}, not {index}")
        rows = np.unravel_index(index, self.shape) if self.shape else ()
        factors: list[tuple[str, IntVector]] = [
            (name, matrix[row])
            for name, matrix, row in zip(self.attributes, self.matrices, rows, strict=True)
        ]
        return Query.unrounded(self.domain, [Term(Fraction(1), tuple(factors))])

    def reach(self, power: int) -> Reach:
        """Σ_rows |coefficient|^power for every value of every attribute.

        Privacy: what one record in cell t adds to the L1 norm (power 1) or the squared L2 norm
        (power 2) of the answers is the product over the attributes of these vectors at t.
        """
        if power not in {1, 2}:
            raise QueryError("a reach has power 1 or 2")
        if self._groups is not None:  # each value counts once
            ones = [np.ones(len(groups), object) for groups in self._groups]
            return tuple(zip(self.attributes, ones, strict=True))
        return tuple(
            (name, (np.abs(matrix.astype(object)) ** power).sum(axis=0))
            for name, matrix in zip(self.attributes, self.matrices, strict=True)
        )

    def exact(self, table: NDArray[np.int64]) -> NDArray[Any]:
        """All answers on the exact counts of the attributes' marginal, as exact integers.

        Privacy: sums and products of Python integers wherever int64 might overflow. Each sum on
        the way, finished or not, is at most the largest product of coefficients times the sum of
        all counts; this bound is a Python integer itself, so that it cannot overflow either.
        """
        if table.shape != self.domain.sizes(self.attributes):
            raise QueryError("the counts must be those of the block's own attributes")
        if table.dtype.kind != "i":
            raise QueryError("exact counts are whole numbers")
        return self._products(table)

    def _products(self, table: NDArray[Any]) -> NDArray[Any]:
        largest = math.prod(max(1, height(matrix)) for matrix in self.matrices)
        dtype: Any = np.int64 if largest * absolute_sum(table) < SAFE else object
        answers: NDArray[Any] = table.astype(dtype)
        for axis, matrix in enumerate(self.matrices):
            moved = np.moveaxis(answers, axis, 0)
            product = np.tensordot(matrix.astype(dtype), moved, axes=1)
            answers = np.moveaxis(product, 0, axis)
        return answers

    def exact_answers(
        self, attributes: Sequence[str], codes: NDArray[np.int64], counts: NDArray[np.int64]
    ) -> list[int]:
        """The exact answers in the order of the queries, as Python integers; cells may repeat.

        Privacy: those of `exact`, which are summed without overflow; groups of values are added up
        cell by cell, in int64 where it holds the sum of all counts.
        """
        if tuple(attributes) != self.attributes:
            raise QueryError("the counts must be those of the block's own attributes")
        # Cells that repeat add up, in Python integers where int64 might not hold the sum.
        dtype: Any = np.int64 if absolute_sum(counts) < SAFE else object
        if self._groups is not None:
            place = np.zeros(len(counts), np.int64)
            for groups, size, column in zip(self._groups, self.shape, codes.T, strict=True):
                place = place * size + groups[column]
            answers = np.zeros(self.cells, dtype)
            np.add.at(answers, place, counts.astype(dtype))
            whole: list[int] = answers.tolist()
            return whole
        table = np.zeros(self.domain.sizes(self.attributes), dtype)
        np.add.at(table, tuple(codes.T), counts.astype(dtype))
        return [int(answer) for answer in self._products(table).ravel()]

    def rebuilt(self, domain: Domain) -> Kronecker:
        return Kronecker(domain, tuple(map(own_name, self.attributes)), tuple(self.matrices))

    @property
    def description(self) -> str:
        return f"{self.cells:,} combinations of counts by {', '.join(self.attributes)}"

    def to_document(self) -> dict[str, Any]:
        matrices: list[Any]
        if self._groups is None:
            matrices = [matrix.tolist() for matrix in self.matrices]
        else:  # much shorter
            matrices = [
                {"groups": groups.tolist(), "of": len(matrix)}
                for groups, matrix in zip(self._groups, self.matrices, strict=True)
            ]
        return {"kronecker": list(self.attributes), "matrices": matrices}

    @staticmethod
    def from_document(domain: Domain, document: Mapping[str, Any]) -> Kronecker:
        """The block that `to_document` wrote down."""
        if not isinstance(document, Mapping) or set(document) != {"kronecker", "matrices"}:
            raise QueryError("not a block document: it needs 'kronecker' and 'matrices'")
        names, matrices = document["kronecker"], document["matrices"]
        if not isinstance(names, list) or any(name not in domain for name in names):
            raise QueryError("not a block document: 'kronecker' must list the domain's attributes")
        if not isinstance(matrices, list):
            raise QueryError("not a block document: 'matrices' must be a list")
        read = (
            _grouping(rows) if isinstance(rows, Mapping) else _integers(rows) for rows in matrices
        )
        return Kronecker(domain, tuple(names), tuple(read))


def _groups_of(matrices: Sequence[IntMatrix]) -> tuple[IntVector, ...] | None:
    """The row of each value, where every value has a 1 in one row and a 0 in the others."""
    groups = []
    for matrix in matrices:
        if height(matrix) > 1 or (matrix < 0).any() or (matrix.sum(axis=0) != 1).any():
            return None
        groups.append(matrix.argmax(axis=0).astype(np.int64, copy=False))
    return tuple(groups)


def _grouping(document: Mapping[str, Any]) -> IntMatrix:
    """The matrix of 0 and 1 that counts groups of values."""
    groups, size = document.get("groups"), document.get("of")
    if (
        set(document) != {"groups", "of"}
        or not isinstance(groups, list)
        or type(size) is not int
        or not 0 < size <= MOST_QUERIES
        or any(type(group) is not int or not 0 <= group < size for group in groups)
    ):
        raise QueryError("not a block document: groups are a list of rows from 0 on, 'of' so many")
    rows = np.arange(size, dtype=np.int64)[:, np.newaxis]
    matrix: IntMatrix = (np.array(groups, np.int64) == rows).astype(np.int64)
    return matrix


def _integers(rows: Sequence[Sequence[int]]) -> IntMatrix:
    try:
        whole = all(type(entry) is int and abs(entry) < SAFE for row in rows for entry in row)
        matrix = np.array(rows, np.int64) if whole else None
    except (TypeError, ValueError, OverflowError):
        matrix = None
    if matrix is None:
        raise QueryError("not a block document: a matrix is a list of rows of whole numbers")
    return matrix
