"""There: a dataset on a server, as a place.

What is paid for has a key, given or made here: when the connection breaks or somebody presses
Ctrl-C the server goes on, and the error says with which key the same command gets the result.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import eke
from eke.cli.place import Method, Offer, Place, Progress, Widths
from eke.errors import Unanswered

if TYPE_CHECKING:
    from eke.client import RemotePlan, RemoteSession
    from eke.planning import Workload
    from eke.publish import Published
    from eke.session import Estimate, Release


class There(Place):
    """A session on a server as a place; `tell` shows a sentence to whoever waits."""

    def __init__(self, session: RemoteSession, tell: Callable[[str], None]) -> None:
        super().__init__(session)
        self._session = session
        self._tell = tell

    @property
    def remaining(self) -> float:
        return self._session.remaining

    def measurement(self, sequence: int) -> dict[str, Any]:
        return self._session.measurement(sequence)

    def explain(
        self, sql: str, within: Widths, confidence: float | None, *, policy: str | None
    ) -> dict[str, Any]:
        return self._session.explain(sql, within, confidence, policy=policy)

    def estimate(
        self, sql: str, method: Method, confidence: float | None, *, progress: Progress
    ) -> Estimate:
        progress("waiting for the server", 0.0)  # it does not say how far it is
        return cast("Estimate", self._session.estimate(sql, method, confidence))

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
        price = eke.session.Price(found.cost, found.remaining, found.measure.name)
        return Offer(found, price, partial(self._release, found))

    def _release(self, plan: RemotePlan, key: str | None) -> Release:
        with _going_on(key) as own:
            return self._session.release(plan, key=own)

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
        known = key is not None
        with _going_on(key) as own:

            def followed(doing: str, done: float) -> None:
                nonlocal known
                if not known:  # now that there is a job, it goes on without us
                    self._tell(f"If this ends early, the same command with --key {own} goes on.")
                    known = True
                progress(doing, done)

            return self._session.publish(
                mechanism, epsilon=epsilon, rho=rho, key=own, progress=followed, **options
            )


@contextmanager
def _going_on(key: str | None) -> Iterator[str]:
    """The key of a request; within it, no answer becomes the advice to send it again."""
    own = key or f"once-{secrets.token_hex(8)}"
    try:
        yield own
    except (Unanswered, KeyboardInterrupt) as problem:
        reason = "interrupted" if isinstance(problem, KeyboardInterrupt) else str(problem)
        raise Unanswered(
            f"{reason}. The server may go on: run the same command with --key {own} to get what it "
            "makes; what is charged already is not charged again"
        ) from None
