"""Estimates of a dataset on a server."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from eke.client.wire import Wire, without
from eke.codec.estimate import read_estimate
from eke.inference.progress import Progress, silent
from eke.question import Question, caveats
from eke.question.posed import Asked, Posed
from eke.session import Estimate, EstimateMethod, TableEstimate
from eke.session.ask.assumptions import Assumptions, PriorLike
from eke.session.ask.estimating import Estimating

if TYPE_CHECKING:
    from eke.domain import Domain


class EstimatingThere(Estimating):
    """What the history on a server says of questions nobody asked."""

    _wire: Wire
    _place: str

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """The public domain."""

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
        """What history says about a question, asked before or not; free.

        Of a public table only the weights of single values are sent.
        """
        without(analyst)
        progress("waiting for the server", 0.0)  # it does not say how far it is
        body = {**self._asked(query), "method": method}
        body |= Assumptions.of(self.domain, prior, alpha, folds).document()
        if confidence is not None:
            body["confidence"] = confidence
        estimate = read_estimate(self._wire.post(f"{self._place}/estimate", body))
        if isinstance(query, str):
            return estimate
        return estimate.with_caveats(caveats(self._read(query)))

    @abstractmethod
    def _asked(self, query: Asked) -> dict[str, Any]:
        """The part of a body that is the question."""

    @abstractmethod
    def _read(self, query: Posed) -> Question:
        """A question, tied to the domain."""
