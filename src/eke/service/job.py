"""Jobs: publications made in the background, one at a time, each on a session of its own.

    queued → running → done | failed | cancelled | given_up     when its server dies: interrupted

A job that is taken back stops at its next step: it is cancelled when nothing was charged yet, and
given up when something was. The charge stays then, and the same key finishes the job: what was
drawn for it is in the ledger and is not drawn again. Accounts are served in turns (`job_turn.py`).

A job is bound to an idempotency key. Whatever happens to it, sending the same request with the same
key goes on where the ledger stands: nothing is charged twice and nothing is made twice.

Servers that share their accounts share their jobs: each works on its own, and any of them tells how
far a job has come or takes it back (`job_store.py` says how they know of each other's death).
"""

from __future__ import annotations

import json
import logging
import secrets
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from eke.errors import BudgetExceeded, EkeError, KeyConflict
from eke.service.dataset import Datasets
from eke.service.failure import INTERNAL, Problem, error_document
from eke.service.job_sight import JobSight
from eke.service.job_store import LEASE_SECONDS, UNFINISHED, Job, JobState, JobStore
from eke.service.job_turn import JobTurns
from eke.service.log import log
from eke.service.metric import Metrics
from eke.service.pace import Pace
from eke.service.storage import StorageUnavailable
from eke.session.publish.published import CHECKING, PAYING

MOST_ROWS = 1_000_000
"""Of one publication: what a noisy total says above it is cut, anything else is refused."""
MOST_WAITING = 20
MOST_OF_ONE_ACCOUNT = 3
_PATIENCE = 8.0  # seconds that a stopping server gives the job under way
_T = TypeVar("_T")
_BEAT_SECONDS = LEASE_SECONDS / 5.0


class _Stopped(BaseException):
    """The job was taken back or given up, or another server has taken it over.

    No `Exception`: whoever stores what fails after a draw, to replay it, must not take this for a
    failure. The job is left as a process that died would leave it, and the key goes on from there.
    """


class Jobs:
    """The background work of one server."""

    def __init__(
        self, datasets: Datasets, store: JobStore, metrics: Metrics, pace: Pace | None = None
    ) -> None:
        """`pace` says when others may see how far a job has come."""
        self._datasets, self._store, self._metrics = datasets, store, metrics
        self._pace = Pace(0.0) if pace is None else pace
        self._lock = threading.Lock()
        self._waiting = JobTurns()
        self._worker: threading.Thread | None = None
        self._lease: threading.Thread | None = None
        self._running: str | None = None
        self._stopping = threading.Event()
        left = store.interrupt_left()
        if left:
            log("jobs interrupted", number=left)

    # -- asking for work -----------------------------------------------------------------------

    def submit(self, dataset: str, account: str, request: dict[str, Any], key: str | None) -> Job:
        """The job for a request: a new one, or that of its key.

        One that ended without rows is put in the queue again; the ledger knows how far it came.
        """
        text = json.dumps(request, sort_keys=True)
        number = secrets.token_hex(8)
        key = key or f"job-{number}"
        with self._lock:
            job = self._store.find(dataset, account, key)
            if job is None:
                self._check_room(account)
                ours = self._store.add(number, dataset, account, key, text)
                # If another server was faster, the job is what that has made of the key.
                job = self._store.find(dataset, account, key) or _gone()
                _require_same(job, text)
            else:
                _require_same(job, text)
                if job.state in (*UNFINISHED, "done"):
                    return job
                self._check_room(account)
                ours = self._store.again(job.id)
                job = self._store.get(job.id) or _gone()
            if not ours:
                return job
            self._waiting.put(account, job.id)
            self._start()
        log("job queued", job=job.id, dataset=dataset, account=account)
        return job

    def cancel(self, job: Job, *, paid: bool) -> Job:
        """Take a job back; one that is paid for is given up, and its charge stays.

        The worker stops at the next step it tells of, and is free for the next job.
        """
        state: JobState = "given_up" if paid else "cancelled"
        if self._store.stop_waiting(job.id, state):
            log(f"job {state}", job=job.id)
        # Not paid for, as far as we saw: the worker finds out what it is when it stops.
        elif not (self._store.give_up(job.id) if paid else self._store.ask_back(job.id)):
            raise Problem(409, "TooLate", "this job is over")
        return self._store.get(job.id) or job

    def get(self, job_id: str) -> Job | None:
        return self._store.get(job_id)

    def of(self, dataset: str, account: str | None) -> list[Job]:
        return self._store.of(dataset, account)

    def waiting(self) -> int:
        """How many wait or run here."""
        return sum(map(self._store.is_here, self._store.unfinished()))

    def stop(self) -> None:
        """Let the job under way finish if it is nearly there; the rest is interrupted."""
        with self._lock:
            self._stopping.set()
            worker, lease = self._worker, self._lease
        if worker is not None and lease is not None:
            self._waiting.close()
            lease.join()  # what it said last holds for longer than our patience
            worker.join(_PATIENCE)
        try:
            self._store.interrupt_own()
        except StorageUnavailable as problem:  # then others notice when the lease has run out
            log("jobs not reachable", level=logging.ERROR, reason=str(problem))

    def _check_room(self, account: str) -> None:
        waiting = self._store.unfinished()
        here = sum(map(self._store.is_here, waiting))
        of_account = sum(one.account == account for one in waiting)
        if self._stopping.is_set() or here >= MOST_WAITING or of_account >= MOST_OF_ONE_ACCOUNT:
            raise Problem(
                429,
                "TooManyJobs",
                f"an account may have {MOST_OF_ONE_ACCOUNT} jobs at a time, a server "
                f"{MOST_WAITING}; wait until one has ended",
                retry_after=30,
            )

    # -- working -------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._worker is None or not self._worker.is_alive():
            self._worker = threading.Thread(target=self._work, name="eke-jobs", daemon=True)
            self._worker.start()
            self._lease = threading.Thread(
                target=self._beat, args=(self._worker,), name="eke-jobs-lease", daemon=True
            )
            self._lease.start()

    def _beat(self, worker: threading.Thread) -> None:
        """Renew the lease of what waits or runs, while the worker lives and nobody stops it."""
        while not self._stopping.wait(_BEAT_SECONDS) and worker.is_alive():
            running = self._running
            at_work = {*self._waiting.waiting(), *(() if running is None else (running,))}
            try:
                self._store.beat(at_work)
            except StorageUnavailable as problem:
                log("jobs not reachable", level=logging.ERROR, reason=str(problem))

    def _work(self) -> None:
        while (job_id := self._waiting.take()) is not None:
            self._running = job_id
            try:
                job = None if self._stopping.is_set() else self._begun(job_id)
                if job is not None:
                    self._finish(job)
            finally:
                self._running = None

    def _begun(self, job_id: str) -> Job | None:
        """The job, which runs now; None when it is not to be worked on."""
        if not self._patiently(partial(self._store.begin, job_id, CHECKING)):
            return None
        return self._patiently(partial(self._store.get, job_id))

    def _patiently(self, action: Callable[[], _T]) -> _T | None:
        """What the action gives as soon as the store can be reached; None if we stop before."""
        while True:
            try:
                return action()
            except StorageUnavailable as problem:
                log("jobs not reachable", level=logging.ERROR, reason=str(problem))
            if self._stopping.wait(_BEAT_SECONDS):
                return None

    def _finish(self, job: Job) -> None:
        with JobSight(partial(self._note, job.id), self._pace) as sight:
            outcome, note_end = self._outcome(job, sight)
        sight.wait()  # others see at a multiple that it is over
        self._patiently(note_end)
        self._metrics.count(
            "eke_jobs_total",
            dataset=job.dataset,
            mechanism=str(job.request["mechanism"]),
            outcome=outcome,
        )
        log("job ended", job=job.id, dataset=job.dataset, account=job.account, outcome=outcome)

    def _outcome(self, job: Job, sight: JobSight) -> tuple[str, Callable[[], None]]:
        """How a job ends, and what notes it; if that cannot be noted, the key finds the rest."""
        fail = partial(self._store.end, job.id, "failed")
        try:
            result = self._publish(job, sight)
        except _Stopped:
            paid = self._datasets.twin(job.dataset).archive.find(job.account, job.key) is not None
            state: JobState = "given_up" if paid else "cancelled"
            return state, partial(self._store.stopped, job.id, state)
        except Problem as problem:
            return "failed", partial(fail, error=problem.document)
        except BudgetExceeded as problem:
            return "refused", partial(fail, error=error_document(problem))
        except EkeError as problem:
            return "failed", partial(fail, error=error_document(problem))
        except Exception:  # noqa: BLE001 - the worker must outlive whatever a job does
            log("unexpected", level=logging.ERROR, problem=True)
            return "failed", partial(fail, error=INTERNAL)
        return "done", partial(self._store.end, job.id, "done", result=result)

    def _publish(self, job: Job, sight: JobSight) -> int:
        """The entry of the ledger that holds the publication."""
        session = self._datasets.twin(job.dataset)
        request = job.request
        session.publish(
            request["mechanism"],
            epsilon=request["epsilon"],
            rho=request["rho"],
            key=job.key,
            analyst=job.account,
            progress=self._teller(job.id, sight),
            most_rows=MOST_ROWS,
            **request["options"],
        )
        paid = session.archive.find(job.account, job.key)
        if paid is None or paid == "charged":
            raise LookupError("the ledger does not hold what was published")
        return paid

    def _teller(self, job_id: str, sight: JobSight) -> Callable[[str, float], None]:
        def tell(step: str, share: float) -> None:
            if step in (CHECKING, PAYING):  # nothing of this attempt has touched data
                if not self._store.move(job_id, step, share):
                    raise _Stopped
                return
            sight.show(step, share)
            try:
                wanted = self._store.wanted(job_id)
            except StorageUnavailable:
                return  # what is paid for goes on, whoever hears of it
            if not wanted:
                raise _Stopped

        return tell

    def _note(self, job_id: str, step: str, share: float) -> None:
        try:
            self._store.move(job_id, step, share)
        except StorageUnavailable as problem:
            log("jobs not reachable", level=logging.ERROR, reason=str(problem))


def _require_same(job: Job, text: str) -> None:
    if json.dumps(dict(job.request), sort_keys=True) != text:
        raise KeyConflict(
            "this key was used before for another request; repeat that request unchanged, or "
            "choose a new key"
        )


def _gone() -> Job:
    raise LookupError("the job was removed meanwhile")
