"""Releases and publications of the ledger, as much of them as somebody may see."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from fastapi import Request

from eke.codec.release import record_document
from eke.errors import QueryError
from eke.service.account import Account
from eke.service.failure import Problem
from eke.service.permission import own_only
from eke.session import Record, Session


def listed(
    records: Sequence[Record],
    request: Request,
    session: Session,
    who: Account,
    *,
    after: int,
    most: int,
) -> tuple[list[dict[str, Any]], int | None]:
    """A page of records, and where the next begins; the caller's own where the server says so."""
    seen = [one for one in records if _may_see(request, who, one) and one.sequence > after]
    following = seen[most - 1].sequence if len(seen) > most else None
    return [record_document(one, session.budget.measure) for one in seen[:most]], following


def seen_record(
    kind: Literal["release", "publish"],
    sequence: int,
    request: Request,
    session: Session,
    who: Account,
) -> Record:
    """The record of an entry; 404 when there is none or it is not the caller's to see."""
    try:
        record = session.archive.record(kind, sequence)
    except QueryError as problem:
        raise Problem(404, "NotFound", str(problem)) from None
    if not _may_see(request, who, record):
        raise Problem(404, "NotFound", f"entry {sequence} is not yours to see")
    return record


def _may_see(request: Request, who: Account, record: Record) -> bool:
    return not own_only(request, who) or record.analyst == who.name
