"""Designs: sets of larger marginals that cover a workload with few blocks.

Under pure epsilon the noise of every measured marginal grows with the number of marginals, while
summing a larger marginal up only adds the noise of its cells. Covering all pairs of 16 binary
attributes by 20 marginals of four attributes (the lines of an affine plane) halves the error of
any strategy that CUBE considers. Candidates come from finite geometries and from greedy covering;
each is judged by its exact error after least squares.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, compress

import numpy as np

from eke.inference.residuals import Names
from eke.planning.workload.lattice import Lattice
from eke.planning.workload.strategy.blocks import MOST_CELLS, maximal_targets
from eke.planning.workload.strategy.geometry import FIELDS, Block, affine, projective
from eke.privacy.measure import Measure

_MOST_BLOCKS = 600
_MOST_POINTS = 64
_MOST_TARGETS = 20_000


def coverings(lattice: Lattice) -> Iterator[list[Names]]:
    """Sets of marginals, each of which determines the whole workload."""
    maximal = maximal_targets(lattice)
    if len(maximal) > _MOST_TARGETS:
        return
    names = lattice.workload.domain.in_order({n for target in maximal for n in target})
    if not names:  # the total alone
        return
    strength = max(len(target) for target in maximal)
    seen: set[frozenset[Names]] = set()
    for blocks in (*_by_groups(lattice, names, strength), *_greedy(lattice, names, maximal)):
        needed = _needed(blocks, maximal)
        key = frozenset(needed)
        if key in seen or sum(lattice.size(block) for block in needed) > MOST_CELLS:
            continue
        seen.add(key)
        yield needed


def uniform_error(lattice: Lattice, marginals: list[Names], measure: Measure) -> float:
    """The total error after least squares at unit cost, the same noise everywhere."""
    blocks = len(marginals)
    noise = measure.variance_for(1.0 / blocks)
    information = np.asarray(lattice.precisions(marginals).sum(axis=0), np.float64)
    return noise * lattice.total_error(1.0 / information)


def _by_groups(lattice: Lattice, names: Names, strength: int) -> Iterator[list[Names]]:
    """Attributes are put into groups of similar size, and groups are the points of a design."""
    for groups in range(2, min(len(names), _MOST_POINTS) + 1):
        parts = _balanced(lattice, names, groups)
        for blocks in _designs(groups, strength):
            yield [tuple(n for n in names if any(n in parts[p] for p in block)) for block in blocks]


def _balanced(lattice: Lattice, names: Names, groups: int) -> list[set[str]]:
    """Groups with about the same number of cells, the largest attributes placed first."""
    parts: list[set[str]] = [set() for _ in range(groups)]
    loads = [0.0] * groups
    for name in sorted(names, key=lambda n: -lattice.sizes[n]):
        lightest = min(range(groups), key=loads.__getitem__)
        parts[lightest].add(name)
        loads[lightest] += math.log(lattice.sizes[name]) + 1e-9
    return parts


@lru_cache(maxsize=256)
def _designs(points: int, strength: int) -> tuple[tuple[Block, ...], ...]:
    """Coverings of every `strength` points among so many."""
    if points <= strength:
        return ((tuple(range(points)),),)
    designs: list[list[Block]] = [
        list(combinations(range(points), size))
        for size in sorted({strength, points - 1})
        if math.comb(points, size) <= _MOST_BLOCKS
    ]
    for order in FIELDS:
        for dimension in range(2, 7):
            if points > order**dimension * 2 or order ** (dimension - 1) >= 2 * points:
                continue
            for flat in range(max(1, strength - 1), dimension):
                flats = _flats(order, dimension, flat) * order ** (dimension - flat)
                if points <= order**dimension <= 2 * points and flats <= _MOST_BLOCKS:
                    designs.append(_truncated(affine(order, dimension, flat)[1], points))
                total = (order ** (dimension + 1) - 1) // (order - 1)
                flats = _flats(order, dimension + 1, flat + 1)
                if points <= total <= 2 * points and flats <= _MOST_BLOCKS:
                    designs.append(_truncated(projective(order, dimension, flat)[1], points))
    return tuple(tuple(blocks) for blocks in designs)


def _flats(order: int, dimension: int, rank: int) -> float:
    """The number of linear subspaces of some rank (a Gaussian binomial coefficient)."""
    above = math.prod(order ** (dimension - i) - 1 for i in range(rank))
    below = math.prod(order ** (i + 1) - 1 for i in range(rank))
    return float(above) / float(below)


def _truncated(blocks: Sequence[Block], points: int) -> list[Block]:
    """The blocks without the points that there are too many of."""
    cut = {tuple(p for p in block if p < points) for block in blocks}
    return sorted(block for block in cut if block)


def _needed(blocks: list[Names], maximal: list[Names]) -> list[Names]:
    """The blocks without those that are part of another or answer nothing alone."""
    sets = sorted({frozenset(block) for block in blocks}, key=len, reverse=True)
    largest: list[frozenset[str]] = []
    for block in sets:
        if not any(block <= other for other in largest):
            largest.append(block)
    order = {frozenset(block): block for block in blocks}
    wanted = [frozenset(target) for target in maximal]
    return [order[block] for block in largest if any(target <= block for target in wanted)]


def _greedy(lattice: Lattice, names: Names, maximal: list[Names]) -> Iterator[list[Names]]:
    """Blocks of at most so many cells, each grown by the attribute that covers most."""
    if len(maximal) > 2000:
        return
    member = np.array([[n in target for n in names] for target in maximal])
    log_sizes = np.log([float(lattice.sizes[n]) for n in names])
    largest = max(math.log(lattice.size(target)) for target in maximal)
    everything = min(float(log_sizes.sum()), math.log(MOST_CELLS))
    steps = max(2, min(24, int((everything - largest) / math.log(2.0)) + 1))
    for limit in np.linspace(largest, everything, steps):
        blocks = _cover(member, log_sizes, float(limit))
        yield [tuple(compress(names, block)) for block in blocks]


def _cover(member: np.ndarray, log_sizes: np.ndarray, limit: float) -> list[np.ndarray]:
    uncovered = np.ones(len(member), bool)
    blocks = []
    while uncovered.any():
        block = member[int(np.flatnonzero(uncovered)[0])].copy()
        while True:
            room = (~block) & (log_sizes @ block + log_sizes <= limit + 1e-9)
            if not room.any():
                break
            open_targets = member[uncovered]
            lacking = (open_targets & ~block).sum(axis=1)
            # Targets that lack one attribute count whole, those that lack more count less.
            worth = np.where(lacking > 0, 0.1 ** (lacking - 1.0), 0.0) @ (open_targets & ~block)
            score = np.where(room, worth / np.maximum(log_sizes, 1e-9), -1.0)
            best = int(score.argmax())
            if score[best] <= 0.0:
                break
            block[best] = True
        blocks.append(block)
        uncovered &= (member & ~block).any(axis=1)
    return blocks
