"""Answering: carries a request out: free from history, by one charge, in steps, or refused.

The order in which charge, data, noise and answer follow each other is the engine's
(`eke.engine.vault`); here a decision is made again whenever the ledger has moved on meanwhile.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

from eke.engine import Snapshot, Stale, Vault
from eke.errors import BudgetExceeded, Refused
from eke.history import Measurement
from eke.planning import Decision, Facts, FallsShort, foreseen, only_history, policy_named
from eke.privacy.measure import Measure
from eke.privacy.record_loss import NANO
from eke.session.answer.record import Finding
from eke.session.ask.free_texts import FreeTexts
from eke.session.ask.preview import Preview, advice
from eke.session.ask.request import Request, finding_of
from eke.session.ask.steps import Step, spent_on_steps, step_text, taken
from eke.session.ask.turn import Turns, at_once
from eke.session.ask.work import Work, combined_work
from eke.session.single_use import is_single_use, single_use

_MOST_STEPS = 20
_TRIES_ON_A_MOVING_LEDGER = 5


class Answering:
    """What a session does with requests."""

    def __init__(self, vault: Vault, measure: Measure) -> None:
        self._vault = vault
        self._measure: Measure = measure
        self._payers = threading.Lock()
        self._told = FreeTexts()
        self._turns: Turns = at_once

    def take_turns(self, turns: Turns) -> None:
        """Let long work wait for its turn."""
        self._turns = turns

    def text(self, request: Request, key: str | None) -> str:
        """The stored text of the answer; raises `Refused` when the budget does not allow it."""
        text = None if key is None else self._stored(request, key)
        if text is None and request.in_steps:
            text = self._in_steps(request, key)
        for attempt in range(_TRIES_ON_A_MOVING_LEDGER):
            if text is not None:
                break
            last = attempt == _TRIES_ON_A_MOVING_LEDGER - 1
            text = self._answered(request, key, insist=last)
        if text is None:
            raise BudgetExceeded("others spent the budget meanwhile; nothing was spent here")
        return text

    def free_text(self, request: Request) -> str | None:
        """The text of the answer that history gives; None when it is not accurate enough."""
        now = self._vault.glance()
        told = self._told.find(request, now)
        if told is not None:
            return told
        with self._turn(request, self._work(request, now)):
            if self._for_free(request, now) is None:
                return None
            return self._from_history(request, None, now)

    def previews(self, requests: Sequence[Request]) -> list[Preview]:
        """Price and source of each answer now; spends nothing and touches no data.

        All of it together is one request's work.
        """
        now = self._vault.snapshot()
        together = combined_work([self._work(request, now) for request in requests])
        together.check()
        with self._turn(requests[0], together):
            return [self._preview(request, self._decide(request, now), now) for request in requests]

    def _work(self, request: Request, now: Snapshot, *, is_begun: bool = False) -> Work:
        """How much work a request is; refused here, before any of it is done, if too much.

        What is too much to plan for may have been answered before: then it is only looked up. Once
        something was paid for it, it is carried on, although history has grown by that.
        """
        known = now.facts.inference
        work = request.work(known)
        if is_begun or work.is_allowed:
            return work
        looking = request.looking_work(known)
        if looking is None or not looking.is_allowed:
            work.check()
        return looking or work

    def _decide(self, request: Request, now: Snapshot, before: Sequence[int] = ()) -> Decision:
        """What to do about a request, of which some steps may have been taken.

        Too much work to plan for is refused here, unless history is accurate enough.
        """
        work, decision = request.work(now.facts.inference), None
        if not (before or work.is_allowed):
            decision = self._for_free(request, now)
            if decision is None:
                work.check()
        return decision or self._unguarded(request, now, before)

    def _unguarded(self, request: Request, now: Snapshot, before: Sequence[int]) -> Decision:
        """What to do, but nothing that could make a guarded claim more probable.

        A policy may buy more than the question; the question itself may still be measured then.
        """
        facts = now.facts_for(request.analyst)
        decision = request.decide(facts, before=before)
        if decision.plan is None or not now.guards:
            return decision
        blocks = request.question.blocks if request.in_steps else ()
        later = [each for block in blocks for each in block.measurable()]
        guarded = now.at_risk(decision.plan, later)
        if not guarded:
            return decision
        direct = request.decide(facts, policy_named("direct"), before=before)
        if direct.plan is not None and not now.at_risk(direct.plan, later):
            return direct
        return replace(decision, action="refuse", plan=None, guarded=guarded)

    def _for_free(self, request: Request, now: Snapshot) -> Decision | None:
        """The decision to answer from history; None when that is not accurate enough."""
        try:
            decision = request.decide(now.facts, only_history)
        except FallsShort:
            return None
        return decision if decision.action == "history" else None

    def _turn(self, request: Request, work: Work) -> AbstractContextManager[None]:
        """Within it the work is done; what is done in no time need not wait."""
        return nullcontext() if work.is_light else self._turns(request.analyst, work.steps)

    def _stored(self, request: Request, key: str) -> str | None:
        """The stored answer of a request seen before; one that a crash left half done is finished.

        The steps of a formula are stored under keys of their own, so that there is nothing to
        finish under the key itself.
        """

        def finished(facts: Facts, released: Sequence[Measurement], cost: int) -> str:
            return request.text(facts, finding_of(facts, released, cost, None))

        return self._vault.complete(
            analyst=request.analyst, key=key, digest=request.digest, answer=finished
        )

    def _answered(self, request: Request, key: str | None, *, insist: bool) -> str | None:
        """The stored text of an answer; None when the ledger moved on: try again.

        Decisions are made on a snapshot, and nobody waits for them. Those made in no time stand in
        line with each other, so that none of them is in vain; the others are made again if
        somebody was quicker. Whatever is free neither plans nor stands in line, and may be found on
        an older snapshot. So may a charge, which the ledger checks; a refusal is of the newest.
        """
        now = self._vault.glance()
        told = self._told.find(request, now)
        if told is not None:
            return self._kept(request, key, told)
        work = self._work(request, now)
        if not work.is_light:
            return self._decided(request, key, self._vault.snapshot(), insist=insist)
        if self._for_free(request, now) is not None:
            return self._from_history(request, key, now)
        has_waited = self._payers.locked()
        with self._payers:  # whoever was before us has changed something
            now = self._vault.snapshot() if has_waited else now
            return self._decided(request, key, now, insist=insist)

    def _decided(
        self, request: Request, key: str | None, now: Snapshot, *, insist: bool
    ) -> str | None:
        """The same for a request that may have to be planned and paid for."""
        with self._turn(request, self._work(request, now)):
            decision = self._decide(request, now)
            if decision.action == "history":
                return self._from_history(request, key, now)
        if decision.plan is None:
            newest = self._vault.snapshot()
            if newest.sequence > now.sequence:
                return self._decided(request, key, newest, insist=insist)
            refusal = self._preview(request, decision, now)
            raise Refused(advice(refusal), refusal)

        def answered(facts: Facts, released: Sequence[Measurement], cost: int) -> str:
            return request.text(facts, finding_of(facts, released, cost, decision.known))

        try:
            return self._vault.release(
                decision.plan,
                analyst=request.analyst,
                key=single_use() if key is None else key,
                digest=request.digest,
                answer=answered,
                as_of=None if insist else now.sequence,
                at_most=request.left_of(),
            )
        except (Stale, BudgetExceeded):
            return None

    def _from_history(self, request: Request, key: str | None, now: Snapshot) -> str:
        """The text of a free answer."""
        text = request.text(now.facts, Finding("history", now.sequence))
        return self._kept(request, key, self._told.put(request, now, text))

    def _in_steps(self, request: Request, key: str | None) -> str:
        """The stored text of an answer that takes several measurements, each a charge of its own.

        A step is an idempotent request under a key made from that of the whole: after a crash the
        steps that were paid are found again.
        """
        name = single_use() if key is None else key
        steps: list[Step] = []
        tries, overtaken, known = 0, 0, None
        while len(steps) < _MOST_STEPS and tries < _MOST_STEPS:
            place, digest = f"{name}/{len(steps) + 1}", f"{request.digest}/{len(steps) + 1}"
            paid = None
            if key is not None:
                paid = self._vault.complete(
                    analyst=request.analyst, key=place, digest=digest, answer=step_text
                )
            if paid is not None:
                steps.append(Step.read(paid))
                continue
            now = self._vault.snapshot()
            told = None if steps else self._told.find(request, now)
            if told is not None:
                return self._kept(request, key, told)
            costs = [step.cost for step in steps]
            with self._turn(request, self._work(request, now, is_begun=bool(steps))):
                decision = self._decide(request, now, before=costs)
                if decision.action == "history" and not steps:
                    return self._from_history(request, key, now)
                if decision.action == "history":  # paid for, and kept like every answer that was
                    text = request.text(now.facts, taken(steps, now.sequence, known))
                    return self._vault.remember(request.analyst, name, request.digest, text)
            if decision.plan is None:
                refusal = self._preview(request, decision, now)
                raise Refused(advice(refusal, spent_on_steps(steps)), refusal)
            tries += 1
            known = decision.known if not steps else known
            try:
                paid = self._vault.release(
                    decision.plan,
                    analyst=request.analyst,
                    key=place,
                    digest=digest,
                    answer=step_text,
                    as_of=None if overtaken >= _TRIES_ON_A_MOVING_LEDGER else now.sequence,
                    at_most=request.left_of(costs),
                )
            except Stale:
                overtaken += 1
                continue
            except BudgetExceeded:
                continue
            steps.append(Step.read(paid))
            overtaken = 0
        raise Refused(
            "the formula did not come within the half-width asked for; ask for a wider one. "
            f"{spent_on_steps(steps)}."
        )

    def _kept(self, request: Request, key: str | None, text: str) -> str:
        """The text, stored under the key if somebody chose one.

        A free answer under a key of eke's own making is found again as it was found now, and
        leaves no trace.
        """
        if key is None or is_single_use(key):
            return text
        return self._vault.remember(request.analyst, key, request.digest, text)

    def _preview(self, request: Request, decision: Decision, now: Snapshot) -> Preview:
        headline, facts = request.headline, now.facts_for(request.analyst)
        is_free = decision.action == "history"
        spends = request.spend is not None
        bought = decision.known if is_free else decision.within
        likely = None
        if decision.action == "measure" and not spends:
            likely = foreseen(request.demand, facts, policy_named(request.policy))
        return Preview(
            headline.question,
            bought if headline.within is None else headline.within,
            headline.confidence,
            decision.action,
            decision.cost / NANO,
            decision.known if is_free else request.if_useful(decision.known),
            None if request.demand.relative else request.if_useful(decision.narrowest),
            self._measure.name,
            (facts.limit - facts.spent) / NANO,
            first_step=request.in_steps
            and decision.action == "measure"
            and not (spends and decision.within is not None),
            hint=decision.hint,
            spend=None if request.spend is None else request.spend / NANO,
            groups_of=headline.groups_of,
            share=None if headline.of_records else headline.share,
            capped=facts.limit < now.facts.limit,
            of_rank=request.is_chosen,
            likely=None if likely is None else max(likely.cost, decision.cost) / NANO,
            records=None if likely is None else likely.records,
            guarded=decision.guarded,
        )
