"""Blocks: the strategies of CUBE for workloads of marginals, as products of kernels.

A strategy is a list of blocks and an initial recovery: which variance each target would have if it
were computed from the blocks as the strategy's authors do it. Noise is shared by the rows of a
block (they form a group in the sense of CUBE Def. 3.1, or several with equal budgets), so a
strategy with noise is a list of one number for each block. See `planning.budget`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from eke.arrays import FloatArray
from eke.errors import QueryError
from eke.inference.residuals import Names, subsets
from eke.planning.workload.lattice import Lattice
from eke.planning.workload.strategy.kernel import Kernel, Kind
from eke.privacy.measure import Measure

MOST_CELLS = 10_000_000
"""A strategy that measures more answers than this is not considered."""


@dataclass(frozen=True, slots=True)
class KernelBlock:
    """The rows ⊗_k kernel_k over some attributes; the total when there are none."""

    attributes: Names
    kernels: tuple[Kernel, ...]

    @property
    def rows(self) -> int:
        return math.prod(kernel.rows for kernel in self.kernels)

    @property
    def is_marginal(self) -> bool:
        return all(kernel.kind == "cells" for kernel in self.kernels)

    def reach(self, measure: Measure) -> float:
        """What a record adds to the L1 norm (epsilon) or the squared L2 norm (rho) of the rows."""
        return float(math.prod(kernel.reach(measure.order) for kernel in self.kernels))

    def precision(self, component: Names) -> float:
        """The precision that noise of unit variance on every row gives to a component."""
        product = 1.0
        for name, kernel in zip(self.attributes, self.kernels, strict=True):
            if name in component:
                product *= kernel.centred_gain
            else:
                product *= kernel.mean_gain / kernel.size
        return product


@dataclass(frozen=True, slots=True, eq=False)
class BlockStrategy:
    """What to measure for a workload of marginals, noise apart."""

    name: str
    blocks: tuple[KernelBlock, ...]
    initial: csr_array[np.float64]  # (targets, blocks): cell variance = initial @ noise variances
    row_squares: FloatArray  # what "the same noise" is relative to: squared lengths of rows, or one

    def precisions(self, lattice: Lattice) -> csr_array[np.float64]:
        """(blocks, components): the precision of each component for unit noise in each block."""
        if all(block.is_marginal for block in self.blocks):
            return lattice.precisions([block.attributes for block in self.blocks])
        if all(k.mean_gain == 0.0 for block in self.blocks for k in block.kernels):
            places = [lattice.index[block.attributes] for block in self.blocks]
            gains = [block.precision(block.attributes) for block in self.blocks]
            shape = (len(places), len(lattice.sets))
            return csr_array((gains, (np.arange(len(places)), places)), shape=shape)
        pattern = lattice.pattern([block.attributes for block in self.blocks])
        owner = np.repeat(np.arange(len(self.blocks)), np.diff(pattern.indptr))
        pattern.data = np.array(
            [
                self.blocks[row].precision(lattice.sets[column])
                for row, column in zip(owner, pattern.indices, strict=True)
            ]
        )
        return pattern

    def reaches(self, measure: Measure) -> FloatArray:
        return np.array([block.reach(measure) for block in self.blocks])


def cells_block(lattice: Lattice, names: Names) -> KernelBlock:
    """The marginal over the attributes."""
    return KernelBlock(names, tuple(Kernel("cells", lattice.sizes[name]) for name in names))


def marginals_strategy(name: str, lattice: Lattice, marginals: list[Names]) -> BlockStrategy:
    """Measure these marginals; each target is summed up from the one that makes least noise."""
    measured = sorted(set(marginals), key=lambda names: (lattice.size(names), names))
    sets = [frozenset(names) for names in measured]
    place = {names: j for j, names in enumerate(measured)}
    columns, sums = [], []
    for target in lattice.targets:
        wanted = frozenset(target)
        column = place.get(target)
        if column is None:
            column = next((j for j, names in enumerate(sets) if wanted <= names), None)
        if column is None:
            raise QueryError(f"nothing measured determines the marginal over {', '.join(target)}")
        columns.append(column)
        sums.append(lattice.size(measured[column]) / lattice.size(target))
    shape = (len(columns), len(measured))
    initial = csr_array((np.array(sums), (np.arange(len(columns)), columns)), shape=shape)
    blocks = tuple(cells_block(lattice, m) for m in measured)
    return BlockStrategy(name, blocks, initial, np.ones(len(blocks)))


def base_counts(lattice: Lattice) -> BlockStrategy | None:
    """I: every cell over all attributes of the workload; None when there are too many."""
    names = lattice.workload.domain.in_order({n for target in lattice.targets for n in target})
    if lattice.size(names) > MOST_CELLS:
        return None
    return marginals_strategy("I", lattice, [names])


def workload_itself(lattice: Lattice) -> BlockStrategy:
    """Q: every marginal of the workload."""
    return marginals_strategy("Q", lattice, lattice.targets)


def maximal_targets(lattice: Lattice) -> list[Names]:
    """The marginals of the workload that are no part of another one."""
    within = {part for names in set(lattice.targets) for part in subsets(names) if part != names}
    return [names for names in dict.fromkeys(lattice.targets) if names not in within]


def fourier_encoded(lattice: Lattice) -> BlockStrategy:
    """F: the ±1 coefficients of the binary code of every attribute, as in the paper (§4.1).

    The initial recovery is the inverse transform on the padded code.
    """
    return _by_components("F", lattice, "walsh")


def fourier_direct(lattice: Lattice) -> BlockStrategy:
    """Fourier coefficients on the attributes' own sizes."""
    return _by_components("Fourier", lattice, "fourier")


def residual_tables(lattice: Lattice, measure: Measure) -> BlockStrategy:
    """Every component by itself, along each attribute in the form that costs least.

    With Gaussian noise this is the optimal strategy for marginals. With Laplace noise the form
    matters: (1, -1) is half the price of its two rows, while tables of deviations have smaller
    column sums than dense Fourier rows when there are four values or more.
    """
    return _by_components("residuals", lattice, "residual" if measure.rotations_are_free else None)


def _by_components(name: str, lattice: Lattice, kind: Kind | None) -> BlockStrategy:
    # A component along an attribute of one value is zero, there is nothing to measure.
    needed = np.flatnonzero(lattice.share > 0.0)
    sets = [lattice.sets[i] for i in needed]
    used = {name for names in (*sets, *lattice.targets) for name in names}
    kernels = {
        n: _cheapest(size) if kind is None else _kernel(kind, size)
        for n, size in lattice.sizes.items()
        if n in used
    }
    blocks = tuple(KernelBlock(names, tuple(kernels[n] for n in names)) for names in sets)
    initial = lattice.per_cell[:, needed]
    if kind == "walsh":
        padded = [math.prod(_padding(kernels[n]) for n in target) for target in lattice.targets]
        rows = np.array([float(block.rows) for block in blocks])
        spread = np.repeat(np.array(padded), np.diff(initial.indptr))
        initial.data = rows[initial.indices] / spread**2
        return BlockStrategy(name, blocks, initial, np.ones(len(blocks)))
    squares = np.array([block.precision(block.attributes) for block in blocks])
    initial.data = initial.data / squares[initial.indices]
    return BlockStrategy(name, blocks, initial, squares)


def _padding(kernel: Kernel) -> float:
    return float(kernel.rows + 1) if kernel.kind == "walsh" else float(kernel.size)


def _kernel(kind: Kind, size: int) -> Kernel:
    return Kernel(kind if size > 1 else "cells", size)


def _cheapest(size: int) -> Kernel:
    """The kernel of one component with the least L1 sensitivity at equal precision."""
    if size < 2:
        return Kernel("cells", size)
    kinds: tuple[Kind, ...] = ("fourier", "residual")
    return min(
        (Kernel(kind, size) for kind in kinds),
        key=lambda kernel: kernel.reach(1) / math.sqrt(kernel.centred_gain),
    )
