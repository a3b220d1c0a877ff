"""State: what the parts of one running server share."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from fastapi import Request

from eke.service.access import Access
from eke.service.dataset import Datasets
from eke.service.failure import Problem
from eke.service.job import Jobs
from eke.service.job_store import JobStore
from eke.service.metric import Metrics
from eke.service.pace import Pace
from eke.service.rate import Rate
from eke.service.settings import Settings

STEPS_OF_A_JOB = 10  # jobs take long, and what is seen of them moves in as much longer steps
_MOST_HEAVY = 2
_HEAVY_PATIENCE = 10.0  # seconds


@dataclass(frozen=True, slots=True)
class State:
    """Datasets, accounts and settings, with counters and rates of this process."""

    datasets: Datasets
    access: Access
    settings: Settings
    requests: Rate
    failures: Rate
    jobs: Jobs
    metrics: Metrics
    pace: Pace
    heavy: threading.BoundedSemaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(_MOST_HEAVY)
    )

    @staticmethod
    def of(
        datasets: Datasets, access: Access, settings: Settings, pace: Pace | None = None
    ) -> State:
        metrics = Metrics()
        job_pace = Pace(settings.answer_step * STEPS_OF_A_JOB)
        return State(
            datasets,
            access,
            settings,
            Rate(settings.requests_per_minute),
            Rate(settings.failures_per_minute),
            Jobs(datasets, JobStore(access.storage.beside()), metrics, job_pace),
            metrics,
            Pace(settings.answer_step) if pace is None else pace,
        )

    @contextmanager
    def one_of_few(self) -> Iterator[None]:
        """Within it a request that computes for seconds; few at a time, so that others get on."""
        if not self.heavy.acquire(timeout=_HEAVY_PATIENCE):
            raise Problem(429, "Busy", "the server is planning for others; wait", retry_after=10)
        try:
            yield
        finally:
            self.heavy.release()


def state_of(request: Request) -> State:
    """The state of the server that handles a request."""
    found: State = request.app.state.eke
    return found
