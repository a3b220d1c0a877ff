"""ProductBlock: the queries of a whole block as a product of small matrices, never written out.

A marginal is a product of identities; with a condition its values are weighted, and attributes of
the condition alone have a matrix of one row; counts over groups, contrasts and hierarchies have
their own matrices. Its answers on a table, and the table that weights of its answers add up to,
take one small matrix product an attribute.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from eke.arrays import FloatArray
from eke.query import Block

Names = tuple[str, ...]

_LARGEST_MATRIX = 2**22  # entries; a condition on a longer attribute is not worth writing out


@dataclass(frozen=True, slots=True, eq=False)
class ProductBlock:
    """The queries factor · Π_k matrix_k[row_k, t_k], for every combination of rows in C order."""

    attributes: Names
    sizes: tuple[int, ...]
    matrices: tuple[FloatArray | None, ...]  # (rows_k, |A_k|) each; None is the identity
    factor: float

    @property
    def shape(self) -> tuple[int, ...]:
        """The rows along each attribute."""
        pairs = zip(self.sizes, self.matrices, strict=True)
        return tuple(size if matrix is None else len(matrix) for size, matrix in pairs)

    @property
    def rows(self) -> int:
        return math.prod(self.shape)

    @property
    def likeness(self) -> tuple[object, ...]:
        """Equal for blocks that ask the same questions in the same order."""
        bytes_of = [None if m is None else (m.shape, m.tobytes()) for m in self.matrices]
        return (self.attributes, self.factor, *bytes_of)

    def answers(self, tables: FloatArray) -> FloatArray:
        """The answers on tables; (|A_1|, …, |A_k|, columns) -> (rows, columns)."""
        for axis, matrix in enumerate(self.matrices):
            if matrix is not None:
                tables = along_axis(matrix, tables, axis)
        return self.factor * tables.reshape(self.rows, -1)

    def tables(self, weights: FloatArray) -> FloatArray:
        """The weighted sums of the queries; (rows, columns) -> (|A_1|, …, |A_k|, columns)."""
        total = self.factor * weights.reshape(*self.shape, -1)
        for axis, matrix in enumerate(self.matrices):
            if matrix is not None:
                total = along_axis(matrix.T, total, axis)
        return total


def product_block(query: Block) -> ProductBlock | None:
    """The block as a product of matrices; None for a single query and what is no product."""
    if query.matrices is not None:
        if not query.attributes:
            return None
        matrices = tuple(_unless_identity(m.astype(np.float64)) for m in query.matrices)
        sizes = query.domain.sizes(query.attributes)
        return ProductBlock(query.attributes, sizes, matrices, 1.0)
    if not query.grouped or query.inside is None or len(query.inside.terms) != 1:
        return None
    (term,) = query.inside.terms
    condition = {name: vector.astype(np.float64) for name, vector in term.factors}
    names = query.domain.in_order({*query.attributes, *condition})
    factors: list[FloatArray | None] = []
    for name in names:
        if name not in condition:
            factors.append(None)
        elif name not in query.attributes:
            factors.append(condition[name][None, :])
        elif len(condition[name]) ** 2 <= _LARGEST_MATRIX:
            factors.append(np.diag(condition[name]))
        else:
            return None
    return ProductBlock(names, query.domain.sizes(names), tuple(factors), float(term.weight))


def along_axis(matrix: FloatArray, tables: FloatArray, axis: int) -> FloatArray:
    """The matrix applied along one axis of a table."""
    before = math.prod(tables.shape[:axis])
    after = math.prod(tables.shape[axis + 1 :])
    product = matrix @ tables.reshape(before, tables.shape[axis], after)
    return product.reshape(*tables.shape[:axis], len(matrix), *tables.shape[axis + 1 :])


def _unless_identity(matrix: FloatArray) -> FloatArray | None:
    square = matrix.shape[0] == matrix.shape[1]
    return None if square and np.array_equal(matrix, np.eye(len(matrix))) else matrix
