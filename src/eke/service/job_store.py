"""Stored jobs: what is known of background work, in the file of accounts, so that it outlives us.

A job is found by its id, or by the key of whoever asked for it. What was charged is in the ledger,
under the same key, and nowhere else.
"""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

JobState: TypeAlias = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
STATES: tuple[JobState, ...] = get_args(JobState)
UNFINISHED: tuple[JobState, ...] = ("queued", "running")
_TABLE = """
CREATE TABLE IF NOT EXISTS job (
    id TEXT PRIMARY KEY, dataset TEXT NOT NULL, account TEXT NOT NULL, request_key TEXT NOT NULL,
    request TEXT NOT NULL, state TEXT NOT NULL, step TEXT NOT NULL, progress REAL NOT NULL,
    made_at REAL NOT NULL, ended_at REAL, error TEXT, result INTEGER,
    UNIQUE (dataset, account, request_key)
) STRICT;
"""
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


class JobStore:
    """Jobs in a SQLite file; threads may share it."""

    def __init__(self, path: Path | None, clock: Callable[[], float] = time.time) -> None:
        """Without a path the jobs last as long as the object."""
        self._lock = threading.Lock()
        self._clock = clock
        self._connection = sqlite3.connect(
            ":memory:" if path is None else path, check_same_thread=False, isolation_level=None
        )
        self._connection.execute("PRAGMA busy_timeout = 5000")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.executescript(_TABLE)

    def interrupt_unfinished(self) -> int:
        """Say of jobs that nobody works on any more that they were interrupted; how many."""
        return self._write(
            "UPDATE job SET state = 'interrupted', ended_at = ? "
            "WHERE state IN ('queued', 'running')",
            self._clock(),
        )

    def add(self, job_id: str, dataset: str, account: str, key: str, request: str) -> Job:
        """A new job; the oldest finished ones make room."""
        self._write(
            "INSERT INTO job VALUES (?, ?, ?, ?, ?, 'queued', 'waiting', 0.0, ?, NULL, NULL, NULL)",
            *(job_id, dataset, account, key, request, self._clock()),
        )
        self._write(
            "DELETE FROM job WHERE state NOT IN ('queued', 'running') AND id NOT IN "
            "(SELECT id FROM job ORDER BY made_at DESC LIMIT ?)",
            _MOST_KEPT,
        )
        return self.get(job_id) or _gone()

    def again(self, job_id: str) -> Job:
        """A job that ended, waiting once more."""
        self._write(
            "UPDATE job SET state = 'queued', step = 'waiting', progress = 0.0, ended_at = NULL, "
            "error = NULL, result = NULL WHERE id = ?",
            job_id,
        )
        return self.get(job_id) or _gone()

    def move(self, job_id: str, step: str, progress: float) -> None:
        """Note how far a job has come."""
        self._write(
            "UPDATE job SET state = 'running', step = ?, progress = ? WHERE id = ?",
            *(step, progress, job_id),
        )

    def end(
        self,
        job_id: str,
        state: JobState,
        *,
        error: Mapping[str, Any] | None = None,
        result: int | None = None,
    ) -> None:
        """Note how a job ended."""
        told = None if error is None else json.dumps(dict(error))
        done = 1.0 if state == "done" else None
        self._write(
            "UPDATE job SET state = ?, step = ?, progress = coalesce(?, progress), ended_at = ?, "
            "error = ?, result = ? WHERE id = ?",
            *(state, state, done, self._clock(), told, result, job_id),
        )

    def cancel_waiting(self, job_id: str) -> bool:
        """Whether the job was still waiting, and now is cancelled."""
        changed = self._write(
            "UPDATE job SET state = 'cancelled', step = 'cancelled', ended_at = ? "
            "WHERE id = ? AND state = 'queued'",
            *(self._clock(), job_id),
        )
        return changed == 1

    def get(self, job_id: str) -> Job | None:
        return next(iter(self._read("SELECT * FROM job WHERE id = ?", job_id)), None)

    def find(self, dataset: str, account: str, key: str) -> Job | None:
        """The job of a key."""
        found = self._read(
            "SELECT * FROM job WHERE dataset = ? AND account = ? AND request_key = ?",
            *(dataset, account, key),
        )
        return next(iter(found), None)

    def of(self, dataset: str, account: str | None = None, most: int = 50) -> list[Job]:
        """The newest jobs of a dataset, of one account or of all."""
        return self._read(
            "SELECT * FROM job WHERE dataset = ? AND (? IS NULL OR account = ?) "
            "ORDER BY made_at DESC, id LIMIT ?",
            *(dataset, account, account, most),
        )

    def unfinished(self) -> list[Job]:
        """What waits or runs, oldest first."""
        return self._read(
            "SELECT * FROM job WHERE state IN ('queued', 'running') ORDER BY made_at, id"
        )

    def close(self) -> None:
        with self._lock:
            self._connection.close()

    def _write(self, statement: str, *values: object) -> int:
        """How many rows a statement changed."""
        with self._lock:
            return self._connection.execute(statement, values).rowcount

    def _read(self, statement: str, *values: object) -> list[Job]:
        with self._lock:
            rows = self._connection.execute(statement, values).fetchall()
        return [_job(row) for row in rows]


def _job(row: tuple[Any, ...]) -> Job:
    number, dataset, account, key, request, state, *rest, error, result = row
    told = None if error is None else json.loads(error)
    step, progress, made_at, ended_at = rest
    return Job(
        *(number, dataset, account, key, json.loads(request), state),
        *(step, progress, made_at, ended_at),
        error=told,
        result=result,
    )


def _gone() -> Job:
    raise LookupError("the job was removed meanwhile")
