"""Stored jobs: what is known of background work, beside the accounts, so that it outlives us.

A job is found by its id, or by the key of whoever asked for it. What was charged is in the ledger,
under the same key, and nowhere else.

Several servers may keep their jobs in one place. Each job has an owner, the server that works on
it, and a lease: the owner says again and again that it lives. When it has not said so for
`LEASE_SECONDS`, the job counts as interrupted, and any server may take it over. An owner that was
only slow goes on with it, unless somebody has taken it over; the ledger sees to it that even then
nothing is charged or released twice. All leases go by the clock of the place.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias, get_args

from eke.service.storage import Change, Condition, Query, Row, Storage, coalesce

JobState: TypeAlias = Literal[
    "queued", "running", "done", "failed", "cancelled", "given_up", "interrupted"
]
STATES: tuple[JobState, ...] = get_args(JobState)
UNFINISHED: tuple[JobState, ...] = ("queued", "running")
LEASE_SECONDS = 15.0
_MOST_KEPT = 10_000
_WAITING = {
    "state": "queued",
    "step": "waiting",
    "progress": 0.0,
    "ended_at": None,
    "error": None,
    "result": None,
    "unwanted": 0,
}


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of background work as it stands; its fields are those of its table, in order."""

    id: str
    dataset: str
    account: str
    key: str
    request: Mapping[str, Any]
    state: JobState
    step: str
    progress: float
    made_at: float
    ended_at: float | None = None
    error: Mapping[str, Any] | None = None
    result: int | None = None
    owner: str = ""
    alive_at: float = 0.0
    unwanted: bool = False  # taken back or given up: it goes no further than its next step


class JobStore:
    """Jobs of one server, in a place that others may use as well; threads may share it."""

    def __init__(
        self,
        storage: Storage,
        clock: Callable[[], float] | None = None,
        server: str | None = None,
    ) -> None:
        """A worker of a server that has several gives the name of the `server`."""
        self._storage = storage
        self._clock = storage.time if clock is None else clock
        self._table = storage.tables.job
        self._job = self._table.c
        self._server = server
        self.owner = f"{server or ''}{secrets.token_hex(8)}"

    # -- whether somebody works on them --------------------------------------------------------

    def interrupt_left(self) -> int:
        """Say of jobs that a dead server has left that they were interrupted; how many.

        A file has one server, so whatever is unfinished when that starts was left. In a place that
        servers share, and by a worker, what the living work on is not touched.
        """
        if self._storage.shared or self._server is not None:
            return self._interrupt_dead()
        return self._interrupt(self._clock())

    def is_here(self, job: Job) -> bool:
        """Whether a job is one of this server, whichever worker has it."""
        return job.owner == self.owner or bool(self._server and job.owner.startswith(self._server))

    def interrupt_own(self) -> int:
        """The same of the jobs of this server, which ends."""
        return self._interrupt(self._clock(), self._job.owner == self.owner)

    def beat(self, job_ids: Collection[str]) -> None:
        """Say that this server still works on some jobs."""
        if job_ids:
            mine = (self._job.owner == self.owner, self._job.id.in_(job_ids))
            self._change(*mine, self._job.state.in_(UNFINISHED), alive_at=self._clock())

    def _interrupt_dead(self) -> int:
        now = self._clock()
        return self._interrupt(now, self._job.alive_at < now - LEASE_SECONDS)

    def _interrupt(self, now: float, *which: Condition) -> int:
        unfinished = self._job.state.in_(UNFINISHED)
        return self._change(unfinished, *which, state="interrupted", ended_at=now)

    # -- changing them -------------------------------------------------------------------------

    def add(self, job_id: str, dataset: str, account: str, key: str, request: str) -> bool:
        """Whether there is a new job now, rather than one of this key; old ones make room."""
        now = self._clock()
        row = {"id": job_id, "dataset": dataset, "account": account, "request_key": key}
        here = {"request": request, "made_at": now, "owner": self.owner, "alive_at": now}
        new = self._storage.insert(self._table).values({**row, **here, **_WAITING})
        unique = ("dataset", "account", "request_key")
        added = self._write(new.on_conflict_do_nothing(index_elements=unique))
        newest = self._table.select().with_only_columns(self._job.id)
        newest = newest.order_by(self._job.made_at.desc()).limit(_MOST_KEPT)
        over = self._job.state.not_in(UNFINISHED)
        self._write(self._table.delete().where(over, self._job.id.not_in(newest)))
        return added == 1

    def again(self, job_id: str) -> bool:
        """Whether a job that ended without rows waits once more, and here."""
        ended = self._job.state.in_(("failed", "cancelled", "given_up", "interrupted"))
        fresh = {**_WAITING, "owner": self.owner, "alive_at": self._clock()}
        return self._change(self._job.id == job_id, ended, **fresh) == 1

    def begin(self, job_id: str, step: str) -> bool:
        """Whether a job was still waiting here, and runs now."""
        now = {"state": "running", "step": step, "progress": 0.0, "alive_at": self._clock()}
        return self._change(*self._mine(job_id), self._job.state == "queued", **now) == 1

    def move(self, job_id: str, step: str, progress: float) -> bool:
        """Note how far a job has come; whether it is still wanted, and ours."""
        now = {"state": "running", "step": step, "progress": progress, "alive_at": self._clock()}
        wanted = self._job.unwanted == 0
        return self._change(*self._mine(job_id), wanted, **now, ended_at=None) == 1

    def wanted(self, job_id: str) -> bool:
        """Whether a job is still wanted, and ours; nothing is noted."""
        wanted = self._table.select().with_only_columns(self._job.id)
        mine = wanted.where(*self._mine(job_id), self._job.unwanted == 0)
        return bool(self._storage.read(mine))

    def end(
        self,
        job_id: str,
        state: JobState,
        *,
        error: Mapping[str, Any] | None = None,
        result: int | None = None,
    ) -> None:
        """Note how a job ended, unless another server has taken it over."""
        told = None if error is None else json.dumps(dict(error))
        now = {"state": state, "step": state, "ended_at": self._clock(), "error": told}
        done = {"progress": 1.0} if state == "done" else {}
        self._change(*self._mine(job_id), **now, **done, result=result)

    def stopped(self, job_id: str, state: JobState) -> None:
        """Note that an unwanted job was stopped, unless it is wanted again by now."""
        ended = coalesce(self._job.ended_at, self._clock())
        unwanted = self._job.unwanted == 1
        self._change(*self._mine(job_id), unwanted, state=state, step=state, ended_at=ended)

    def stop_waiting(self, job_id: str, state: JobState) -> bool:
        """Whether the job was still waiting, wherever that was, and now has ended in this state."""
        return self._unwanted(job_id, state, "queued")

    def give_up(self, job_id: str) -> bool:
        """Whether the job was running, and is given up: it goes no further than its next step."""
        return self._unwanted(job_id, "given_up", "running")

    def ask_back(self, job_id: str) -> bool:
        """Whether the job is running, and will go no further than its next step."""
        running = self._job.state == "running"
        return self._change(self._job.id == job_id, running, unwanted=1) == 1

    def _unwanted(self, job_id: str, state: JobState, before: JobState) -> bool:
        which = (self._job.id == job_id, self._job.state == before)
        now = {"state": state, "step": state, "ended_at": self._clock()}
        return self._change(*which, **now, unwanted=1) == 1

    # -- reading them --------------------------------------------------------------------------

    def get(self, job_id: str) -> Job | None:
        return next(iter(self._read(self._table.select().where(self._job.id == job_id))), None)

    def find(self, dataset: str, account: str, key: str) -> Job | None:
        """The job of a key."""
        asked = {"dataset": dataset, "account": account, "request_key": key}
        return next(iter(self._read(self._table.select().filter_by(**asked))), None)

    def of(self, dataset: str, account: str | None = None, most: int = 50) -> list[Job]:
        """The newest jobs of a dataset, of one account or of all."""
        statement = self._table.select().where(self._job.dataset == dataset)
        if account is not None:
            statement = statement.where(self._job.account == account)
        return self._read(statement.order_by(self._job.made_at.desc(), self._job.id).limit(most))

    def unfinished(self) -> list[Job]:
        """What waits or runs, here or elsewhere, oldest first."""
        statement = self._table.select().where(self._job.state.in_(UNFINISHED))
        return self._read(statement.order_by(self._job.made_at, self._job.id))

    def close(self) -> None:
        self._storage.close()

    # -- inside --------------------------------------------------------------------------------

    def _mine(self, job_id: str) -> tuple[Condition, Condition]:
        return self._job.id == job_id, self._job.owner == self.owner

    def _change(self, *which: Condition, **values: object) -> int:
        """How many jobs had new values put in."""
        return self._write(self._table.update().where(*which).values(**values))

    def _write(self, statement: Change) -> int:
        """How many rows a statement changed."""
        with self._storage.writing() as run:
            return run(statement)

    def _read(self, statement: Query) -> list[Job]:
        """What is found, after jobs of the dead were told from those of the living."""
        jobs = [_job(row) for row in self._storage.read(statement)]
        beats = [job.alive_at for job in jobs if job.state in UNFINISHED]
        if beats and min(beats) < self._clock() - LEASE_SECONDS:
            self._interrupt_dead()
            jobs = [_job(row) for row in self._storage.read(statement)]
        return jobs


def _job(row: Row) -> Job:
    request, error = json.loads(row.request), None if row.error is None else json.loads(row.error)
    return replace(Job(*row), request=request, error=error, unwanted=bool(row.unwanted))
