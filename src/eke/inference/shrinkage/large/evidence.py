"""Evidence of a large history: blocks stay blocks, and the kernel is never written out.

Blocks that ask the same questions are one block here, its answers averaged by their precision:
nothing is lost by that, because only the average says something about the table. Small blocks are
taken apart; a dense kernel is quicker for them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.errors import EstimateError
from eke.history import Measurement
from eke.inference.features import HistoryFeatures
from eke.inference.posterior import ComposedNoise
from eke.inference.shrinkage.evidence import Total
from eke.inference.shrinkage.large.implicit_kernel import ImplicitKernel
from eke.inference.shrinkage.large.product_block import ProductBlock, product_block
from eke.privacy.law import NoiseLaw
from eke.query import Prior, Query

LEAST_BLOCK = 32
"""Blocks of fewer answers are taken apart."""
MOST_SINGLES = 12_000
"""So many single questions have a dense kernel of 1.1 GiB among themselves."""


@dataclass(frozen=True, slots=True, eq=False)
class LawGroup:
    """Answers of the history that share a law, and the rows of the evidence they went into."""

    law: NoiseLaw
    rows: slice
    share: float  # in the average of those rows


@dataclass(frozen=True, slots=True, eq=False)
class LargeEvidence:
    """y = Hx + e with the prior on x, like `Evidence`, for a kernel that would not fit."""

    kernel: ImplicitKernel
    values: FloatArray  # (m,)
    variances: FloatArray  # (m,) of the noise
    total: Total
    sources: tuple[LawGroup, ...]

    @staticmethod
    def of_history(
        domain: Domain,
        measurements: Sequence[Measurement],
        prior: Prior | None = None,
        total: Total = "estimated",
        *,
        least_block: int = LEAST_BLOCK,
    ) -> LargeEvidence:
        """The evidence of everything released so far. Privacy: free; reads released values only."""
        if not isinstance(total, str) and not (0.0 <= total < math.inf):
            raise EstimateError("the number of records must be a finite number of at least 0")
        whole, alone = _sorted(measurements, least_block)
        singles = sum(len(one.values) for one in alone)
        if not (whole or alone):
            raise EstimateError("there is no history yet; ask a question with a budget first")
        if singles > MOST_SINGLES:
            raise EstimateError(
                f"history has {singles:,} answers measured one by one; shrinkage takes up to "
                f'{MOST_SINGLES:,} of them beside whole tables, use method="blue"'
            )
        values, variances, sources = _averaged(whole)
        for one in alone:
            start = len(values)
            values += one.values
            variances += [one.law.variance] * len(one.values)
            sources.append(LawGroup(one.law, slice(start, len(values)), 1.0))
        answers: FloatArray = np.array(values, np.float64)
        if not np.isfinite(answers).all():
            raise EstimateError("noisy answers must be finite numbers")
        queries: list[Query] = []
        for one in alone:
            queries += one.query.queries()
        kernel = ImplicitKernel(
            [blocks[0][0] for blocks in whole],
            HistoryFeatures.of(domain, queries),
            Prior(domain) if prior is None else prior,
        )
        return LargeEvidence(kernel, answers, np.array(variances), total, tuple(sources))

    @property
    def size(self) -> int:
        return len(self.values)

    @property
    def means(self) -> FloatArray:
        """⟨q_i, 1⟩; (m,)."""
        return self.kernel.means

    @property
    def has_free_total(self) -> bool:
        return self.total == "estimated"

    @property
    def deviations(self) -> FloatArray:
        """The answers less what the known number of records explains; (m,)."""
        if isinstance(self.total, str):
            return self.values
        return self.values - self.total * self.means

    def noise(self, weights: FloatArray, model_variance: float = 0.0) -> ComposedNoise:
        """The law of Σ weight·e, with every released noise in it, and a Gaussian part."""
        scales, gaussian, slack = [np.empty(0)], model_variance, 0.0
        for source in self.sources:
            sizes = source.share * np.abs(weights[source.rows])
            gaussian += float(sizes @ sizes) * source.law.gaussian_variance
            slack += 0.5 * float(sizes.sum()) * source.law.step
            if source.law.laplace_scale:
                scales.append(sizes * source.law.laplace_scale)
        return ComposedNoise(np.concatenate(scales), gaussian, slack)


Alike = list[tuple[ProductBlock, Measurement]]


def singles_in(measurements: Sequence[Measurement], least_block: int = LEAST_BLOCK) -> int:
    """How many answers of a history would be kept one by one."""
    return sum(len(one.values) for one in _sorted(measurements, least_block)[1])


def _sorted(
    measurements: Sequence[Measurement], least_block: int
) -> tuple[list[Alike], list[Measurement]]:
    """Blocks, those with the same questions together, and what is kept one by one."""
    alike: dict[tuple[object, ...], Alike] = {}
    alone = []
    for measurement in measurements:
        block = product_block(measurement.query) if len(measurement.values) >= least_block else None
        if block is None:
            alone.append(measurement)
        else:
            alike.setdefault(block.likeness, []).append((block, measurement))
    return list(alike.values()), alone


def _averaged(whole: Sequence[Alike]) -> tuple[list[float], list[float], list[LawGroup]]:
    """(values, noise variances, sources) of the rows of all blocks."""
    values: list[float] = []
    variances: list[float] = []
    sources = []
    for blocks in whole:
        precisions = np.array([1.0 / one.law.variance for _, one in blocks])
        shares = precisions / precisions.sum()
        mean = shares @ np.array([one.values for _, one in blocks])
        rows = slice(len(values), len(values) + len(mean))
        values += mean.tolist()
        variances += [1.0 / float(precisions.sum())] * len(mean)
        for share, (_, one) in zip(shares, blocks, strict=True):
            sources.append(LawGroup(one.law, rows, float(share)))
    return values, variances, sources
