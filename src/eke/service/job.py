"""Jobs: publications made in the background, one at a time, each on a session of its own.

    queued → running → done | failed | cancelled          after a restart: interrupted

A job is bound to an idempotency key. Whatever happens to it, sending the same request with the same
key goes on where the ledger stands: nothing is charged twice and nothing is made twice.
"""

from __future__ import annotations

import json
import queue
import secrets
import threading
from collections.abc import Callable
from typing import Any

from eke.errors import BudgetExceeded, EkeError, KeyConflict
from eke.service.dataset import Datasets
from eke.service.failure import INTERNAL, Problem, error_document
from eke.service.job_store import UNFINISHED, Job, JobStore
from eke.service.log import log
from eke.service.metric import Metrics
from eke.session.publish import CHECKING, PAYING

MOST_WAITING = 20
MOST_OF_ONE_ACCOUNT = 3
_PATIENCE = 8.0  # seconds that a stopping server gives the job under way


class _Cancelled(Exception):
    """Somebody took the job back before it was paid for."""


class Jobs:
    """The background work of one server."""

    def __init__(self, datasets: Datasets, store: JobStore, metrics: Metrics) -> None:
        self._datasets, self._store, self._metrics = datasets, store, metrics
        self._lock = threading.Lock()
        self._waiting: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None
        self._cancelled: set[str] = set()
        self._stopping = False
        left = store.interrupt_unfinished()
        if left:
            log("jobs interrupted", number=left)

    # -- asking for work -----------------------------------------------------------------------

    def submit(self, dataset: str, account: str, request: dict[str, Any], key: str | None) -> Job:
        """The job for a request: a new one, or that of its key.

        One that ended without rows is put in the queue again; the ledger knows how far it came.
        """
        text = json.dumps(request, sort_keys=True)
        with self._lock:
            known = None if key is None else self._store.find(dataset, account, key)
            if known is not None and json.dumps(dict(known.request), sort_keys=True) != text:
                raise KeyConflict(
                    "this key was used before for another request; repeat that request unchanged, "
                    "or choose a new key"
                )
            if known is not None and known.state in (*UNFINISHED, "done"):
                return known
            self._check_room(account)
            if known is not None:
                job = self._store.again(known.id)
            else:
                number = secrets.token_hex(8)
                job = self._store.add(number, dataset, account, key or f"job-{number}", text)
            self._cancelled.discard(job.id)
            self._waiting.put(job.id)
            self._start()
        log("job queued", job=job.id, dataset=dataset, account=account)
        return job

    def cancel(self, job: Job) -> Job:
        """Take a job back, if it is not paid for yet."""
        with self._lock:
            if self._store.cancel_waiting(job.id):
                log("job cancelled", job=job.id)
            elif job.state == "running" and job.step == CHECKING:
                self._cancelled.add(job.id)
            else:
                raise Problem(
                    409,
                    "TooLate",
                    "this job is over"
                    if job.state not in UNFINISHED
                    else "this job is being paid for, and what is paid for is finished",
                )
        return self._store.get(job.id) or job

    def get(self, job_id: str) -> Job | None:
        return self._store.get(job_id)

    def of(self, dataset: str, account: str | None) -> list[Job]:
        return self._store.of(dataset, account)

    def waiting(self) -> int:
        """How many wait or run."""
        return len(self._store.unfinished())

    def stop(self) -> None:
        """Let the job under way finish if it is nearly there; the rest is interrupted."""
        with self._lock:
            self._stopping = True
            worker = self._worker
        if worker is not None:
            self._waiting.put(None)
            worker.join(_PATIENCE)
        self._store.interrupt_unfinished()

    def _check_room(self, account: str) -> None:
        waiting = self._store.unfinished()
        own = sum(one.account == account for one in waiting)
        if self._stopping or len(waiting) >= MOST_WAITING or own >= MOST_OF_ONE_ACCOUNT:
            raise Problem(
                429,
                "TooManyJobs",
                f"an account may have {MOST_OF_ONE_ACCOUNT} jobs at a time, a server "
                f"{MOST_WAITING}; wait until one has ended",
                retry_after=30,
            )

    # -- working -------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._worker is None:
            self._worker = threading.Thread(target=self._work, name="eke-jobs", daemon=True)
            self._worker.start()

    def _work(self) -> None:
        while (job_id := self._waiting.get()) is not None:
            with self._lock:
                job = self._store.get(job_id)
                if self._stopping or job is None or job.state != "queued":
                    continue
                self._store.move(job_id, CHECKING, 0.0)
            self._finish(job)

    def _finish(self, job: Job) -> None:
        state = "failed"
        try:
            result = self._publish(job)
        except _Cancelled:
            state = "cancelled"
            self._store.end(job.id, "cancelled")
        except BudgetExceeded as problem:
            state = "refused"
            self._store.end(job.id, "failed", error=error_document(problem))
        except EkeError as problem:
            self._store.end(job.id, "failed", error=error_document(problem))
        except Exception:  # noqa: BLE001 - the worker must outlive whatever a job does
            log("unexpected", level=40, problem=True)
            self._store.end(job.id, "failed", error=INTERNAL)
        else:
            state = "done"
            self._store.end(job.id, "done", result=result)
        self._metrics.count(
            "eke_jobs_total",
            dataset=job.dataset,
            mechanism=str(job.request["mechanism"]),
            outcome=state,
        )
        log("job ended", job=job.id, dataset=job.dataset, account=job.account, outcome=state)

    def _publish(self, job: Job) -> int:
        """The entry of the ledger that holds the publication."""
        session = self._datasets.twin(job.dataset)
        request = job.request
        session.publish(
            request["mechanism"],
            epsilon=request["epsilon"],
            rho=request["rho"],
            key=job.key,
            analyst=job.account,
            progress=self._teller(job.id),
            **request["options"],
        )
        found = session.archive.find(job.account, job.key)
        if found is None or found == "charged":
            raise LookupError("the ledger does not hold what was published")
        return found

    def _teller(self, job_id: str) -> Callable[[str, float], None]:
        def tell(step: str, share: float) -> None:
            with self._lock:
                if step in (CHECKING, PAYING) and job_id in self._cancelled:
                    raise _Cancelled
                self._store.move(job_id, step, share)

        return tell
