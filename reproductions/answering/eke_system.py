"""eke's own decisions, accounts and inference on a simulated source.

`decide`, `Accountant` and `Inference` are what a session runs; only the noise is simulated.
A paid answer comes from the longer history, not from the new noisy value alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from eke.domain import Domain, Integer
from eke.history import Measurement
from eke.inference import Inference, halfwidth
from eke.planning import AccountsAtHand, Demand, Facts, Policy, Requirement, decide_demands
from eke.privacy.accountant import Accountant
from eke.privacy.law import Laplace, NoiseLaw
from eke.privacy.pure import PURE
from eke.privacy.record_loss import NANO
from eke.query import Query, Term
from reproductions.answering.paper_systems import Reply
from reproductions.answering.source import NoisySource

UNBOUNDED = 10**6 * NANO


class EkeSystem:
    """Answers through `eke.planning.online.decide` under one policy."""

    def __init__(self, source: NoisySource, budget: float, policy: Policy) -> None:
        domain = Domain(cell=Integer(0, source.histogram.cells - 1))
        limit = UNBOUNDED if math.isinf(budget) else round(budget * NANO)
        self._source = source
        self._policy = policy
        self._facts = Facts(
            Inference(domain), AccountsAtHand(Accountant(domain, PURE, "add_remove")), limit
        )

    @property
    def spent(self) -> float:
        return self._facts.accountant.spent / NANO

    def start_from(
        self, rows: NDArray[np.int64], values: Sequence[float], laplace_scale: float
    ) -> None:
        law = Laplace(laplace_scale)
        for row, value in zip(rows, values, strict=True):
            query = self._query(row)
            after = self._facts.accountant.after(query, law, self._facts.limit)
            self._take(query, law, value, after)

    def ask(self, query: NDArray[np.int64], within: float, delta: float) -> Reply | None:
        asked = self._query(query)
        confidence = 1.0 - delta
        wanted = Demand(asked, Requirement(within, confidence))
        decision = decide_demands([wanted], self._facts, self._policy)
        if decision.action == "refuse":
            return None
        if decision.plan is not None:
            law = decision.plan.parts[0].law
            value = self._source.measure(query, law.laplace_scale)
            self._take(asked, law, value, self._facts.accountant.spent + decision.cost)
        known = self._facts.inference.linear(asked)
        assert known is not None, "a question that is free or was just measured is determined"
        half = halfwidth(known[1], confidence)
        return Reply(known[0], known[0] - half, known[0] + half, decision.plan is not None)

    def _query(self, coefficients: NDArray[np.int64]) -> Query:
        domain = self._facts.inference.domain
        return Query.of(domain, [Term(Fraction(1), (("cell", coefficients),))])

    def _take(self, query: Query, law: NoiseLaw, value: float, spent_after: int) -> None:
        self._facts.accountant.add(query, law, spent_after)
        self._facts.inference.extend(Measurement(query, law, (value,)))
