"""Askable: what a session here and one on a server have in common: they are asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal, overload

from eke.errors import EstimateError, QueryError, Refused
from eke.session.answer import Answer
from eke.session.estimate import Estimate, EstimateMethod, TableEstimate
from eke.session.question import Asked
from eke.session.request import Within


class Askable(ABC):
    """A protected dataset that answers questions, wherever it is."""

    @overload
    def ask(
        self,
        query: Asked,
        within: Within = ...,
        confidence: float | None = ...,
        *,
        key: str | None = ...,
        analyst: str | None = ...,
        policy: str | None = ...,
        allow_estimate: Literal[False] = ...,
    ) -> Answer: ...
    @overload
    def ask(
        self,
        query: Asked,
        within: Within = ...,
        confidence: float | None = ...,
        *,
        key: str | None = ...,
        analyst: str | None = ...,
        policy: str | None = ...,
        allow_estimate: bool,
    ) -> Answer | Estimate | TableEstimate: ...
    def ask(
        self,
        query: Asked,
        within: Within = None,
        confidence: float | None = None,
        *,
        key: str | None = None,
        analyst: str | None = None,
        policy: str | None = None,
        allow_estimate: bool = False,
    ) -> Answer | Estimate | TableEstimate:
        """The answer to a question, at most ± within with this confidence (0.95 if not given).

        The question is SQL or an expression; the `Answer` is one number or a table. SQL may state
        the accuracy itself (ERROR WITHIN 60 AT CONFIDENCE 0.95); `within` may be a mapping from
        columns to half-widths. With `key` the same request gets the same stored answer, however
        often it is sent and whatever crashes in between. Raises `Refused`, having spent nothing,
        when the budget does not allow it; a formula such as AVG is approached in steps, and a
        refusal says what the steps before it cost. With `allow_estimate` a refused linear question
        gets what `estimate` says instead, with an honest interval, which may be wider than asked
        for.
        """
        try:
            return self._answer(query, within, confidence, key=key, analyst=analyst, policy=policy)
        except Refused as refused:
            if not allow_estimate:
                raise
            try:
                return self.estimate(query, confidence=confidence)
            except (EstimateError, QueryError):  # a formula, or no history at all
                raise refused from None

    @abstractmethod
    def estimate(
        self,
        query: Asked,
        method: EstimateMethod = "shrinkage",
        confidence: float | None = None,
    ) -> Estimate | TableEstimate:
        """What history says about a question, asked before or not; free."""

    @abstractmethod
    def _answer(
        self,
        query: Asked,
        within: Within,
        confidence: float | None,
        *,
        key: str | None,
        analyst: str | None,
        policy: str | None,
    ) -> Answer:
        """The answer, from history or paid for, or `Refused`."""
