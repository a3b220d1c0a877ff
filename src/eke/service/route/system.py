"""Health and metrics, for whoever keeps the server running."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import PlainTextResponse

from eke.service.permission import AUDITING, Who, roles
from eke.service.state import state_of

router = APIRouter(tags=["system"])


@router.get("/health")
async def health() -> dict[str, str]:
    """Whether the server answers; for everyone."""
    return {"status": "ok"}


@router.get("/metrics", response_class=PlainTextResponse, **roles(*AUDITING))
def metrics(request: Request, who: Who) -> PlainTextResponse:
    """Counts, durations and budgets, of what the caller may see, in the text form of Prometheus."""
    state = state_of(request)
    gauges: list[tuple[str, dict[str, str], float]] = []
    seen = [(name, session) for name, session in state.datasets.items() if who.may_see(name)]
    for name, session in seen:
        budget = session.budget
        labels = {"dataset": name, "measure": budget.measure}
        gauges.append(("eke_budget_limit", labels, budget.limit))
        gauges.append(("eke_budget_spent", labels, budget.spent))
    gauges.append(("eke_jobs_waiting", {}, state.jobs.waiting()))
    gauges.sort(key=lambda gauge: gauge[0])
    others = () if state.peers is None else state.peers.counts()
    text = state.metrics.text(gauges, shown=who.may_see, others=others)
    return PlainTextResponse(text, media_type="text/plain; version=0.0.4")
