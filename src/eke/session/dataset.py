"""Dataset: a protected dataset, wherever it is. Commands, DB-API and servers speak to nothing else.

A `Session` has its ledger here or in PostgreSQL; a `RemoteSession` (`eke.client`) is on a server.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

from eke.errors import EstimateError, QueryError, Refused
from eke.inference.progress import Progress, silent
from eke.session.ask.aim import Aim
from eke.session.ask.estimating import Estimating
from eke.session.guard.guarding import Guarding
from eke.session.outside.knowing import Knowing
from eke.session.publish.archiving import Archiving

if TYPE_CHECKING:
    import pandas as pd

    from eke.domain import Domain
    from eke.planning.workload.strategy.given import Strategy
    from eke.privacy.unit import Unit
    from eke.publish import Published
    from eke.question.posed import Asked
    from eke.session.answer.answer import Answer
    from eke.session.ask.aim import Within
    from eke.session.ask.claim import Claim
    from eke.session.ask.estimate import Estimate, TableEstimate
    from eke.session.ask.preview import Preview
    from eke.session.budget import Budget
    from eke.session.planned import PlannedRelease
    from eke.session.release.measured import WorkloadLike
    from eke.session.release.price import Price
    from eke.session.release.released import Release


class Records(Protocol):
    """Measurements as records."""

    def __len__(self) -> int: ...
    def to_records(self) -> list[dict[str, Any]]: ...
    def to_pandas(self) -> pd.DataFrame: ...


class Dataset(Knowing, Guarding, Archiving, Estimating):
    """A protected dataset, open for questions, releases and publications."""

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
        """The answer to a question: one number or a table, with intervals.

        A formula such as AVG is approached in steps. SQL may state its accuracy itself, such as
        `ERROR WITHIN 60 AT CONFIDENCE 0.95`. See docs/how-to/choose-accuracy.md.

        Args:
            query: SQL, or an expression such as `eke.count(sex="F")`.
            within: the half-width of the interval that you can accept: a number, a share of the
                value such as "2 %", for quantiles of dates and times a length such as "6 hours",
                or a mapping from columns to these.
            confidence: the probability with which each interval holds the true answer; 0.95 if not
                given.
            key: a text of your own. The same request under it gets the same stored answer, however
                often it is sent and whatever crashes in between.
            analyst: who asks, if not the session's analyst. A server knows it by the token.
            policy: "top_up", "direct" or "look_ahead", if not the dataset's own.
            spend: instead of `within`, what the answer may cost at most: it is as accurate as that
                makes it.
            groups_of: averages, ratios and variances need be so accurate only where a group has so
                many records; smaller ones get what the same noise gives.
            allow_estimate: a refused linear question gets what `estimate` says instead, with an
                honest interval, which may be wider than asked for.

        Returns:
            an `Answer`; with `allow_estimate` it may be an `Estimate` or a table of them.

        Raises:
            Refused: when the budget or a guarded claim does not allow it; nothing is spent, but on
                earlier steps of a formula, which the refusal tells.
            SqlError: when the SQL cannot be answered.
            AccuracyError: when the accuracy is missing or makes no sense.
            KeyConflict: when the key was used for another request.

        Example:
            >>> women = session.ask(eke.count(sex="F"), within=60, key="monday-1")
            >>> women.within <= 60, women.free
            (True, False)
            >>> again = session.ask(eke.count(sex="F"), within=60, key="monday-1")
            >>> again.value == women.value
            True
            >>> session.ask("SELECT sex, AVG(age) FROM people GROUP BY sex", spend=0.2).columns
            ('sex', 'AVG(age)')
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
        """What an answer would cost, and where it would come from: a `Preview`.

        It spends nothing and touches no data. `query`, `within`, `confidence`, `analyst`, `policy`,
        `spend` and `groups_of` are those of `ask`.

        Example:
            >>> session.preview(eke.count(age=(18, 29)), within=60).cost
            0.049928919
        """

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
        """The previews at several half-widths `within`, in a session all of the same moment.

        It spends nothing. `query`, `confidence`, `analyst` and `policy` are those of `ask`.

        Example:
            >>> [round(one.cost, 3) for one in session.curve(eke.count(), within=[30, 60, 120])]
            [0.1, 0.05, 0.025]
        """

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
        """How SQL is read, what history says about each part of it, and its price.

        It spends nothing. `query` is SQL; an expression says itself what it is. The price is told
        with an accuracy: `within`, `confidence`, `analyst`, `policy`, `spend` and `groups_of` are
        those of `ask`.

        Example:
            >>> told = session.explain("SELECT COUNT(*) FROM people WHERE age < 30", within=60)
            >>> told["aggregates"]["a0"]["question"], told["price"]["cost"]
            ('count where age 0–29', 0.049928919)
        """

    @abstractmethod
    def claim(self, query: Asked, claim: str, *, analyst: str | None = None) -> Claim:
        """How probable it is that true answers lie where somebody says: a `Claim`; free.

        `query` has one value, or one column of them, that history determines (`EstimateError`);
        `claim` is such as "<= 0.5", "10 to 20" or "> 2013-06-30", `analyst` as for `ask`.

        Example:
            >>> _ = session.ask(eke.count(sex="F"), within=60)
            >>> session.claim(eke.count(sex="F"), "0 to 3000").probability > 0.99
            True
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
        strategy: Strategy = "auto",
    ) -> PlannedRelease:
        """How to release a workload with the least error for a budget; spends nothing.

        Args:
            workload: a `Workload`, SQL with GROUP BY CUBE, ROLLUP or GROUPING SETS, or a list of
                marginals and questions.
            budget: what the release may cost, in the dataset's own measure.
            within: instead of it, the half-width that every answer must meet, or one for each
                marginal: the plan is then the cheapest that does.
            confidence: that of these half-widths, each by itself.
            strategy: what to measure; "auto" takes the least expected error. A matrix is one row
                of numbers a question, over the workload's cells. See docs/concepts/workloads.md.

        Returns:
            a `ReleasePlan`, whose `explain()` compares the strategies.

        Example:
            >>> plan = session.plan(eke.all_marginals(session.domain, 2), budget=0.3)
            >>> plan.workload.questions, round(plan.rmse, 1)
            (1031, 14.9)
        """

    @abstractmethod
    def price(self, wanted: PlannedRelease, *, analyst: str | None = None) -> Price:
        """What a plan would cost, and what is left for it: a `Price`; spends nothing."""

    @abstractmethod
    def release(
        self, plan: PlannedRelease, *, key: str | None = None, analyst: str | None = None
    ) -> Release:
        """Measure everything in a plan, in one charge.

        What is released stays in the history, and later answers use it.

        Args:
            plan: a plan of this dataset.
            key: as for `ask`.
            analyst: as for `ask`.

        Returns:
            a `Release`.

        Raises:
            BudgetExceeded: when the budget or a guarded claim does not allow it.

        Example:
            >>> plan = session.plan([["sex", "smoker"]], budget=0.3)
            >>> session.release(plan, key="smokers")
            Release(1 tables, cost epsilon 0.3)
            >>> session.ask(eke.count(sex="F", smoker=True), within=60).free
            True
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
        """New rows in the schema of the table, for at most this much budget.

        Args:
            mechanism: "max_entropy" (rows=n; target=... and workload=[...] for what matters; or
                from_history=True, which spends nothing), "lda" (target=...) or "pca" (components=k
                or "auto").
            epsilon: what may be spent, of a dataset whose limit is an epsilon.
            rho: what may be spent, of a dataset whose limit is a rho.
            key: the same request under it gets the same rows, whatever crashes in between.
            analyst: as for `ask`.
            progress: is told of each step and of the share that is done. In a session, what it
                raises stops the publication, which the same key finishes later.
            options: those of the mechanism; see docs/how-to/publish-rows.md. A session also takes
                `most_rows`, at which a noisy estimate of the number of rows is cut off.

        Returns:
            a `Published`.

        Example:
            >>> session.publish("max_entropy", epsilon=0.2, rows=100)
            Published(max_entropy: 100 rows, 4 attributes; epsilon 0.2)
        """

    # -- looking -------------------------------------------------------------------------------

    @property
    @abstractmethod
    def domain(self) -> Domain:
        """What the table may hold, a `Domain`; it never changes."""

    @property
    @abstractmethod
    def unit(self) -> Unit | None:
        """What is protected as a whole, a `Unit`; None where it is the single row."""

    @property
    @abstractmethod
    def budget(self) -> Budget:
        """The limit and what is spent of it, by anyone: a `Budget`."""

    @property
    @abstractmethod
    def remaining(self) -> float:
        """What whoever asks may still spend: what the limit leaves, or less under a cap."""

    @property
    @abstractmethod
    def history(self) -> Records:
        """What was released so far, by anyone."""

    @abstractmethod
    def measurement(self, sequence: int) -> dict[str, Any]:
        """One entry of the history: who measured what, with which noise, at what cost."""
