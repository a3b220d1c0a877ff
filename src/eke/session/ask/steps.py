"""Steps: a formula is approached by several measurements; what they cost, taken together."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from eke.history import Measurement
from eke.planning import Facts
from eke.privacy.record_loss import NANO
from eke.session.answer.record import Finding, noise_text

_MANY = 8


@dataclass(frozen=True, slots=True)
class Step:
    """One charge on the way to an answer, as it is stored in the ledger."""

    cost: int
    price: int
    noise: str
    measure: str

    @staticmethod
    def read(text: str) -> Step:
        return Step(**json.loads(text))


def step_text(facts: Facts, released: Sequence[Measurement], cost: int) -> str:
    """The stored text of a step."""
    price = sum(facts.accountant.price(one.query, one.charged) for one in released)
    if len(released) > _MANY:  # as for a quantile: most of them have no records in common
        measured = [(one.query, one.charged) for one in released]
        price = facts.accountant.empty().after_all(measured, price)
    noise = noise_text([one.charged for one in released])
    return json.dumps(asdict(Step(cost, price, noise, facts.measure.name)))


def taken(steps: Sequence[Step], through: int, known: float | None) -> Finding:
    """How the answer came about after these steps."""
    return Finding(
        "measured",
        through,
        cost=sum(step.cost for step in steps),
        price=sum(step.price for step in steps),
        known=known,
        noise=steps[-1].noise,
        steps=len(steps),
    )


def spent_on_steps(steps: Sequence[Step]) -> str:
    """What a refusal after some steps says about them."""
    if not steps:
        return "Nothing was spent"
    cost = sum(step.cost for step in steps) / NANO
    looks = "a first look" if len(steps) == 1 else f"{len(steps)} looks"
    stays = "stays" if len(steps) == 1 else "stay"
    return (
        f"Nothing was spent on it but {steps[0].measure} {cost:.6g} for {looks} at the numbers "
        f"behind it, which {stays} in the history"
    )
