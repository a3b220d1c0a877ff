"""Health and metrics, for whoever keeps the server running."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from eke.service.permission import AUDITING, roles
from eke.service.state import state_of

router = APIRouter(tags=["system"])


@router.get("/health")
async def health() -> dict[str, str]:
    """Whether the server answers; for everyone."""
    return {"status": "ok"}


@router.get("/metrics", response_class=PlainTextResponse, **roles(*AUDITING))
def metrics(request: Request) -> PlainTextResponse:
    """Counts, durations and budgets in the text form of Prometheus."""
    state = state_of(request)
    gauges: list[tuple[str, dict[str, str], float]] = []
    for name, session in state.datasets.items():
        budget = session.budget
        labels = {"dataset": name, "measure": budget.measure}
        gauges.append(("eke_budget_limit", labels, budget.limit))
        gauges.append(("eke_budget_spent", labels, budget.spent))
    gauges.append(("eke_jobs_waiting", {}, state.jobs.waiting()))
    gauges.sort(key=lambda gauge: gauge[0])
    return PlainTextResponse(state.metrics.text(gauges), media_type="text/plain; version=0.0.4")
