"""A preconditioner that is the inverse itself, unless blocks share more than can be put back.

C = K + Σ/α² falls apart into components, one for each set of attributes. Components that blocks
share, single attributes and pairs, have few dimensions and are put back exactly (Woodbury); what
each block says beyond them is diagonal in a basis that does not depend on α (`block_part.py`);
single questions are eliminated exactly (Schur complement). Shared components that are too large to
be put back are counted as if the blocks did not know of each other, as often as there are blocks:
the preconditioner is then at least C, and conjugate gradients do the rest.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from eke.arrays import FloatArray
from eke.inference.shrinkage.blocks.block_part import Axes, BlockPart, block_part
from eke.inference.shrinkage.blocks.implicit_kernel import ImplicitKernel
from eke.inference.shrinkage.blocks.product_block import ProductBlock
from eke.query import Prior

Names = tuple[str, ...]

MOST_COORDINATES = 4000
"""So many coordinates of shared components are put back exactly: a dense factor of 128 MiB."""

_ROUNDING = 1e-12


class Parts:
    """What the preconditioner needs for every α: the blocks in their eigenbases."""

    def __init__(self, kernel: ImplicitKernel, most_coordinates: int = MOST_COORDINATES) -> None:
        self.kernel = kernel
        chosen = _put_back(kernel.blocks, kernel.prior, most_coordinates)
        roots = {name: _root(kernel.prior.vectors[name]) for (name, *more) in chosen if not more}
        self.places: dict[Names, slice] = {}
        self.coordinates = 0
        for names in chosen:
            size = math.prod(roots[name].shape[1] for name in names)
            self.places[names] = slice(self.coordinates, self.coordinates + size)
            self.coordinates += size
        copies = _copies(kernel.blocks, chosen)
        self.blocks: list[BlockPart] = [
            block_part(block, kernel.prior, roots, chosen, often)
            for block, often in zip(kernel.blocks, copies, strict=True)
        ]

    def at(self, ridges: FloatArray) -> Preconditioner:
        """The preconditioner of K + diag(ridges); a ridge for each row, the same within a block."""
        return Preconditioner(self, ridges)

    def components(self, block: int) -> list[tuple[Axes, slice]]:
        """(axes, coordinates) of the components of a block that are put back."""
        names = self.kernel.blocks[block].attributes
        return [
            (axes, self.places[tuple(names[axis] for axis in axes)])
            for axes in self.blocks[block].put_back
        ]


class Preconditioner:
    """An approximate inverse of K + diag(ridges); exact where blocks share no pair."""

    def __init__(self, parts: Parts, ridges: FloatArray) -> None:
        self._parts = parts
        kernel = parts.kernel
        self._inverses: list[FloatArray] = []
        inner = np.eye(parts.coordinates)
        for place, part in enumerate(parts.blocks):
            inverse = 1.0 / (part.own + ridges[kernel.starts[place]])
            self._inverses.append(inverse)
            for axes, rows in parts.components(place):
                for others, columns in parts.components(place):
                    inner[rows, columns] += part.shared(axes, others, inverse)
        self._inner = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
        self._schur = None
        if kernel.singles.size:
            self._schur = self._eliminated(ridges[kernel.block_rows :])

    def times(self, columns: FloatArray) -> FloatArray:
        """The approximate inverse applied; (size, columns)."""
        kernel = self._parts.kernel
        split = kernel.block_rows
        first = self._blocks(columns[:split])
        if self._schur is None:
            return first
        right = columns[split:] - kernel.onto_singles(first)
        alone = np.asarray(cho_solve(self._schur, right, check_finite=False))
        first -= self._blocks(kernel.from_singles(alone))
        return np.concatenate([first, alone])

    def _eliminated(self, ridges: FloatArray) -> tuple[FloatArray, bool]:
        """A factor of the single questions' kernel given the blocks."""
        kernel = self._parts.kernel
        left = kernel.among_singles.copy()
        for some, products in kernel.across():
            left[:, some] -= kernel.onto_singles(self._blocks(products))
        left = 0.5 * (left + left.T)
        # Rounding must not make it indefinite; it only has to be near.
        least = _ROUNDING * float(np.diag(kernel.among_singles).max())
        left.flat[:: len(left) + 1] += np.maximum(ridges, least)
        factor, lower = cho_factor(left, lower=True, overwrite_a=True, check_finite=False)
        return factor, bool(lower)

    def _blocks(self, columns: FloatArray) -> FloatArray:
        """The inverse of the blocks' part; (block rows, columns)."""
        parts, starts = self._parts, self._parts.kernel.starts
        scaled = []
        gathered = np.zeros((parts.coordinates, columns.shape[1]))
        for place, part in enumerate(parts.blocks):
            table = part.into(columns[starts[place] : starts[place + 1]])
            table = table * self._inverses[place][..., None]
            scaled.append(table)
            for axes, rows in parts.components(place):
                gathered[rows] += part.coordinates(axes, table)
        solved = cho_solve(self._inner, gathered, check_finite=False)
        result = np.empty((starts[-1], columns.shape[1]))
        for place, part in enumerate(parts.blocks):
            table = scaled[place]
            for axes, rows in parts.components(place):
                table -= self._inverses[place][..., None] * part.spread(axes, solved[rows])
            result[starts[place] : starts[place + 1]] = part.back(table)
        return result


def _put_back(
    blocks: Sequence[ProductBlock], prior: Prior, most_coordinates: int
) -> dict[Names, None]:
    """The components to put back exactly: single attributes, then pairs that blocks share."""
    sizes = {name: len(prior.vectors[name]) - 1 for block in blocks for name in block.attributes}
    chosen: dict[Names, None] = {}
    left = most_coordinates
    for name in sorted(sizes, key=lambda name: sizes[name]):
        left -= sizes[name]
        if left >= 0:
            chosen[(name,)] = None
    often = Counter(pair for block in blocks for pair in combinations(block.attributes, 2))
    pairs = [(a, b) for (a, b), blocks in often.items() if blocks > 1]
    left = most_coordinates - sum(sizes[name] for (name,) in chosen)
    for a, b in sorted(pairs, key=lambda pair: sizes[pair[0]] * sizes[pair[1]]):
        left -= sizes[a] * sizes[b]
        if left >= 0 and (a,) in chosen and (b,) in chosen:
            chosen[a, b] = None
    return chosen


def _root(p0: FloatArray) -> FloatArray:
    """R with R·Rᵀ = diag(p0) − p0·p0ᵀ, of full column rank."""
    eigenvalues, vectors = np.linalg.eigh(np.diag(p0) - np.multiply.outer(p0, p0))
    return np.asarray(vectors[:, 1:] * np.sqrt(np.maximum(eigenvalues[1:], 0.0)))


def _copies(blocks: Sequence[ProductBlock], put_back: Collection[Names]) -> list[int]:
    """How many blocks at most know the same thing as each block, itself included."""

    def known(block: ProductBlock) -> list[Names]:
        # Larger components are no more often known than the triples in them.
        sizes = range(1, min(len(block.attributes), 3) + 1)
        subsets = [c for size in sizes for c in combinations(block.attributes, size)]
        return [names for names in subsets if names not in put_back]

    holders = Counter(names for block in blocks for names in known(block))
    return [max((holders[names] for names in known(block)), default=1) for block in blocks]
