"""One block in the coordinates that make its own part of the kernel diagonal.

What a block says splits into components, one for each set of its attributes (`averages.py`). Those
that other blocks know as well are put back as a low-rank part (`preconditioner.py`). What is left
is the component of all its attributes together, as a rule: a product of small matrices, which their
eigenvectors diagonalise together with the noise, whatever α is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import combinations
from string import ascii_letters

import numpy as np

from eke.arrays import FloatArray
from eke.inference.shrinkage.blocks.averages import averaged_along
from eke.inference.shrinkage.blocks.product_block import ProductBlock, along_axis
from eke.query import Prior

Names = tuple[str, ...]
Axes = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BlockPart:
    """The block's own part ν·⊗T_k in its eigenbasis, and the low-rank parts L of components."""

    shape: tuple[int, ...]
    rotations: tuple[FloatArray | None, ...]  # eigenvectors of each T_k; None is the identity
    own: FloatArray  # broadcasts to (*shape,): the eigenvalues
    means: tuple[FloatArray, ...]  # U_kᵀ·M_k·p_k
    roots: tuple[FloatArray, ...]  # U_kᵀ·M_k·R_k; without columns where nothing is put back
    put_back: tuple[Axes, ...]

    def into(self, columns: FloatArray) -> FloatArray:
        """(rows, columns) -> (*shape, columns) in the eigenbasis."""
        return self._turned(columns.reshape(*self.shape, -1), transposed=True)

    def back(self, tables: FloatArray) -> FloatArray:
        """The inverse of `into`."""
        return self._turned(tables, transposed=False).reshape(-1, tables.shape[-1])

    def coordinates(self, axes: Axes, tables: FloatArray) -> FloatArray:
        """Lᵀ·tables for one component; (coordinates, columns)."""
        for axis in reversed(range(len(self.shape))):
            if axis in axes:
                tables = along_axis(self.roots[axis].T, tables, axis)
            else:
                tables = averaged_along(tables, self.means[axis], axis)
        return tables.reshape(-1, tables.shape[-1])

    def spread(self, axes: Axes, coordinates: FloatArray) -> FloatArray:
        """L·coordinates for one component; (*shape, columns)."""
        lengths = [self.roots[k].shape[1] if k in axes else 1 for k in range(len(self.shape))]
        table = coordinates.reshape(*lengths, -1)
        for axis, mean in enumerate(self.means):
            matrix = self.roots[axis] if axis in axes else mean[:, None]
            table = along_axis(matrix, table, axis)
        return table

    def shared(self, axes: Axes, others: Axes, inverse: FloatArray) -> FloatArray:
        """L_axesᵀ·diag(inverse)·L_others, for a table of inverses; (coordinates, coordinates)."""
        count = len(self.shape)
        cells, left, right = (ascii_letters[k * count : (k + 1) * count] for k in range(3))
        operands, letters = [np.broadcast_to(inverse, self.shape)], [cells]
        for letter_of, shown in ((left, axes), (right, others)):
            for axis in range(count):
                operands.append(self.roots[axis] if axis in shown else self.means[axis])
                letters.append(cells[axis] + letter_of[axis] if axis in shown else cells[axis])
        wanted = "".join([left[axis] for axis in axes] + [right[axis] for axis in others])
        rule = f"{','.join(letters)}->{wanted}"
        product = np.einsum(rule, *operands, optimize="greedy")
        size = math.prod(self.roots[axis].shape[1] for axis in axes)
        return np.asarray(product).reshape(size, -1)

    def _turned(self, tables: FloatArray, *, transposed: bool) -> FloatArray:
        for axis, rotation in enumerate(self.rotations):
            if rotation is not None:
                tables = along_axis(rotation.T if transposed else rotation, tables, axis)
        return tables


def block_part(
    block: ProductBlock,
    prior: Prior,
    roots: Mapping[str, FloatArray],
    put_back: Collection[Names],
    copies: int,
) -> BlockPart:
    """The block prepared, given R_k with R_k·R_kᵀ = diag(p_k) − p_k·p_kᵀ of short attributes.

    `copies` is ν: how many blocks at most know the same thing that is not put back. Counting it as
    often makes the sum of all parts at least the whole kernel.
    """
    names = block.attributes
    components = [c for size in range(len(names)) for c in combinations(names, size + 1)]
    known = [component for component in components if component in put_back]
    rest = [component for component in components if component not in put_back]
    only_whole = rest == [names] and all(name in roots for name in names)
    rotations, means, turned = [], [], []
    spectrum: FloatArray = np.full((1,) * len(names), float(copies) if rest else 0.0)
    for axis, (name, matrix) in enumerate(zip(names, block.matrices, strict=True)):
        p0 = prior.vectors[name]
        factor = block.factor if axis == 0 else 1.0
        rotation, eigenvalues = _eigenbasis(matrix, roots[name] if only_whole else None, p0)
        spectrum = spectrum * (factor**2 * eigenvalues).reshape(
            [-1 if k == axis else 1 for k in range(len(names))]
        )
        rotations.append(rotation)
        means.append(factor * _seen(p0, matrix, rotation))
        root = roots.get(name, np.empty((len(p0), 0)))
        turned.append(factor * _seen(root, matrix, rotation))
    axes = tuple(tuple(names.index(name) for name in component) for component in known)
    return BlockPart(block.shape, tuple(rotations), spectrum, tuple(means), tuple(turned), axes)


def _seen(
    columns: FloatArray, matrix: FloatArray | None, rotation: FloatArray | None
) -> FloatArray:
    """Uᵀ·M·columns."""
    answers = columns if matrix is None else matrix @ columns
    return answers if rotation is None else rotation.T @ answers


def _eigenbasis(
    matrix: FloatArray | None, root: FloatArray | None, p0: FloatArray
) -> tuple[FloatArray | None, FloatArray]:
    """(eigenvectors, eigenvalues) of M·T·Mᵀ with T = root·rootᵀ, or diag(p0) without a root."""
    if root is None and matrix is None:
        return None, p0
    half = np.sqrt(p0)[:, None] * np.eye(len(p0)) if root is None else root
    factor = half if matrix is None else matrix @ half
    eigenvalues, vectors = np.linalg.eigh(factor @ factor.T)
    return vectors, np.maximum(eigenvalues, 0.0)
