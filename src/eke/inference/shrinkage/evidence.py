"""Evidence: noisy answers, their noise and a prior, with the kernel that all estimates share.

The histogram x is believed to be n·p0 plus deviations of variance α²·p0, so answers to queries q
and q′ deviate with covariance α²⟨q, q′⟩. Knowing n takes the universal query's direction out:
the kernel is centred, ⟨q, q′⟩ − ⟨q, 1⟩⟨q′, 1⟩, which conditions on n exactly (HIST §3.1 adds a
virtual query of tiny variance instead). An unknown n is either estimated along with everything
else (a flat prior on it), or, as in the bare formulas of HIST §3, part of the deviations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import EstimateError
from eke.history import Measurement
from eke.inference.features import HistoryFeatures, cross_kernel, kernel, norms
from eke.inference.shrinkage.noise import Noise
from eke.query import Prior

Total: TypeAlias = float | Literal["estimated", "ignored"]
"""The number of records n: known exactly, unknown and estimated, or no special thing at all."""


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """y = Hx + e with the prior on x; `kernel` is centred unless the total is ignored."""

    features: HistoryFeatures
    values: FloatArray  # (m,)
    noise: Noise
    prior: Prior
    total: Total
    means: FloatArray  # (m,) ⟨q_i, 1⟩
    kernel: FloatArray  # (m, m)

    @staticmethod
    def of(
        features: HistoryFeatures,
        values: ArrayLike,
        noise: Noise,
        prior: Prior | None = None,
        total: Total = "estimated",
    ) -> Evidence:
        """The evidence of noisy answers; computes the whole kernel once."""
        answers = np.array(values, np.float64)
        if not features.size == len(answers) == noise.size:
            raise EstimateError("evidence needs one value and one noise for each query")
        if features.size == 0:
            raise EstimateError("there is no history yet; ask a question with a budget first")
        if not np.isfinite(answers).all():
            raise EstimateError("noisy answers must be finite numbers")
        if not isinstance(total, str) and not (0.0 <= total < math.inf):
            raise EstimateError("the number of records must be a finite number of at least 0")
        belief = Prior(features.domain) if prior is None else prior
        means = features.means(belief)
        products = kernel(features, belief)
        if total != "ignored":
            products -= np.multiply.outer(means, means)
        return Evidence(features, answers, noise, belief, total, means, products)

    @staticmethod
    def of_history(
        domain: Domain,
        measurements: Sequence[Measurement],
        prior: Prior | None = None,
        total: Total = "estimated",
    ) -> Evidence:
        """The evidence of everything released so far."""
        laws = [m.law for m in measurements for _ in m.values]
        values = [value for m in measurements for value in m.values]
        features = HistoryFeatures.of_measurements(domain, measurements)
        return Evidence.of(features, values, Noise.of_laws(laws), prior, total)

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def deviations(self) -> FloatArray:
        """The answers less what the known number of records explains; shape (m,)."""
        if isinstance(self.total, str):
            return self.values
        return self.values - self.total * self.means

    @property
    def has_free_total(self) -> bool:
        return self.total == "estimated"

    def asked(self, questions: HistoryFeatures) -> SeenQuestions:
        """What the estimator needs to know about new questions."""
        means = questions.means(self.prior)
        products = cross_kernel(self.features, questions, self.prior)
        squares = norms(questions, self.prior)
        if self.total != "ignored":
            products -= np.multiply.outer(self.means, means)
            squares = np.maximum(squares - means**2, 0.0)
        return SeenQuestions(products, squares, means)


@dataclass(frozen=True, slots=True, eq=False)
class SeenQuestions:
    """Questions seen from the evidence: inner products with it, with themselves, with one."""

    products: FloatArray  # (m, questions), centred like the kernel
    squares: FloatArray  # (questions,), centred
    means: FloatArray  # (questions,)
