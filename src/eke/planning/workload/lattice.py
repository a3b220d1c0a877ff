"""Lattice: which marginals say something about which components, as sparse matrices.

The components of a workload of marginals (see `inference.residuals`) are the subsets of its
attribute sets. Expected errors of any strategy are sums over them, so planning costs as many
operations as there are components, whatever the number of cells of the domain.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from eke.arrays import FloatArray
from eke.inference.residuals import Names, closure, subsets
from eke.planning.workload.workload import Workload


class Lattice:
    """The components of a workload of marginals, and what each weighs in its total error."""

    def __init__(self, workload: Workload) -> None:
        domain = workload.domain
        self.workload = workload
        self.sizes: dict[str, int] = dict(zip(domain.names, domain.shape, strict=True))
        self.targets: list[Names] = [target.attributes for target in workload.targets]
        self.sets = closure(self.targets)
        self.index = {names: i for i, names in enumerate(self.sets)}
        self._bit = {name: 1 << i for i, name in enumerate(domain.names)}
        self.cells = self._product(float)
        """Π n_k of each component set."""
        self.share = self._product(lambda n: 1.0 - 1.0 / n)
        """Π (1 - 1/n_k): the variance of a cell of the component is V times this."""
        self.weights = np.array([target.weight for target in workload.targets])
        self.target_cells = np.array([self.size(names) for names in self.targets])
        self.per_cell = self._per_cell()
        """(targets, components): the variance of a cell of each target is per_cell @ V."""
        self.importance: FloatArray = self.per_cell.T @ (self.weights * self.target_cells)
        """The weighted sum of all variances is importance @ V."""

    def size(self, names: Iterable[str]) -> float:
        return float(math.prod(self.sizes[name] for name in names))

    def below(self, names: Names) -> list[int]:
        """The components of the lattice that a marginal over these attributes determines."""
        if 2 ** len(names) <= len(self.sets):
            known = self.index
            return [known[subset] for subset in subsets(names) if subset in known]
        mask = self._mask(names)
        return [i for i, other in enumerate(self._masks) if other & ~mask == 0]

    def pattern(self, marginals: Sequence[Names]) -> csr_array[np.float64]:
        """(marginals, components): one where the marginal determines the component."""
        columns: list[int] = []
        starts = [0]
        for names in marginals:
            columns += self.below(names)
            starts.append(len(columns))
        shape = (len(marginals), len(self.sets))
        places = (np.ones(len(columns)), np.array(columns, np.int64), np.array(starts, np.int64))
        return csr_array(places, shape=shape)

    def precisions(self, marginals: Sequence[Names]) -> csr_array[np.float64]:
        """(marginals, components): 1 / n_{A∖B}, the precision that unit noise in A gives to B."""
        pattern = self.pattern(marginals)
        sizes = np.array([self.size(names) for names in marginals])
        pattern.data = self.cells[pattern.indices] / np.repeat(sizes, np.diff(pattern.indptr))
        return pattern

    def total_error(self, component_variances: FloatArray) -> float:
        """The weighted sum of the variances of all cells of all targets."""
        used = self.importance > 0.0
        return float(self.importance[used] @ component_variances[used])

    def target_variances(self, component_variances: FloatArray) -> FloatArray:
        """The variance of a cell of each target."""
        finite = np.where(self.share > 0.0, component_variances, 0.0)
        return np.asarray(self.per_cell @ finite)

    def _per_cell(self) -> csr_array[np.float64]:
        pattern = self.pattern(self.targets)
        sizes = np.repeat(self.target_cells, np.diff(pattern.indptr))
        spread = sizes / self.cells[pattern.indices]
        pattern.data = self.share[pattern.indices] / spread**2
        return pattern

    def _product(self, factor: Callable[[int], float]) -> FloatArray:
        of: Mapping[str, float] = {name: factor(n) for name, n in self.sizes.items()}
        return np.array([math.prod(of[name] for name in names) for names in self.sets])

    @cached_property
    def _masks(self) -> list[int]:
        """The component sets as bits, for marginals with more subsets than there are sets."""
        return [self._mask(names) for names in self.sets]

    def _mask(self, names: Iterable[str]) -> int:
        return sum(self._bit[name] for name in names)
