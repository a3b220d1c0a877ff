"""Selection: which marginal to measure next, chosen privately by what the model explains worst.

As in MST and AIM: the score of a candidate is the distance between its true counts and the model's,
less the distance that the noise of measuring it would cause; the exponential mechanism picks one.
Only the scores depend on data, so only `scores` needs the exact counts: the engine calls it behind
its junction, with `exact` reading the table. Everything else here is public.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from eke.arrays import FloatArray
from eke.errors import PrivacyError
from eke.privacy.law import Gaussian, Laplace
from eke.privacy.measure import Measure
from eke.publish.coarse import CoarseMarginal
from eke.publish.purpose import FULL_WEIGHT
from eke.query import Neighbours


@dataclass(frozen=True, slots=True, eq=False)
class Candidate:
    """A marginal that could be measured, the counts the model expects, the noise it would get.

    `weight` is how much it matters, in parts of `FULL_WEIGHT`.
    """

    marginal: CoarseMarginal
    expected: FloatArray  # (cells,)
    noise_distance: float  # Σ |noise| over the cells, in expectation
    weight: int = FULL_WEIGHT


ExactCounts: TypeAlias = Callable[[CoarseMarginal], NDArray[np.int64]]


def scores(candidates: Sequence[Candidate], exact: ExactCounts) -> FloatArray:
    """How much measuring each candidate would gain; shape (candidates,).

    Privacy: exact, hence secret. A record moves one count of a candidate by one, and with
    `replace_one` two counts, so `score_sensitivity` bounds the change of every score at once:
    weights are parts of one.
    """
    gains = [
        c.weight
        / FULL_WEIGHT
        * (float(np.abs(exact(c.marginal) - c.expected).sum()) - c.noise_distance)
        for c in candidates
    ]
    return np.array(gains)


def score_sensitivity(neighbours: Neighbours) -> float:
    """The largest change of any score between neighbouring tables."""
    return 1.0 if neighbours == "add_remove" else 2.0


def selection_epsilon(loss: float, measure: Measure) -> float:
    """The ε of the exponential mechanism that costs this loss.

    Privacy: choosing with probability ∝ exp(ε·score / 2Δ) is ε-DP, and satisfies ε²/8-zCDP (its
    range is bounded by ε; Cesar and Rogers 2021).
    """
    if not 0.0 < loss < math.inf:
        raise PrivacyError("the loss of a selection must be a finite number above zero")
    return measure.epsilon_of_choice(loss)


def measuring_law(loss: float, measure: Measure) -> Laplace | Gaussian:
    """The noise of a block of disjoint counts that costs this loss when a record is added."""
    if not 0.0 < loss < math.inf:
        raise PrivacyError("the loss of a measurement must be a finite number above zero")
    return measure.law_for(loss)


def mean_distance(law: Laplace | Gaussian, cells: int) -> float:
    """E Σ |noise| over some cells."""
    of_a_cell = law.laplace_scale or math.sqrt(2.0 * law.variance / math.pi)
    return of_a_cell * cells


def split_of_singles(sizes: Sequence[int], loss: float, measure: Measure) -> list[float]:
    """The loss for each one-dimensional marginal so that Σ E|noise| over all cells is least.

    With zCDP the noise is ∝ ρ^-½, hence ρ_k ∝ n_k^⅔; with pure ε it is ∝ 1/ε, hence ε_k ∝ n_k^½.
    """
    power = measure.order / (measure.order + 1.0)
    parts = [size**power for size in sizes]
    return [loss * part / sum(parts) for part in parts]
