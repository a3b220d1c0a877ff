"""Here: a dataset on this machine, or whose ledger is in PostgreSQL, as a place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import eke
from eke.cli.place import Method, Offer, Place, Progress, Widths

if TYPE_CHECKING:
    from eke.planning import ReleasePlan, Workload
    from eke.publish import Published
    from eke.session import Estimate, Release, Session


class Here(Place):
    """A local session as a place."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session

    @property
    def remaining(self) -> float:
        found, who = self._session.budget, self._session.analyst
        limit = self._session.shares.limit_for(who, found.limit_nano, found.spent_nano)
        return replace(found, limit_nano=limit).remaining

    def measurement(self, sequence: int) -> dict[str, Any]:
        return eke.session.measurement_document(self._session, sequence)

    def explain(
        self, sql: str, within: Widths, confidence: float | None, *, policy: str | None
    ) -> dict[str, Any]:
        return eke.session.question_document(self._session, sql, within, confidence, policy=policy)

    def estimate(
        self, sql: str, method: Method, confidence: float | None, *, progress: Progress
    ) -> Estimate:
        found = self._session.estimate(sql, method, confidence, progress=progress)
        return cast("Estimate", found)  # SQL with groups is refused

    def plan(
        self,
        workload: Workload,
        *,
        budget: float | None,
        within: float | Mapping[tuple[str, ...], float] | None,
        confidence: float,
        strategy: str,
    ) -> Offer:
        found = self._session.plan(
            workload, budget=budget, within=within, confidence=confidence, strategy=strategy
        )
        return Offer(found, self._session.price(found), partial(self._release, found))

    def _release(self, plan: ReleasePlan, key: str | None) -> Release:
        return self._session.release(plan, key=key)

    def publish(
        self,
        mechanism: str,
        *,
        epsilon: float | None,
        rho: float | None,
        key: str | None,
        progress: Progress,
        options: Mapping[str, Any],
    ) -> Published:
        return self._session.publish(
            mechanism, epsilon=epsilon, rho=rho, key=key, progress=progress, **options
        )
