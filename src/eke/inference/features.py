"""Features: the queries of a history, sorted so that kernels and models are a few matrix products.

A query that is one product of vectors stays one (`TermStack`, HIST eq. 20); a query that is a sum
of several products over few attributes becomes a table over them (HIST eq. 13 and Th. 2), and all
tables over the same attributes share one matrix; a whole marginal is the identity over its cells
and is never written out. Nothing here is as large as the domain.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import QueryError
from eke.history import Measurement
from eke.query import Block, Prior, Query, TermStack
from eke.query.vector import IntMatrix

IndexArray = NDArray[np.intp]

TABLE_CELLS = 2**16
"""Sums of products over at most this many cells are kept as tables."""
_CHUNK_NUMBERS = 2**25


@dataclass(frozen=True, slots=True, eq=False)
class TableGroup:
    """Queries over the same attributes; without `tables` one for each cell, in C order."""

    attributes: tuple[str, ...]
    rows: IndexArray  # (queries,) the place of each in the history
    tables: FloatArray | None = None  # (queries, cells)

    def dense(self) -> FloatArray:
        """The tables, the identity written out."""
        return np.eye(len(self.rows)) if self.tables is None else self.tables

    def times(self, cells: FloatArray) -> FloatArray:
        """The answers on a table of numbers; shape (queries,)."""
        return cells if self.tables is None else self.tables @ cells

    def transposed_times(self, weights: FloatArray) -> FloatArray:
        """The weighted sum of the queries, as a table; shape (cells,)."""
        return weights if self.tables is None else weights @ self.tables


class HistoryFeatures:
    """Many queries over one domain; rows are numbered as in the history they come from."""

    def __init__(
        self,
        domain: Domain,
        *,
        products: Sequence[Query] = (),
        product_rows: Sequence[int] | IndexArray = (),
        groups: Sequence[TableGroup] = (),
    ) -> None:
        self.domain = domain
        self.products = tuple(products)
        self.product_rows: IndexArray = np.asarray(product_rows, np.intp)
        self.groups = tuple(groups)
        if len(self.products) != len(self.product_rows):
            raise QueryError("features need one row number for each product")
        self.size = len(self.products) + sum(len(group.rows) for group in self.groups)

    @staticmethod
    def of(domain: Domain, blocks: Iterable[Block]) -> HistoryFeatures:
        """The features of queries and whole blocks, in their order."""
        products: list[Query] = []
        product_rows: list[int] = []
        tables: dict[tuple[str, ...], list[tuple[int, FloatArray]]] = {}
        groups: list[TableGroup] = []
        row = 0
        for block in blocks:
            if block.domain is not domain and block.domain != domain:
                raise QueryError("the features of a history are over one domain")
            matrices = block.matrices
            if is_plain(block):
                rows = np.arange(row, row + block.cells, dtype=np.intp)
                groups.append(TableGroup(block.attributes, rows))
                row += block.cells
                continue
            if matrices is not None and _fits(block):
                rows = np.arange(row, row + block.cells, dtype=np.intp)
                groups.append(TableGroup(block.attributes, rows, _written_out(matrices)))
                row += block.cells
                continue
            for single in block.queries():
                if len(single.terms) > 1 and single.support_size <= TABLE_CELLS:
                    table = table_of(single, single.attributes)
                    tables.setdefault(single.attributes, []).append((row, table))
                else:
                    products.append(single)
                    product_rows.append(row)
                row += 1
        for attributes, rows_and_tables in tables.items():
            stacked = np.array([table for _, table in rows_and_tables])
            groups.append(
                TableGroup(attributes, np.array([r for r, _ in rows_and_tables], np.intp), stacked)
            )
        return HistoryFeatures(domain, products=products, product_rows=product_rows, groups=groups)

    @staticmethod
    def of_measurements(domain: Domain, measurements: Iterable[Measurement]) -> HistoryFeatures:
        """The features of a history."""
        return HistoryFeatures.of(domain, (measurement.query for measurement in measurements))

    def stack(self, prior: Prior) -> TermStack:
        """The products as a stack for inner products."""
        terms = sum(max(1, len(query.terms)) for query in self.products)
        stack = TermStack(prior, capacity=max(1, terms))
        for query in self.products:
            stack.append(query)
        return stack

    def means(self, prior: Prior) -> FloatArray:
        """The answer of each row on one record drawn from the prior; shape (size,)."""
        result = np.zeros(self.size)
        if self.products:
            average_record = {name: vector[:, None] for name, vector in prior.vectors.items()}
            result[self.product_rows] = self.stack(prior).project(average_record)[:, 0]
        for group in self.groups:
            result[group.rows] = group.times(probabilities(prior, group.attributes))
        return result


def kernel(features: HistoryFeatures, prior: Prior) -> FloatArray:
    """The inner products of all rows under the prior (HIST §3.2, §3.4); shape (size, size)."""
    result = np.zeros((features.size, features.size))
    if features.products:
        product = features.stack(prior).gram()
        if not features.groups:
            order = features.product_rows
            if np.array_equal(order, np.arange(len(order))):
                return product
        result[np.ix_(features.product_rows, features.product_rows)] = product
    _fill_cross(result, features, features, prior)
    return result


def cross_kernel(left: HistoryFeatures, right: HistoryFeatures, prior: Prior) -> FloatArray:
    """The inner products of every row of one list with every row of another."""
    result = np.zeros((left.size, right.size))
    if left.products and right.products:
        stack = left.stack(prior)
        block = np.stack([stack.against(query) for query in right.products], axis=1)
        result[np.ix_(left.product_rows, right.product_rows)] = block
    _fill_cross(result, left, right, prior)
    return result


def norms(features: HistoryFeatures, prior: Prior) -> FloatArray:
    """⟨q, q⟩ of every row; shape (size,)."""
    result = np.zeros(features.size)
    for row, query in zip(features.product_rows, features.products, strict=True):
        single = TermStack(prior, capacity=max(1, len(query.terms)))
        single.append(query)
        result[row] = single.against(query)[0]
    for group in features.groups:
        weights = probabilities(prior, group.attributes)
        result[group.rows] = weights if group.tables is None else group.tables**2 @ weights
    return result


def is_plain(block: Block) -> bool:
    """True when the block has a cell for every combination of values, and a record adds one."""
    if not block.grouped or block.inside is None:
        return False
    terms = block.inside.terms
    return len(terms) == 1 and not terms[0].vectors and terms[0].weight == 1


def _fits(block: Block) -> bool:
    """Whether a block's coefficients may be written out."""
    sizes = block.domain.sizes(block.attributes)
    return bool(sizes) and math.prod(sizes) * block.cells <= _CHUNK_NUMBERS


def _written_out(matrices: Sequence[IntMatrix]) -> FloatArray:
    """The coefficients of a block; shape (queries, cells)."""
    whole: FloatArray = np.ones((1, 1))
    for matrix in matrices:
        whole = np.asarray(np.kron(whole, matrix), np.float64)
    return whole


def table_of(query: Query, attributes: Sequence[str]) -> FloatArray:
    """The query's coefficients over attributes that cover its own, flat in C order."""
    shape = query.domain.sizes(attributes)
    total = np.zeros(shape)
    for term in query.terms:
        part = np.full((1,) * len(shape), float(term.weight))
        for name, vector in term.factors:
            axis = attributes.index(name)
            part = part * vector.reshape([-1 if k == axis else 1 for k in range(len(shape))])
        total = total + part
    return total.reshape(-1)


def probabilities(prior: Prior, attributes: Sequence[str]) -> FloatArray:
    """The prior of the cells over some attributes, flat in C order."""
    cells = np.ones(1)
    for name in attributes:
        cells = np.multiply.outer(cells, prior.vectors[name]).reshape(-1)
    return cells


def _fill_cross(
    result: FloatArray, left: HistoryFeatures, right: HistoryFeatures, prior: Prior
) -> None:
    """The entries in which at least one of both rows belongs to a table."""
    if left.products:
        stack = left.stack(prior)
        for group in right.groups:
            result[np.ix_(left.product_rows, group.rows)] = _against_tables(stack, group, prior)
    for group in left.groups:
        for other in right.groups:
            result[np.ix_(group.rows, other.rows)] = _tables_product(group, other, prior)
    if right.products and left.groups:
        stack = right.stack(prior)
        for group in left.groups:
            block = _against_tables(stack, group, prior).T
            result[np.ix_(group.rows, right.product_rows)] = block


def _against_tables(stack: TermStack, group: TableGroup, prior: Prior) -> FloatArray:
    """⟨product, table⟩ for all pairs; each cell is a product functional. Shape (rows, queries)."""
    shape = prior.domain.sizes(group.attributes)
    cells = math.prod(shape)
    total: FloatArray = np.zeros((stack.rows, len(group.rows)))
    chunk = max(1, _CHUNK_NUMBERS // max(1, stack.rows))
    for start in range(0, cells, chunk):
        here = np.arange(start, min(start + chunk, cells))
        codes = dict(zip(group.attributes, np.unravel_index(here, shape), strict=True))
        functionals = {}
        for name, vector in prior.vectors.items():
            if name in codes:
                columns = np.zeros((len(vector), len(here)))
                columns[codes[name], np.arange(len(here))] = vector[codes[name]]
            else:
                columns = np.repeat(vector[:, None], len(here), axis=1)
            functionals[name] = columns
        projected = stack.project(functionals)
        if group.tables is None:
            total[:, here] = projected
        else:
            total += projected @ group.tables[:, here].T
    return total


def _tables_product(left: TableGroup, right: TableGroup, prior: Prior) -> FloatArray:
    """Inner products of tables by their shared attributes alone (HIST Th. 2)."""
    shared = tuple(name for name in left.attributes if name in right.attributes)
    weights = probabilities(prior, shared)
    if left.tables is None and right.tables is None and left.attributes == right.attributes:
        return np.diag(weights)
    first, second = (averaged_tables(group, shared, prior) for group in (left, right))
    return (first * weights) @ second.T


def averaged_tables(group: TableGroup, shared: tuple[str, ...], prior: Prior) -> FloatArray:
    """The tables averaged over the attributes that are not shared; shape (queries, cells)."""
    if shared == group.attributes:
        return group.dense()
    shape = prior.domain.sizes(group.attributes)
    table = group.dense().reshape((len(group.rows), *shape))
    for axis in reversed(range(len(shape))):
        name = group.attributes[axis]
        if name not in shared:
            table = np.tensordot(table, prior.vectors[name], axes=(axis + 1, 0))
    return table.reshape(len(group.rows), -1)
