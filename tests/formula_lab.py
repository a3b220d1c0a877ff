"""A statement carried out step by step on made-up counts, without ledger and files.

Noise is NumPy's: this is for watching plans and intervals, many times and quickly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.lab.finer import finer_noise
from eke.domain import Categorical, Domain, Integer
from eke.history import Measurement
from eke.inference import FormulaPosterior, Inference, Joint
from eke.planning import (
    AccountsAtHand,
    Decision,
    Facts,
    Policy,
    QuestionDemand,
    checked,
    decide,
    top_up,
)
from eke.privacy.accountant import Accountant
from eke.privacy.measure import Measure
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.privacy.unit import Unit
from eke.query import Query
from eke.sql import parse

DOMAIN = Domain(group=Categorical("a", "b"), x=Integer(0, 20))
GROUP, X = (axis.ravel() for axis in np.meshgrid([0, 1], np.arange(21), indexing="ij"))
COUNTS = np.concatenate(
    [
        np.round(3000 * np.exp(-0.5 * ((np.arange(21) - 7) / 3) ** 2)),
        np.round(900 * np.exp(-0.5 * ((np.arange(21) - 13) / 4) ** 2)),
    ]
).astype(np.int64)


def exact(query: Query) -> float:
    codes = np.stack([GROUP, X], axis=1)
    numerators = query.numerators(DOMAIN.names, codes)
    return float(np.dot(numerators, COUNTS)) * 2.0**query.exponent + float(query.constant)


def demanded(text: str, within: float, confidence: float = 0.95) -> QuestionDemand:
    statement = parse(text, DOMAIN, unit=Unit("id", 3))
    each = tuple(None if column.is_key else within for column in statement.columns)
    return checked(QuestionDemand(statement, each, confidence))


def truth(demand: QuestionDemand, column: int, row: int) -> float:
    statement = demand.question
    values = [exact(statement.query(i, row)) for i in range(len(statement.blocks))]
    shown = statement.columns[column].formula
    joint = Joint(np.array(values), np.zeros((len(values), 0)), *[np.empty(0)] * 4)
    return FormulaPosterior(shown, joint, 0).value


def carried_out(
    demand: QuestionDemand,
    rng: np.random.Generator,
    *,
    limit: float = 1.0,
    measure: Measure = PURE,
    stretch: float = 1.0,
    deciding: Callable[[QuestionDemand, Facts, Policy], Decision] = decide,
) -> tuple[Facts, list[Any]]:
    """The facts after all steps, and the decisions; `stretch` makes the noise larger than told."""
    accountant = Accountant(DOMAIN, measure, "add_remove")
    known: list[Measurement] = []
    refined: set[int] = set()
    accounts = AccountsAtHand(accountant, measurements=known, refined=refined)
    facts = Facts(Inference(DOMAIN), accounts, round(limit * NANO))
    decisions = []
    for _ in range(40):
        decision = deciding(demand, facts, top_up)
        decisions.append(decision)
        if decision.plan is None:
            break
        after = facts.accountant.spent + decision.cost
        for part in decision.plan.parts:
            true = np.array([exact(one) for one in part.query.queries()])
            before: tuple[float, ...] = ()
            if part.refines is not None:
                before = known[part.refines.place].values
                noise = finer_noise((np.array(before) - true) / stretch, part.charged, rng)
                refined.add(part.refines.place)
            elif measure == PURE:
                noise = rng.laplace(scale=part.law.laplace_scale, size=len(true))
            else:
                noise = rng.normal(scale=np.sqrt(part.law.gaussian_variance), size=len(true))
            facts.accountant.add(part.query, part.charged, after)
            values = tuple(true + stretch * noise)
            known.append(
                Measurement(part.query, part.law, values, refines=part.refines, before=before)
            )
            facts.inference.extend(known[-1])
    return facts, decisions


def interval(
    demand: QuestionDemand, facts: Facts, column: int, row: int
) -> tuple[float, float, float]:
    """(value, low, high) of one cell."""
    posterior = demand.posterior(column, row, facts.inference)
    assert posterior is not None
    return (posterior.value, *posterior.interval(demand.confidence))
