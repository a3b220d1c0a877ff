"""Finer noise given coarser noise, by an injected generator and without a grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from eke.privacy.law import Charged, Refinement


def finer_noise(
    before: NDArray[np.float64], law: Charged, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Laplace noise given coarser noise, as `eke.mechanism.refining` draws it on a grid."""
    assert isinstance(law, Refinement)
    fine, coarse = law.fine.laplace_scale, law.coarse.laplace_scale
    inner, outer = 1.0 / fine - 1.0 / coarse, 1.0 / fine + 1.0 / coarse
    finer = np.empty_like(before)
    for place, noise in enumerate(before.tolist()):
        distance, side = abs(noise), (-1.0 if noise < 0.0 else 1.0)
        still = fine / coarse * np.exp(-inner * distance)
        ends = np.array([1.0 / outer, -np.expm1(-inner * distance) / inner])
        ends = np.append(ends, np.exp(-inner * distance) / outer)
        piece = rng.choice(4, p=[still, *((1.0 - still) * ends / ends.sum())])
        if piece == 0:
            finer[place] = noise
        elif piece == 1:
            finer[place] = -side * rng.exponential(1.0 / outer)
        elif piece == 2:
            finer[place] = side * (rng.exponential(1.0 / inner) % distance)
        else:
            finer[place] = side * (distance + rng.exponential(1.0 / outer))
    return finer
