"""Refined: what a plan refines was released, has the noise that it says, and is refined once.

Refining costs the difference of two losses because the finer noise is drawn given the coarser one
(docs/proofs/refinement.md). Twice from the same coarser one would be two answers for the price of
one. So the junction looks up what is refined, and every reservation counts from when it is charged.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from eke.errors import PrivacyError
from eke.history import Measurement
from eke.planning import Part, Plan, is_refinable
from eke.privacy.law import Refinement


def refined_by(plan: Plan) -> list[int]:
    """The places of the measurements that a plan refines."""
    return [part.refines.place for part in plan.parts if part.refines is not None]


def check_refined(plan: Plan, measurements: Sequence[Measurement]) -> None:
    """Raise unless what a plan refines was released as it says, and the plan refines it once.

    Privacy: the measurement is of the same question, built anew in the junction's domain, and its
    noise is the coarser one of the refinement. That no other charge refines it, `Vault` makes sure.
    """
    places = refined_by(plan)
    if len(set(places)) < len(places):
        raise PrivacyError("a plan refines a measurement once")
    for part in plan.parts:
        if part.refines is not None:
            _before(part, measurements)


def steps_before(part: Part, measurements: Sequence[Measurement]) -> list[int]:
    """The noisy answers that a part refines, in steps of its grid."""
    return [round(math.ldexp(value, -part.law.exponent)) for value in _before(part, measurements)]


def _before(part: Part, measurements: Sequence[Measurement]) -> tuple[float, ...]:
    law = part.charged
    if part.refines is None or not isinstance(law, Refinement):
        raise PrivacyError("this part refines nothing")
    if not 0 <= part.refines.place < len(measurements):
        raise PrivacyError("there is no such measurement to refine")
    earlier = measurements[part.refines.place]
    if earlier.query != part.query or earlier.law != law.coarse:
        raise PrivacyError("a refinement is of the same question and of the noise that it had")
    if not is_refinable(earlier):
        raise PrivacyError("a noisy answer of 2^53 steps and more cannot be refined; measure anew")
    return earlier.values
