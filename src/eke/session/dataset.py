"""Dataset: a protected dataset, wherever it is. Commands, DB-API and servers speak to nothing else.

A `Session` is a dataset on this machine, or with a ledger in PostgreSQL; a `RemoteSession`
(`eke.client`) is one on a server.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

from eke.errors import EstimateError, QueryError, Refused
from eke.inference.progress import Progress, silent
from eke.session.ask.aim import Aim

if TYPE_CHECKING:
    import pandas as pd

    from eke.domain import Domain
    from eke.planning import Workload
    from eke.planning.workload.release.section import Alternative
    from eke.privacy.measure import Measure
    from eke.publish import Published
    from eke.session.answer.answer import Answer
    from eke.session.ask.aim import Within
    from eke.session.ask.estimate import Estimate, EstimateMethod, TableEstimate
    from eke.session.ask.preview import Preview
    from eke.session.ask.question import Asked
    from eke.session.budget import Budget
    from eke.session.release.measured import WorkloadLike
    from eke.session.release.price import Price
    from eke.session.release.released import Release


class PlannedSection(Protocol):
    """A part of a plan: what is measured, for how many of the questions."""

    @property
    def strategy(self) -> str: ...

    @property
    def questions(self) -> int: ...


class PlannedRelease(Protocol):
    """A plan of a release: what would be measured, and how far off it would be."""

    @property
    def workload(self) -> Workload: ...

    @property
    def measure(self) -> Measure: ...

    @property
    def budget(self) -> float: ...

    @property
    def answers(self) -> int: ...

    @property
    def rmse(self) -> float: ...

    def explain(self) -> str:
        """A table of the strategies that were considered, the chosen one first."""
        ...

    def comparison(self) -> Sequence[tuple[PlannedSection, Sequence[Alternative]]]:
        """The strategies considered for each section, with what the same quality would cost."""
        ...

    def errors_at(self, budgets: Sequence[float]) -> Sequence[tuple[str, float, float]]:
        """(strategy, budget, RMSE) for a plot of error against budget."""
        ...


class Records(Protocol):
    """Measurements as records."""

    def __len__(self) -> int: ...

    def to_records(self) -> list[dict[str, Any]]: ...

    def to_pandas(self) -> pd.DataFrame: ...


class Dataset(ABC):
    """A protected dataset, open for questions, releases and publications."""

    # -- looking -------------------------------------------------------------------------------

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """What the table may hold; it never changes."""

    @property
    @abstractmethod
    def budget(self) -> Budget:
        """The limit and what is spent of it, by anyone."""

    @property
    @abstractmethod
    def remaining(self) -> float:
        """What whoever asks may still spend: what the limit leaves, or less under a cap."""

    @property
    @abstractmethod
    def history(self) -> Records:
        """What was released so far."""

    @abstractmethod
    def measurement(self, sequence: int) -> dict[str, Any]:
        """One entry of the history: who measured what, with which noise, at what cost."""

    # -- asking --------------------------------------------------------------------------------

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
        spend: float | None = ...,
        groups_of: int | None = ...,
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
        spend: float | None = ...,
        groups_of: int | None = ...,
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
        spend: float | None = None,
        groups_of: int | None = None,
        allow_estimate: bool = False,
    ) -> Answer | Estimate | TableEstimate:
        """The answer to a question, at most ± within with this confidence (0.95 if not given).

        Instead of `within`, `spend` says what it may cost at most: the answer is as accurate as
        that makes it. With `groups_of` averages, ratios and variances need be so accurate only
        where a group has so many records; smaller ones get what the same noise gives.

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
            aim = Aim(within, confidence, spend, groups_of)
            return self._answer(query, aim, key=key, analyst=analyst, policy=policy)
        except Refused as refused:
            if not allow_estimate:
                raise
            try:
                return self.estimate(query, confidence=confidence)
            except (EstimateError, QueryError):  # a formula, or no history at all
                raise refused from None

    @abstractmethod
    def _answer(
        self,
        query: Asked,
        aim: Aim,
        *,
        key: str | None,
        analyst: str | None,
        policy: str | None,
    ) -> Answer:
        """The answer, from history or paid for, or `Refused`."""

    @abstractmethod
    def preview(
        self,
        query: Asked,
        within: Within = None,
        confidence: float | None = None,
        *,
        analyst: str | None = None,
        policy: str | None = None,
        spend: float | None = None,
        groups_of: int | None = None,
    ) -> Preview:
        """Price and source of an answer; spends nothing and touches no data."""

    @abstractmethod
    def curve(
        self,
        query: Asked,
        within: Sequence[float],
        confidence: float | None = None,
        *,
        analyst: str | None = None,
        policy: str | None = None,
    ) -> list[Preview]:
        """The previews at several half-widths; spends nothing."""

    @abstractmethod
    def explain(
        self,
        query: str,
        within: Within = None,
        confidence: float | None = None,
        *,
        analyst: str | None = None,
        policy: str | None = None,
        spend: float | None = None,
        groups_of: int | None = None,
    ) -> dict[str, Any]:
        """How SQL is read, what history says about each part of it, and its price."""

    @abstractmethod
    def estimate(
        self,
        query: Asked,
        method: EstimateMethod = "shrinkage",
        confidence: float | None = None,
        *,
        analyst: str | None = None,
        progress: Progress = silent,
    ) -> Estimate | TableEstimate:
        """What history says about a question, asked before or not; free, and touches no data.

        "blue" is unbiased and answers only what history determines; "shrinkage" answers every
        linear question, with an interval; "max_entropy" answers from a fitted distribution.
        `progress` is called with what is being done and how much of it is done, from 0 to 1.
        """

    # -- releasing and publishing --------------------------------------------------------------

    @abstractmethod
    def plan(
        self,
        workload: WorkloadLike,
        *,
        budget: float | None = None,
        within: float | Mapping[Any, float] | None = None,
        confidence: float = 0.95,
        strategy: str = "auto",
    ) -> PlannedRelease:
        """How to release a workload with the least error for a budget; spends nothing.

        With `within` (one half-width, or one for each marginal) it is the cheapest plan that meets
        them. `plan.explain()` compares the strategies.
        """

    @abstractmethod
    def price(self, wanted: PlannedRelease, *, analyst: str | None = None) -> Price:
        """What a release would cost, and what is left for it; spends nothing."""

    @abstractmethod
    def release(
        self, plan: PlannedRelease, *, key: str | None = None, analyst: str | None = None
    ) -> Release:
        """Measure everything in a plan, in one charge; raises `BudgetExceeded`, nothing spent.

        What is released stays in the history, and later answers use it.
        """

    @abstractmethod
    def publish(
        self,
        mechanism: str,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        key: str | None = None,
        analyst: str | None = None,
        progress: Progress = silent,
        **options: Any,
    ) -> Published:
        """A whole table of new rows in the schema of this one, for at most this much budget.

        `mechanism` is "max_entropy" (rows=n; or from_history=True, which spends nothing), "lda"
        (target=...) or "pca" (components=k or "auto"). With `key` the same request gets the same
        rows, whatever crashes in between. `progress` is told of each step and the share done.
        """
