"""Evidence: noisy answers, their noise and a prior, with the kernel that all estimates share.

The histogram x is believed to be n·p0 plus deviations of variance α²·p0, so answers to queries q
and q′ deviate with covariance α²⟨q, q′⟩. Knowing n takes the universal query's direction out:
the kernel is centred, ⟨q, q′⟩ − ⟨q, 1⟩⟨q′, 1⟩, which conditions on n exactly (HIST §3.1 adds a
virtual query of tiny variance instead). An unknown n is either estimated along with everything
else (a flat prior on it), or, as in the bare formulas of HIST §3, part of the deviations.

The kernel is a matrix (`dense/kernel.py`), or blocks of it are applied without being written out
(`blocks/implicit_kernel.py`); `solver.py` says how either is solved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import EstimateError
from eke.history import Measurement
from eke.inference.features import HistoryFeatures, norms
from eke.inference.shrinkage.dense.kernel import DenseKernel
from eke.inference.shrinkage.noise import Noise
from eke.query import Prior

Total: TypeAlias = float | Literal["estimated", "ignored"]
"""The number of records n: known exactly, unknown and estimated, or no special thing at all."""

_ROUNDING = 1e-14  # of ⟨q, q⟩: less cannot be told from nothing in double precision


class HistoryKernel(Protocol):
    """The inner products K of all rows, centred unless the total is ignored."""

    @property
    def prior(self) -> Prior: ...

    @property
    def means(self) -> FloatArray:
        """⟨q_i, 1⟩; (m,)."""
        ...

    def times(self, columns: FloatArray) -> FloatArray:
        """K·columns; (m, columns)."""
        ...

    def products(self, questions: HistoryFeatures) -> FloatArray:
        """The inner products of all rows with questions, centred alike; (m, questions)."""
        ...

    def diagonal(self) -> FloatArray:
        """The inner products of all rows with themselves; (m,)."""
        ...


K_co = TypeVar("K_co", bound=HistoryKernel, covariant=True)


@dataclass(frozen=True, slots=True, eq=False)
class SeenQuestions:
    """Questions seen from the evidence: inner products with it, with themselves, with one."""

    products: FloatArray  # (m, questions), centred like the kernel
    squares: FloatArray  # (questions,), centred
    means: FloatArray  # (questions,)


@dataclass(frozen=True, slots=True, eq=False)
class Evidence(Generic[K_co]):
    """y = Hx + e with the prior on x."""

    kernel: K_co
    values: FloatArray  # (m,)
    noise: Noise
    total: Total

    def __post_init__(self) -> None:
        if not len(self.kernel.means) == self.size == self.noise.size:
            raise EstimateError("evidence needs one value and one noise for each query")
        if self.size == 0:
            raise EstimateError("there is no history yet; ask a question with a budget first")
        if not np.isfinite(self.values).all():
            raise EstimateError("noisy answers must be finite numbers")
        if not isinstance(self.total, str) and not (0.0 <= self.total < math.inf):
            raise EstimateError("the number of records must be a finite number of at least 0")

    @staticmethod
    def of(
        features: HistoryFeatures,
        values: ArrayLike,
        noise: Noise,
        prior: Prior | None = None,
        total: Total = "estimated",
    ) -> Evidence[DenseKernel]:
        """The evidence of noisy answers; computes the whole kernel once."""
        belief = Prior(features.domain) if prior is None else prior
        kernel = DenseKernel.of(features, belief, centred=total != "ignored")
        return Evidence(kernel, np.array(values, np.float64), noise, total)

    @staticmethod
    def of_history(
        domain: Domain,
        measurements: Sequence[Measurement],
        prior: Prior | None = None,
        total: Total = "estimated",
    ) -> Evidence[DenseKernel]:
        """The evidence of everything released so far, a row for every answer."""
        laws = [m.law for m in measurements for _ in m.values]
        values = [value for m in measurements for value in m.values]
        features = HistoryFeatures.of_measurements(domain, measurements)
        return Evidence.of(features, values, Noise.of_laws(laws), prior, total)

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def means(self) -> FloatArray:
        """⟨q_i, 1⟩; (m,)."""
        return self.kernel.means

    @property
    def deviations(self) -> FloatArray:
        """The answers less what the known number of records explains; (m,)."""
        if isinstance(self.total, str):
            return self.values
        return self.values - self.total * self.means

    @property
    def has_free_total(self) -> bool:
        return self.total == "estimated"

    def asked(self, questions: HistoryFeatures) -> SeenQuestions:
        """What the estimator needs to know about new questions."""
        prior = self.kernel.prior
        means, squares = questions.means(prior), norms(questions, prior)
        products = self.kernel.products(questions)
        if self.total != "ignored":
            # The number of records, and multiples of it: what rounding leaves is no question.
            constant = squares - means**2 <= _ROUNDING * squares
            squares = np.where(constant, 0.0, squares - means**2)
            products[:, constant] = 0.0
        return SeenQuestions(products, squares, means)

    def rough_alpha(self) -> float:
        """An α that explains the size of the deviations from the prior.

        No less than the noise could hide, so that error bars are wide rather than narrow.
        """
        values, means, variances = self.deviations, self.means, self.noise.variances
        if self.has_free_total:
            precision = means / variances
            total = float(precision @ values) / max(float(precision @ means), 1e-300)
            values = values - total * means
        explained = float(self.kernel.diagonal().sum())
        if explained <= 1e-12 * float((means**2).sum()):
            return 1.0
        excess = max(float((values**2).sum()), float(variances.sum()))
        return math.sqrt(excess / explained)
