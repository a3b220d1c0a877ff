"""Finite geometries: few blocks of points such that every t points lie in one of them.

Flats of dimension t-1 or more of an affine or projective space over GF(q) cover every t points,
evenly and with little overlap. Deleting points keeps that property. They say which marginals over
many attributes answer all t-way marginals (see `designs`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, product

Block = tuple[int, ...]
Vector = tuple[int, ...]
Table = tuple[tuple[int, ...], ...]

_MODULUS = {4: 0b111, 8: 0b1011}  # irreducible polynomials over GF(2)
FIELDS = (2, 3, 4, 5, 7, 8)


@lru_cache(maxsize=64)
def affine(order: int, dimension: int, flat: int) -> tuple[int, tuple[Block, ...]]:
    """(points, blocks): the flats of a dimension in the affine space over GF(order)."""
    points = list(product(range(order), repeat=dimension))
    number = {point: i for i, point in enumerate(points)}
    add, _ = _tables(order)
    blocks: set[Block] = set()
    for basis in _subspaces(order, dimension, flat):
        space = _span(basis, order, dimension)
        seen: set[int] = set()
        for index, shift in enumerate(points):
            if index in seen:
                continue  # the flat through this point is known already
            moved = (tuple(add[a][b] for a, b in zip(v, shift, strict=True)) for v in space)
            block = tuple(sorted(number[v] for v in moved))
            seen.update(block)
            blocks.add(block)
    return len(points), tuple(sorted(blocks))


@lru_cache(maxsize=64)
def projective(order: int, dimension: int, flat: int) -> tuple[int, tuple[Block, ...]]:
    """(points, blocks): the flats of a dimension in the projective space over GF(order)."""
    points = [v for v in product(range(order), repeat=dimension + 1) if _normal(v)]
    number = {point: i for i, point in enumerate(points)}
    blocks: set[Block] = set()
    for basis in _subspaces(order, dimension + 1, flat + 1):
        space = _span(basis, order, dimension + 1)
        blocks.add(tuple(sorted(number[v] for v in space if _normal(v))))
    return len(points), tuple(sorted(blocks))


def _normal(vector: Vector) -> bool:
    """True for the one multiple of a vector whose first non-zero entry is one."""
    return next((entry for entry in vector if entry), 0) == 1


def _subspaces(order: int, dimension: int, rank: int) -> Iterator[list[Vector]]:
    """A basis of every linear subspace of some rank, in reduced echelon form."""
    for pivots in combinations(range(dimension), rank):
        free = [
            (row, column)
            for row, pivot in enumerate(pivots)
            for column in range(pivot + 1, dimension)
            if column not in pivots
        ]
        for entries in product(range(order), repeat=len(free)):
            rows = [[0] * dimension for _ in pivots]
            for row, pivot in enumerate(pivots):
                rows[row][pivot] = 1
            for (row, column), entry in zip(free, entries, strict=True):
                rows[row][column] = entry
            yield [tuple(row) for row in rows]


def _span(basis: list[Vector], order: int, dimension: int) -> list[Vector]:
    add, multiply = _tables(order)
    vectors: list[Vector] = [(0,) * dimension]
    for direction in basis:
        multiples = [tuple(multiply[factor][b] for b in direction) for factor in range(order)]
        vectors = [
            tuple(add[a][b] for a, b in zip(v, multiple, strict=True))
            for v in vectors
            for multiple in multiples
        ]
    return vectors


@lru_cache(maxsize=16)
def _tables(order: int) -> tuple[Table, Table]:
    """Addition and multiplication of GF(order), elements written 0, 1, …, order - 1."""
    every = range(order)
    if order in _MODULUS:
        add = tuple(tuple(a ^ b for b in every) for a in every)
        multiply = tuple(tuple(_carryless(a, b, _MODULUS[order]) for b in every) for a in every)
    else:
        add = tuple(tuple((a + b) % order for b in every) for a in every)
        multiply = tuple(tuple(a * b % order for b in every) for a in every)
    return add, multiply


def _carryless(a: int, b: int, modulus: int) -> int:
    result = 0
    while b:
        if b & 1:
            result ^= a
        b >>= 1
        a <<= 1
        if a.bit_length() == modulus.bit_length():
            a ^= modulus
    return result
