"""Claim: a mechanism that can be sampled on two neighbouring tables, next to what it should cost.

The bound on the true loss comes from `tests/privacy/audit.py`: Clopper–Pearson on the event that
tells most, chosen on other samples. A claim stands when every bound is at most what is charged, and
near it, for an audit that sees nothing shows nothing. The control is the same mechanism with too
little noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from audits.row import Row, Scale, number
from eke.engine import standing
from eke.mechanism import secret
from tests.privacy.audit import audit_epsilon, audit_rho
from tests.privacy.sampled_release import NoInference, scant_draws

Integers = NDArray[np.int64]
Sides = tuple[Integers, Integers]
Sampler = Callable[[float], Sides]
EPSILONS = (0.1, 0.5, 1.0, 2.0)
SAMPLES = 1_000_000
#: A tenth too little noise at ε = 0.1 needs a fifth more samples to be seen in every run.
CONTROL_SAMPLES = 1_200_000


@dataclass(frozen=True, slots=True)
class Claim:
    """How to sample the two sides of a claimed loss, and what broken noise is tried on it.

    `prepare(count)` gives a sampler: for a loss, `count` released integers on a table and on its
    neighbour. A sampler may release the table once for several neighbours. `share` is the part of
    the noise that the control has at full scale, and `seen` the part of the claimed loss that the
    audit must see to count.
    """

    title: str
    losses: tuple[float, ...]
    prepare: Callable[[int], Sampler]
    unit: str = "ε"
    share: float = 0.9
    seen: float = 0.8
    samples: int = SAMPLES
    control_samples: int = CONTROL_SAMPLES
    tiny_losses: tuple[float, ...] = (1.0, 2.0)
    tiny_samples: int = 20_000


def judge(claim: Claim, scale: Scale) -> tuple[Row, ...]:
    """The row of a claim."""
    losses = claim.losses if scale.full else claim.tiny_losses
    count = scale.of(claim.samples, claim.tiny_samples)
    found = bounds(claim, losses, count, scale)
    share = claim.share if scale.full else 0.5
    with narrow_noise(share):
        wrong = bounds(claim, losses, scale.of(claim.control_samples, claim.tiny_samples), scale)
    least = claim.seen if scale.full else 0.25
    return (
        Row(
            title=claim.title,
            samples=f"{number(count)} a side",
            figure=f"{claim.unit} at least {listed(found)} where {listed(losses)} is charged",
            control=f"noise × {share:g}: at least {listed(wrong)}",
            passed=all(least * loss < bound <= loss for bound, loss in pairs(found, losses)),
            caught=all(bound > loss for bound, loss in pairs(wrong, losses)),
        ),
    )


def bounds(claim: Claim, losses: Sequence[float], count: int, scale: Scale) -> list[float]:
    """Lower bounds on the true losses."""
    # In a test that runs every day a false alarm is worse than a little power lost.
    confidence = 0.9999 if scale.full else 1 - 1e-7
    coins = np.random.default_rng()
    found = []
    sample = claim.prepare(count)
    for loss in losses:
        one, other = sample(loss)
        if claim.unit == "ρ":
            found.append(audit_rho(one, other, confidence=confidence))
        else:
            found.append(audit_epsilon(one, other, confidence=confidence, coins=coins))
    return found


def pairs(bounds: Sequence[float], losses: Sequence[float]) -> list[tuple[float, float]]:
    """Each bound with the loss that is claimed for it."""
    return list(zip(bounds, losses, strict=True))


def listed(values: Sequence[float]) -> str:
    """Numbers as the scoreboard shows them, three digits each."""
    return ", ".join(f"{value:.3g}" for value in values)


@contextmanager
def narrow_noise(share: float) -> Iterator[None]:
    """Within the block all noise has a part of its width, and comes from NumPy, which is faster."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(secret, "draw", scant_draws(np.random.default_rng(), share))
        yield


@contextmanager
def no_inference() -> Iterator[None]:
    """Within the block nothing is learnt from releases: a million cells would take too long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(standing, "Inference", NoInference)
        yield
