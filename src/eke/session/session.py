"""Session: the public face. A curator creates a protected dataset, analysts ask it questions.

    session = eke.create("adult.eke", data="adult.parquet", domain=domain, epsilon=1.0)
    answer = session.ask("SELECT COUNT(*) FROM adult WHERE age BETWEEN 30 AND 40", within=60)

`ask` infers from history; if the interval is narrow enough that is the answer, free. Otherwise the
policy chooses the least noise that suffices and the engine releases it. Questions are written in
SQL (`eke.sql`) or with `eke.query`; data is touched in `eke.engine` only.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eke import planning
from eke.errors import QueryError
from eke.inference.progress import Progress, silent
from eke.ledger import HighWaterMark
from eke.ledger.required import require_name
from eke.planning.online.effort import steps_for
from eke.privacy.budget import nano_floor
from eke.privacy.unit import Unit
from eke.query import check_neighbours
from eke.question.posed import Asked
from eke.session import ask as asking
from eke.session import publish as publishing
from eke.session import release as releasing
from eke.session.answer.answer import Answer
from eke.session.ask.aim import Aim, Within
from eke.session.ask.answering import Answering
from eke.session.ask.estimating_here import EstimatingHere
from eke.session.ask.question_store import QuestionStore
from eke.session.ask.request import Request, request_of
from eke.session.ask.turn import Turns, at_once
from eke.session.ask.work import Work
from eke.session.beginning import unit_caveats, unit_of
from eke.session.budget import Budget
from eke.session.dataset import Dataset
from eke.session.guard.local import GuardingHere
from eke.session.history import History
from eke.session.outside.local import KnowingHere
from eke.session.single_use import single_use

if TYPE_CHECKING:
    from eke.domain import Domain
    from eke.engine import Shares, Tempo, Vault
    from eke.ledger import Entry, Verification
    from eke.planning import ReleasePlan
    from eke.planning.workload.strategy.given import Strategy
    from eke.privacy.measure import Measure
    from eke.publish import Published
    from eke.session.ask.assumptions import Assumptions
    from eke.session.ask.claim import Claim
    from eke.session.ask.estimator import Estimator
    from eke.session.ask.kept import KeptAnswers
    from eke.session.ask.preview import Preview
    from eke.session.planned import PlannedRelease
    from eke.session.publish.archive import Archive
    from eke.session.publish.published import PublishRequest
    from eke.session.release.advise import Advice
    from eke.session.release.measured import WorkloadLike
    from eke.session.release.price import Price
    from eke.session.release.released import Release


class Session(KnowingHere, GuardingHere, EstimatingHere, Dataset):
    """A protected dataset, open for questions. Made by `eke.create` and `eke.open`.

    Attributes:
        analyst: who asks unless `ask` says otherwise.
        settings: the public document that `create` stored: domain, unit, neighbours, policy.

    Example:
        >>> session
        Session(4 attributes, 3,000 cells; epsilon 0 spent of 1, 1 remaining)
        >>> _ = session.ask("SELECT COUNT(*) FROM people WHERE sex = 'F'", within=60)
        >>> session.remaining, len(session.history), session.verify().intact
        (0.950071081, 1, True)
    """

    def __init__(
        self,
        vault: Vault,
        *,
        measure: Measure,
        policy: str,
        analyst: str,
        settings: Mapping[str, Any],
    ) -> None:
        planning.policy_named(policy)
        self._vault = vault
        self._questions = QuestionStore(vault.domain, unit_of(settings))
        self._answering = Answering(vault, measure)
        self._turns: Turns = at_once
        self._measure: Measure = measure
        self._policy = policy
        self.analyst = analyst
        self.settings = dict(settings)
        self._estimators: dict[Assumptions, tuple[int, Estimator]] = {}

    # -- asking --------------------------------------------------------------------------------

    def _answer(
        self, query: Asked, aim: Aim, *, key: str | None, analyst: str | None, policy: str | None
    ) -> Answer:
        """What `ask` gives: decided on, paid for if need be, stored, and read back."""
        request = self._request(query, aim, policy=policy, analyst=analyst)
        return self._read(request, self._answering.text(request, key))

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
        aim = Aim(within, confidence, spend, groups_of)
        request = self._request(query, aim, policy=policy, analyst=analyst)
        return self._answering.previews([request])[0]

    def curve(
        self,
        query: Asked,
        within: Sequence[float],
        confidence: float | None = None,
        *,
        analyst: str | None = None,
        policy: str | None = None,
    ) -> list[Preview]:
        return self._answering.previews(
            [
                self._request(query, Aim(width, confidence), policy=policy, analyst=analyst)
                for width in within
            ]
        )

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
        question, preview = self._questions.read(query), None
        if within is not None or spend is not None or question.requirement is not None:
            aim = Aim(within, confidence, spend, groups_of)
            request = self._request(query, aim, policy=policy, analyst=analyst)
            (preview,) = self._answering.previews([request])
        answers = asking.explained_answers(question)
        with self.at_work(answers, "Select fewer columns at a time", analyst):
            return asking.question_document(question, self.history, confidence, preview)

    def claim(self, query: Asked, claim: str, *, analyst: str | None = None) -> Claim:
        said, asked = asking.ClaimText.read(claim), asking.claimed(self._questions.of(query))
        request = self._request(asked, asking.ANY_WIDTH, policy=None, analyst=analyst)
        free = self._answering.free_text(request)
        return asking.claim_from(None if free is None else self._read(request, free), said)

    # -- releasing -----------------------------------------------------------------------------

    def plan(
        self,
        workload: WorkloadLike,
        *,
        budget: float | None = None,
        within: float | Mapping[Any, float] | None = None,
        confidence: float = 0.95,
        strategy: Strategy = "auto",
    ) -> ReleasePlan:
        return releasing.planned(
            releasing.workload_of(workload, self.domain),
            self._measure,
            check_neighbours(str(self.settings["neighbours"])),
            self._vault.rows_per_unit,
            budget=budget,
            within=within,
            confidence=confidence,
            strategy=strategy,
        )

    def release(
        self, plan: PlannedRelease, *, key: str | None = None, analyst: str | None = None
    ) -> Release:
        if not isinstance(plan, planning.ReleasePlan):
            raise QueryError("this dataset releases its own plans; make one with its plan()")
        who, name = analyst or self.analyst, single_use() if key is None else key
        text = releasing.measure_plan(self._vault, plan, self._measure, who, name)
        return releasing.release_of(plan.workload, text, plan, unit_caveats(self.settings))

    def advise(self) -> Advice:
        """Tables that would make questions like those paid for free, with their prices.

        A suggestion is accepted by `session.release(session.advise()[0].plan())`. It spends
        nothing; see docs/concepts/look-ahead.md.
        """
        return releasing.advice_from(self._vault.snapshot().facts, self.settings)

    # -- publishing ----------------------------------------------------------------------------

    def publish(
        self,
        mechanism: str,
        *,
        epsilon: float | None = None,
        rho: float | None = None,
        key: str | None = None,
        analyst: str | None = None,
        progress: Progress = silent,
        most_rows: int | None = None,
        **options: Any,
    ) -> Published:
        request = publishing.PublishRequest(
            mechanism, epsilon, rho, options, analyst or self.analyst, key, most_rows
        )
        made = publishing.publish(self._vault, self.settings, self._measure, request, progress)
        return made.qualified(unit_caveats(self.settings))

    @cached_property
    def answers(self) -> KeptAnswers:
        """What the ledger keeps of each analyst's questions, to be read again for nothing.

        `of(analyst)` lists paid answers and free ones with a key, newest first; `answer(analyst,
        sequence)` reads one that was asked in SQL, with the numbers it had.
        """
        return asking.KeptAnswers(self._vault, self._request, self._read)

    @cached_property
    def archive(self) -> Archive:
        """Releases and publications that the ledger holds, whoever made them.

        `releases()` and `publications()` list them; `release(sequence)` and `publication(sequence)`
        read one again, for nothing.
        """
        return publishing.Archive(self._vault, self.settings)

    def price(
        self, wanted: PlannedRelease | PublishRequest, *, analyst: str | None = None
    ) -> Price:
        if isinstance(wanted, publishing.PublishRequest):
            plan = publishing.publication_plan(self._vault, self.settings, self._measure, wanted)
        elif isinstance(wanted, planning.ReleasePlan):
            parts = releasing.checked_parts(self._vault, wanted, self._measure)
            plan = releasing.refining_parts(parts, self._vault.snapshot().facts)
        else:
            raise QueryError("this dataset prices its own plans; make one with its plan()")
        return releasing.price_of(self._vault, plan, self._measure, analyst or self.analyst)

    # -- looking -------------------------------------------------------------------------------

    @property
    def domain(self) -> Domain:
        return self._vault.domain

    @property
    def unit(self) -> Unit | None:
        return unit_of(self.settings)

    @property
    def budget(self) -> Budget:
        balance = self._vault.ledger.balance()
        return Budget(self._measure.name, balance.limit, balance.spent)

    @property
    def remaining(self) -> float:
        budget = self.budget
        limit = self.shares.limit_for(self.analyst, budget.limit_nano, budget.spent_nano)
        return replace(budget, limit_nano=limit).remaining

    @property
    def history(self) -> History:
        """Everything released so far, by anyone: a `History`."""
        now = self._vault.snapshot()
        return History(self.domain, now.measurements, now.facts.inference, now.facts.choices)

    def measurement(self, sequence: int) -> dict[str, Any]:
        entries = {entry.sequence: entry for entry in self.ledger_entries()}
        return asking.measurement_document(sequence, entries, self.history, self._measure.name)

    def change_limit(self, limit: float, *, by: str | None = None) -> Budget:
        """Raise or lower the limit, in the dataset's own measure; for the curator.

        Privacy: what people were promised changes with it. The change is an entry of the ledger; a
        limit below what is spent is refused.
        """
        self._vault.change_limit(nano_floor(limit), by or self.analyst)
        return self.budget

    @property
    def shares(self) -> Shares:
        """What each analyst has `spent`, and the `caps`, in nano-units.

        The shares add up to what the dataset has spent; without a cap there is only the limit.
        """
        return self._vault.shares()

    def change_cap(self, analyst: str, cap: float | None, *, by: str | None = None) -> Shares:
        """Let `analyst` spend at most `cap` of the limit, None for no cap; `by` is the curator.

        Privacy: a cap is checked with the limit, in the transaction that charges. The change is an
        entry of the ledger; a cap below what the analyst has spent stops further spending.
        """
        nano = nano_floor(cap) if cap else cap
        self._vault.change_cap(analyst, None if nano is None else int(nano), by or self.analyst)
        return self.shares

    def ledger_entries(self) -> list[Entry]:
        """The ledger's entries, for reports and audits; they hold no exact answer.

        The first holds `settings`. Path and digest of the table are in neither.
        """
        return self._vault.ledger.entries()

    def verify(self, mark: str | None = None) -> Verification:
        """Whether the ledger is intact, and not older than a mark that was exported before."""
        return self._vault.ledger.verify(None if mark is None else HighWaterMark.from_json(mark))

    def mark(self) -> str:
        """A high-water mark to keep elsewhere, so that a restored old ledger is noticed."""
        return self._vault.ledger.mark().to_json()

    def twin(self) -> Session:
        """Another session on the same table and ledger, which does not wait for this one's work."""
        return Session(
            self._vault.twin(),
            measure=self._measure,
            policy=self._policy,
            analyst=self.analyst,
            settings=self.settings,
        )

    def serve(self, turns: Turns, tempo: Tempo) -> None:
        """On a server: long work waits for its `turns`, looks at the data keep a `tempo`."""
        self._turns, self._vault.tempo = turns, tempo
        self._answering.take_turns(turns)

    @contextmanager
    def at_work(self, answers: int, advice: str, analyst: str | None = None) -> Iterator[None]:
        """Within it `answers` are inferred for `analyst`; too many are refused, with `advice`."""
        rows = len(self._vault.glance().facts.inference.rows)
        work = Work(answers, steps_for(answers, rows, together=False), advice)
        work.check()
        with nullcontext() if work.is_light else self._turns(analyst or self.analyst, work.steps):
            yield

    def __repr__(self) -> str:
        return f"Session({len(self.domain)} attributes, {self.domain.size:,} cells; {self.budget})"

    # -- inside --------------------------------------------------------------------------------

    def _request(
        self, query: Asked, aim: Aim, *, policy: str | None, analyst: str | None = None
    ) -> Request:
        chosen, who = policy or self._policy, analyst or self.analyst
        planning.policy_named(chosen)
        require_name(who, "analyst")  # a free answer writes no entry that would be checked
        return request_of(self._questions.of(query), aim, policy=chosen, analyst=who)

    def _read(self, request: Request, text: str) -> Answer:
        """The answer to a request from its stored text."""
        answer = request.answer(text, self._vault.inference_through)
        return replace(answer, caveats=answer.caveats + self._said_in(text))
