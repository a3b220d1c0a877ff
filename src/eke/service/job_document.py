"""Jobs as documents. The fields are in docs/reference/http.md."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from eke.service.job_store import Job
from eke.session import Session


def job_document(job: Job, session: Session) -> dict[str, Any]:
    """A job as it stands; whether it is paid for is read from the ledger."""
    paid = session.archive.find(job.account, job.key)
    return {
        "id": job.id,
        "dataset": job.dataset,
        "account": job.account,
        "key": job.key,
        "request": dict(job.request),
        "state": job.state,
        "step": job.step,
        "progress": job.progress,
        "charged": paid is not None,
        "publication": job.result,
        "error": None if job.error is None else dict(job.error),
        "advice": _STOPPING if job.unwanted and job.state == "running" else _ADVICE.get(job.state),
        "made_at": _time(job.made_at),
        "ended_at": _time(job.ended_at),
    }


_STOPPING = "it stops at its next step; what is charged by then stays charged"
_ADVICE = {
    "given_up": "it was given up after it was paid for, and the charge stays; send the same "
    "request with the same Idempotency-Key to get its rows without a second charge",
    "interrupted": "the server stopped before the rows were stored; send the same request with the "
    "same Idempotency-Key: what is charged already is not charged again",
    "failed": "nothing was published; send the same request with the same Idempotency-Key when the "
    "reason is gone",
}


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
