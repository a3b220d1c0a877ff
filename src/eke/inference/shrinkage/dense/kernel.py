"""DenseKernel: the inner products of a history of a few thousand answers, as a matrix."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eke.arrays import FloatArray
from eke.inference.features import HistoryFeatures, cross_kernel, kernel
from eke.query import Prior


@dataclass(frozen=True, slots=True, eq=False)
class DenseKernel:
    """⟨q_i, q_j⟩ of all rows; if `centred`, less ⟨q_i, 1⟩⟨q_j, 1⟩."""

    features: HistoryFeatures
    prior: Prior
    centred: bool
    means: FloatArray  # (m,) ⟨q_i, 1⟩
    matrix: FloatArray  # (m, m)

    @staticmethod
    def of(features: HistoryFeatures, prior: Prior, *, centred: bool) -> DenseKernel:
        """The kernel of some questions; each pair is looked at once, here."""
        means, matrix = features.means(prior), kernel(features, prior)
        if centred:
            matrix -= np.multiply.outer(means, means)
        return DenseKernel(features, prior, centred, means, matrix)

    def not_centred(self) -> DenseKernel:
        """The same with the universal query's direction in it."""
        whole = self.matrix + np.multiply.outer(self.means, self.means)
        return replace(self, centred=False, matrix=whole) if self.centred else self

    def times(self, columns: FloatArray) -> FloatArray:
        """K·columns; (m, columns)."""
        return self.matrix @ columns

    def products(self, questions: HistoryFeatures) -> FloatArray:
        """⟨row, question⟩, centred like the matrix; (m, questions)."""
        products = cross_kernel(self.features, questions, self.prior)
        if self.centred:
            products -= np.multiply.outer(self.means, questions.means(self.prior))
        return products

    def diagonal(self) -> FloatArray:
        """⟨q_i, q_i⟩, centred like the matrix; (m,)."""
        return np.diag(self.matrix)
