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
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from eke.service.storage import Storage

JobState: TypeAlias = Literal[
    "queued", "running", "done", "failed", "cancelled", "given_up", "interrupted"
]
STATES: tuple[JobState, ...] = get_args(JobState)
UNFINISHED: tuple[JobState, ...] = ("queued", "running")
LEASE_SECONDS = 15.0
_COLUMNS = (
    "id, dataset, account, request_key, request, state, step, progress, made_at, ended_at, "
    "error, result, owner, alive_at, unwanted"
)
_JOBS = f"SELECT {_COLUMNS} FROM job"  # noqa: S608
_IS_UNFINISHED = "state IN ('queued', 'running')"
_INTERRUPT = f"UPDATE job SET state = 'interrupted', ended_at = ? WHERE {_IS_UNFINISHED}"  # noqa: S608
_MOST_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Job:
    """One piece of background work as it stands."""

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

    def __init__(self, storage: Storage, clock: Callable[[], float] | None = None) -> None:
        self._storage = storage
        self._clock = storage.time if clock is None else clock
        self.owner = secrets.token_hex(8)

    # -- whether somebody works on them --------------------------------------------------------

    def interrupt_left(self) -> int:
        """Say of jobs that a dead server has left that they were interrupted; how many.

        A file has one server, so whatever is unfinished when that starts was left. In a place that
        servers share, what the living work on is not touched.
        """
        if self._storage.shared:
            return self._interrupt_dead()
        return self._write(_INTERRUPT, self._clock())

    def interrupt_own(self) -> int:
        """The same of the jobs of this server, which ends."""
        return self._write(f"{_INTERRUPT} AND owner = ?", self._clock(), self.owner)

    def beat(self, job_ids: Collection[str]) -> None:
        """Say that this server still works on some jobs."""
        if job_ids:
            marks = ", ".join("?" * len(job_ids))
            self._write(
                f"UPDATE job SET alive_at = ? WHERE owner = ? AND {_IS_UNFINISHED} "  # noqa: S608
                f"AND id IN ({marks})",
                *(self._clock(), self.owner, *job_ids),
            )

    def _interrupt_dead(self) -> int:
        now = self._clock()
        return self._write(f"{_INTERRUPT} AND alive_at < ?", now, now - LEASE_SECONDS)

    # -- changing them -------------------------------------------------------------------------

    def add(self, job_id: str, dataset: str, account: str, key: str, request: str) -> bool:
        """Whether there is a new job now, rather than one of this key; old ones make room."""
        now = self._clock()
        added = self._write(
            f"INSERT INTO job ({_COLUMNS}) VALUES "  # noqa: S608
            "(?, ?, ?, ?, ?, 'queued', 'waiting', 0.0, ?, NULL, NULL, NULL, ?, ?, 0) "
            "ON CONFLICT (dataset, account, request_key) DO NOTHING",
            *(job_id, dataset, account, key, request, now, self.owner, now),
        )
        self._write(
            f"DELETE FROM job WHERE NOT {_IS_UNFINISHED} AND id NOT IN "  # noqa: S608
            "(SELECT id FROM job ORDER BY made_at DESC LIMIT ?)",
            _MOST_KEPT,
        )
        return added == 1

    def again(self, job_id: str) -> bool:
        """Whether a job that ended without rows waits once more, and here."""
        changed = self._write(
            "UPDATE job SET state = 'queued', step = 'waiting', progress = 0.0, ended_at = NULL, "
            "error = NULL, result = NULL, unwanted = 0, owner = ?, alive_at = ? "
            "WHERE id = ? AND state IN ('failed', 'cancelled', 'given_up', 'interrupted')",
            *(self.owner, self._clock(), job_id),
        )
        return changed == 1

    def begin(self, job_id: str, step: str) -> bool:
        """Whether a job was still waiting here, and runs now."""
        changed = self._write(
            "UPDATE job SET state = 'running', step = ?, progress = 0.0, alive_at = ? "
            "WHERE id = ? AND owner = ? AND state = 'queued'",
            *(step, self._clock(), job_id, self.owner),
        )
        return changed == 1

    def move(self, job_id: str, step: str, progress: float) -> bool:
        """Note how far a job has come; whether it is still wanted, and ours."""
        changed = self._write(
            "UPDATE job SET state = 'running', step = ?, progress = ?, alive_at = ?, "
            "ended_at = NULL WHERE id = ? AND owner = ? AND unwanted = 0",
            *(step, progress, self._clock(), job_id, self.owner),
        )
        return changed == 1

    def wanted(self, job_id: str) -> bool:
        """Whether a job is still wanted, and ours; nothing is noted."""
        mine = "SELECT 1 FROM job WHERE id = ? AND owner = ? AND unwanted = 0"
        return bool(self._storage.read(mine, job_id, self.owner))

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
        done = 1.0 if state == "done" else None
        self._write(
            "UPDATE job SET state = ?, step = ?, progress = coalesce(?, progress), ended_at = ?, "
            "error = ?, result = ? WHERE id = ? AND owner = ?",
            *(state, state, done, self._clock(), told, result, job_id, self.owner),
        )

    def stopped(self, job_id: str, state: JobState) -> None:
        """Note that an unwanted job was stopped, unless it is wanted again by now."""
        self._write(
            "UPDATE job SET state = ?, step = ?, ended_at = coalesce(ended_at, ?) "
            "WHERE id = ? AND owner = ? AND unwanted = 1",
            *(state, state, self._clock(), job_id, self.owner),
        )

    def stop_waiting(self, job_id: str, state: JobState) -> bool:
        """Whether the job was still waiting, wherever that was, and now has ended in this state."""
        return self._unwanted(job_id, state, "queued")

    def give_up(self, job_id: str) -> bool:
        """Whether the job was running, and is given up: it goes no further than its next step."""
        return self._unwanted(job_id, "given_up", "running")

    def ask_back(self, job_id: str) -> bool:
        """Whether the job is running, and will go no further than its next step."""
        changed = self._write(
            "UPDATE job SET unwanted = 1 WHERE id = ? AND state = 'running'", job_id
        )
        return changed == 1

    def _unwanted(self, job_id: str, state: JobState, before: JobState) -> bool:
        changed = self._write(
            "UPDATE job SET state = ?, step = ?, unwanted = 1, ended_at = ? "
            "WHERE id = ? AND state = ?",
            *(state, state, self._clock(), job_id, before),
        )
        return changed == 1

    # -- reading them --------------------------------------------------------------------------

    def get(self, job_id: str) -> Job | None:
        return next(iter(self._read(f"{_JOBS} WHERE id = ?", job_id)), None)

    def find(self, dataset: str, account: str, key: str) -> Job | None:
        """The job of a key."""
        found = self._read(
            f"{_JOBS} WHERE dataset = ? AND account = ? AND request_key = ?",
            *(dataset, account, key),
        )
        return next(iter(found), None)

    def of(self, dataset: str, account: str | None = None, most: int = 50) -> list[Job]:
        """The newest jobs of a dataset, of one account or of all."""
        return self._read(
            f"{_JOBS} WHERE dataset = ? AND account = coalesce(?, account) "
            "ORDER BY made_at DESC, id LIMIT ?",
            *(dataset, account, most),
        )

    def unfinished(self) -> list[Job]:
        """What waits or runs, here or elsewhere, oldest first."""
        return self._read(f"{_JOBS} WHERE {_IS_UNFINISHED} ORDER BY made_at, id")

    def close(self) -> None:
        self._storage.close()

    # -- inside --------------------------------------------------------------------------------

    def _write(self, statement: str, *values: object) -> int:
        """How many rows a statement changed."""
        with self._storage.writing() as run:
            return run(statement, *values)

    def _read(self, statement: str, *values: object) -> list[Job]:
        """What is found, after jobs of the dead were told from those of the living."""
        found = [_job(row) for row in self._storage.read(statement, *values)]
        beats = [job.alive_at for job in found if job.state in UNFINISHED]
        if beats and min(beats) < self._clock() - LEASE_SECONDS:
            self._interrupt_dead()
            found = [_job(row) for row in self._storage.read(statement, *values)]
        return found


def _job(row: tuple[Any, ...]) -> Job:
    number, dataset, account, key, request, state, *rest = row
    step, progress, made_at, ended_at, error, result, owner, alive_at, unwanted = rest
    return Job(
        *(number, dataset, account, key, json.loads(request), state),
        *(step, progress, made_at, ended_at),
        error=None if error is None else json.loads(error),
        result=result,
        owner=owner,
        alive_at=alive_at,
        unwanted=bool(unwanted),
    )
