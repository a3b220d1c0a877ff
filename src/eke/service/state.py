"""State: what the parts of one running server share."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import Request

from eke.service.access import Access
from eke.service.dataset import Datasets
from eke.service.metric import Metrics
from eke.service.rate import Rate
from eke.service.settings import Settings


@dataclass(frozen=True, slots=True)
class State:
    """Datasets, accounts and settings, with counters and rates of this process."""

    datasets: Datasets
    access: Access
    settings: Settings
    requests: Rate
    failures: Rate
    metrics: Metrics = field(default_factory=Metrics)

    @staticmethod
    def of(datasets: Datasets, access: Access, settings: Settings) -> State:
        return State(
            datasets,
            access,
            settings,
            Rate(settings.requests_per_minute),
            Rate(settings.failures_per_minute),
        )


def state_of(request: Request) -> State:
    """The state of the server that handles a request."""
    found: State = request.app.state.eke
    return found
