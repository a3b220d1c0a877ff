"""State: what the parts of one running server share."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from fastapi import Request

from eke.service.access import Access
from eke.service.dataset import Datasets
from eke.service.job import Jobs
from eke.service.job_store import JobStore
from eke.service.metric import Metrics
from eke.service.pace import Pace
from eke.service.peers import Peers
from eke.service.rate import Rate
from eke.service.settings import Settings
from eke.service.turns import FairTurns

STEPS_OF_A_JOB = 10  # jobs take long, and what is seen of them moves in as much longer steps
LOOKS_IN_A_STEP = 4  # of an answer, so that planning, one look and writing fit in it together


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
    turns: FairTurns = field(default_factory=FairTurns)
    peers: Peers | None = None

    @staticmethod
    def of(
        datasets: Datasets,
        access: Access,
        settings: Settings,
        pace: Pace | None = None,
        peers: Peers | None = None,
    ) -> State:
        """The state of a server, or of one of its workers that have `peers`."""
        metrics = Metrics()
        pace = pace or Pace(settings.answer_step)
        server = None if peers is None else peers.server
        job_pace = Pace(settings.answer_step * STEPS_OF_A_JOB)
        state = State(
            datasets,
            access,
            settings,
            rate("requests", settings.requests_per_minute, peers),
            rate("failures", settings.failures_per_minute, peers),
            Jobs(datasets, JobStore(access.storage.beside(), server=server), metrics, job_pace),
            metrics,
            pace,
            peers=peers,
        )
        datasets.serve(state.turns.turn, replace(pace, step=pace.step / LOOKS_IN_A_STEP))
        return state


def rate(name: str, per_minute: int, peers: Peers | None) -> Rate:
    """So many a minute of each caller, by all workers together."""
    return Rate(per_minute, buckets=None if peers is None else peers.buckets(name))


def state_of(request: Request) -> State:
    """The state of the server that handles a request."""
    state: State = request.app.state.eke
    return state
