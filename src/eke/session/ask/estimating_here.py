"""Estimates of a dataset on this machine: from one state of its history, as long as it stands."""

from __future__ import annotations

from abc import abstractmethod
from contextlib import nullcontext
from typing import TYPE_CHECKING

from eke.inference.progress import Progress, silent
from eke.question import caveats
from eke.session import ask as asking
from eke.session.ask.assumptions import Assumptions, PriorLike
from eke.session.ask.estimating import Estimating
from eke.session.ask.work import FEWER_CELLS, Work

if TYPE_CHECKING:
    from eke.engine import Vault
    from eke.engine.snapshot import Snapshot
    from eke.question import Question
    from eke.question.posed import Asked
    from eke.session.ask.estimate import Estimate, EstimateMethod, TableEstimate
    from eke.session.ask.estimator import Estimator
    from eke.session.ask.question_store import QuestionStore
    from eke.session.ask.turn import Turns

_MOST_ESTIMATORS = 4
"""One for each set of assumptions; each may hold a kernel of a gigabyte."""


class EstimatingHere(Estimating):
    """The estimates of a session."""

    _vault: Vault
    _questions: QuestionStore
    _turns: Turns
    _estimators: dict[Assumptions, tuple[int, Estimator]]
    analyst: str

    def estimate(
        self,
        query: Asked,
        method: EstimateMethod = "shrinkage",
        confidence: float | None = None,
        *,
        prior: PriorLike = "marginals",
        alpha: float | None = None,
        folds: int | None = None,
        analyst: str | None = None,
        progress: Progress = silent,
    ) -> Estimate | TableEstimate:
        question = self._questions.of(query)
        asked = asking.linear_block(question)
        assumptions = Assumptions.of(self._vault.domain, prior, alpha, folds)
        estimator = self._estimator_for(self._vault.snapshot(), assumptions)
        work = Work(asked.cells, estimator.steps_for(asked.cells), FEWER_CELLS)
        work.check()
        sure = 0.95 if confidence is None else confidence
        with (
            nullcontext()
            if method == "blue" and work.is_light
            else self._turns(analyst or self.analyst, work.steps)
        ):
            estimate = estimator.estimate(asked, method, sure, progress)
        return estimate.with_caveats(caveats(question) + self._said_of(question, method))

    def _estimator_for(self, now: Snapshot, assumptions: Assumptions) -> Estimator:
        known = self._estimators.pop(assumptions, None)
        if known is None or known[0] != now.sequence:
            before = None if known is None else known[1]
            domain, inference = self._vault.domain, now.facts.inference
            known = (
                now.sequence,
                asking.Estimator(domain, now.measurements, inference, before, assumptions),
            )
        for oldest in list(self._estimators)[: 1 - _MOST_ESTIMATORS]:  # threads may do so, too
            self._estimators.pop(oldest, None)
        self._estimators[assumptions] = known
        return known[1]

    @abstractmethod
    def _said_of(self, question: Question, method: str) -> tuple[str, ...]:
        """What the dataset leaves open about a question."""
