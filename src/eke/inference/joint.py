"""Joint: estimates of several queries together with the noise that their errors share.

An average is a sum divided by a count, and both were estimated from the same noisy answers. What
can be said about the average follows from the weights that each estimate puts on each noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eke.arrays import FloatArray
from eke.domain import Domain
from eke.inference.posterior import ComposedNoise
from eke.inference.state import Inference
from eke.inference.tables import CellWeights
from eke.query import Query

_DRAWN_ONE_BY_ONE = 48
"""So many noises, the largest, are drawn from their own law; the sum of the others is nearly
Gaussian and is drawn as such, with its exact covariance."""


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Estimates θ̂ = θ + W·e of several queries."""

    values: FloatArray  # (queries,)
    weights: FloatArray  # (queries, noises): W
    laplace_scales: FloatArray  # (noises,)
    gaussian_variances: FloatArray  # (noises,)
    steps: FloatArray  # (noises,): the grids on which the noises were drawn
    counts: FloatArray  # (noises,): how many independent noises have these weights

    @staticmethod
    def of(inference: Inference, queries: Sequence[Query]) -> Joint | None:
        """What history says about some queries; None when it leaves one undetermined."""
        key = ("joint", *(query.digest for query in queries))
        return inference.memo.get(key, lambda: Joint._made(inference, queries), _numbers_in)

    @staticmethod
    def _made(inference: Inference, queries: Sequence[Query]) -> Joint | None:
        """The same, made anew."""
        estimates = []
        for query in queries:
            estimate = inference.estimate(query)
            if estimate is None:
                return None
            estimates.append(estimate)
        used = np.unique(np.concatenate([e.rows for e in estimates]))
        weights = np.zeros((len(estimates), len(used)))
        for place, estimate in enumerate(estimates):
            weights[place, np.searchsorted(used, estimate.rows)] = estimate.weights
        laws = [inference.law(int(i)) for i in used]
        blocks, counts = [weights], [np.ones(len(used))]
        for table in range(len(inference.tables)):
            # An estimate that owes nothing to the tables, such as a constant, has no weights there.
            parts = [e.cells[table] if e.cells else None for e in estimates]
            if all(part is None for part in parts):
                continue
            together, repeats = _aligned(parts, inference.tables.answers(table), inference.domain)
            blocks.append(together)
            counts.append(np.full(together.shape[1], float(repeats)))
            laws += [inference.tables.law(table)] * together.shape[1]
        return Joint(
            np.array([e.value for e in estimates]),
            np.concatenate(blocks, axis=1),
            np.array([law.laplace_scale for law in laws]),
            np.array([law.gaussian_variance for law in laws]),
            np.array([law.step for law in laws]),
            np.concatenate(counts),
        )

    @property
    def is_exact(self) -> bool:
        """True when all estimates are the true answers."""
        return not self.weights.any()

    def combination(self, coefficients: FloatArray) -> tuple[float, ComposedNoise]:
        """The estimate of Σ c_i θ_i and the noise in it."""
        sizes = np.abs(coefficients @ self.weights)
        return float(coefficients @ self.values), ComposedNoise(
            sizes * self.laplace_scales,
            float(sizes**2 @ (self.counts * self.gaussian_variances)),
            0.5 * float(sizes @ (self.counts * self.steps)),
            self.counts if (self.counts > 1.0).any() else None,
        )

    def draws(self, size: int, generator: np.random.Generator) -> FloatArray:  # (queries, size)
        """Draws of the true answers given everything released: θ̂ − W·e."""
        # Noises of one kind that occur together are drawn as one Gaussian, like the small ones.
        variances = self.counts * (2.0 * self.laplace_scales**2 + self.gaussian_variances)
        spread = np.sqrt(np.maximum((self.weights**2 * variances).sum(axis=1), 1e-300))
        share = np.abs(self.weights) * np.sqrt(variances) / spread[:, None]
        order = np.argsort(-share.max(axis=0)) if share.size else np.empty(0, np.intp)
        largest = np.arange(len(order)) < _DRAWN_ONE_BY_ONE
        single = largest & (self.counts[order] == 1.0)
        alone, rest = order[single], order[~single]
        errors = np.zeros((len(self.values), size))
        for i in alone:
            noise: FloatArray = np.zeros(size)
            if self.laplace_scales[i] > 0.0:
                noise += generator.laplace(scale=self.laplace_scales[i], size=size)
            if self.gaussian_variances[i] > 0.0:
                noise += generator.normal(scale=np.sqrt(self.gaussian_variances[i]), size=size)
            errors += np.outer(self.weights[:, i], noise)
        if rest.size:
            scaled = self.weights[:, rest] * np.sqrt(variances[rest])
            values, vectors = np.linalg.eigh(scaled @ scaled.T)
            root: Any = vectors * np.sqrt(np.maximum(values, 0.0))
            errors += root @ generator.standard_normal((len(self.values), size))
        return np.asarray(self.values[:, None] - errors)


def _numbers_in(joint: Joint | None) -> int:
    return 0 if joint is None else joint.weights.size + 4 * joint.steps.size


def _aligned(
    parts: Sequence[CellWeights | None], cells: int, domain: Domain
) -> tuple[FloatArray, int]:
    """The weights of one table in several estimates over the same cells: (estimates, cells)."""
    sizes: dict[str, int] = {}
    for part in parts:
        if part is not None:
            sizes |= dict(zip(part.names, part.weights.shape, strict=True))
    names = domain.in_order(sizes)
    rows = []
    for part in parts:
        if part is None:
            rows.append(np.zeros(math.prod(sizes.values())))
            continue
        shape = [sizes[name] if name in part.names else 1 for name in names]
        full = np.broadcast_to(part.weights.reshape(shape), [sizes[name] for name in names])
        rows.append(full.ravel())
    return np.array(rows), cells // math.prod(sizes.values())
