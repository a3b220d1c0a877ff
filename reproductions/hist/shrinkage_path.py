"""Estimates at many α from one reduction of the kernel, as the curves of HIST Fig. 3 need them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from eke.arrays import FloatArray
from eke.errors import EstimateError
from eke.inference.features import HistoryFeatures
from eke.inference.shrinkage.dense.banded import reduce_to_band
from eke.inference.shrinkage.dense.kernel import DenseKernel
from eke.inference.shrinkage.evidence import Evidence


class ShrinkagePath:
    """Values at every α of a grid: of the measured questions and of any new ones."""

    def __init__(self, evidence: Evidence[DenseKernel], alphas: ArrayLike) -> None:
        self.evidence = evidence
        self.alphas: FloatArray = np.asarray(alphas, np.float64).reshape(-1)
        if not (np.isfinite(self.alphas).all() and (self.alphas > 0.0).all()):
            raise EstimateError("a path needs finite alphas above zero; the ends are Shrinkage's")
        noise = evidence.noise
        bands, rotation = reduce_to_band(noise.whiten_kernel(evidence.kernel.matrix))
        given = np.stack([evidence.deviations, evidence.means], axis=1)
        rotated = rotation.into(noise.whiten(given))
        self.totals = np.zeros(len(self.alphas))
        solved = np.empty((evidence.size, len(self.alphas)))
        for column, alpha in enumerate(self.alphas):
            both = bands.solve(1.0 / float(alpha) ** 2, rotated)
            if evidence.has_free_total:
                information = rotated[:, 1] @ both
                self.totals[column] = information[0] / information[1]
            solved[:, column] = both[:, 0] - self.totals[column] * both[:, 1]
        if not isinstance(evidence.total, str):
            self.totals[:] = evidence.total
        self._weights = noise.whiten_transposed(rotation.back(solved))  # (m, alphas)

    def past(self) -> FloatArray:
        """The estimates of the measured questions; shape (alphas, m)."""
        answers = self.evidence.kernel.times(self._weights)
        return (answers + np.multiply.outer(self.evidence.means, self.totals)).T

    def new(self, questions: HistoryFeatures) -> FloatArray:
        """The estimates of new questions; shape (alphas, questions)."""
        asked = self.evidence.asked(questions)
        return (asked.products.T @ self._weights + np.multiply.outer(asked.means, self.totals)).T
