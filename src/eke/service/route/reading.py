"""What can be looked at for free: datasets, schema, budget, history and ledger."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request

from eke.codec.plain import finite
from eke.domain import domain_to_document
from eke.errors import QueryError
from eke.service.document import attribute_document, budget_document, timeline_document
from eke.service.failure import Problem
from eke.service.permission import (
    AUDITING,
    EVERYONE,
    Dataset,
    DatasetName,
    Who,
    own_only,
    roles,
)
from eke.service.state import state_of
from eke.session import Session

router = APIRouter(prefix="/api/v1/datasets", tags=["reading"])
After = Annotated[int, Query(ge=0, le=2**53, description="Only entries after this number.")]
Most = Annotated[int, Query(alias="limit", ge=1, le=5000)]
Sequence = Annotated[int, Path(ge=1, le=2**53)]


@router.get("", **roles(*EVERYONE))
def datasets(request: Request, who: Who) -> dict[str, Any]:
    """The datasets that the caller may see, with their budgets."""
    seen = [(n, s) for n, s in state_of(request).datasets.items() if who.may_see(n)]
    return {"datasets": [_summary(name, session) for name, session in seen]}


@router.get("/{name}", **roles(*EVERYONE))
def dataset(name: DatasetName, session: Dataset) -> dict[str, Any]:
    """One dataset: its size, its privacy model and its budget."""
    public = ("neighbours", "unit", "policy", "public_rows", "made_by")
    return {**_summary(name, session), **{key: session.settings[key] for key in public}}


@router.get("/{name}/schema", **roles(*EVERYONE))
def schema(name: DatasetName, session: Dataset) -> dict[str, Any]:
    """The domain: attributes, their values, and what happens to all others."""
    document = domain_to_document(session.domain)
    order = list(session.domain.names)
    return finite({"dataset": name, "order": order, "domain": document})


@router.get("/{name}/budget", **roles(*EVERYONE))
def budget(session: Dataset, who: Who) -> dict[str, Any]:
    """Limit, spent, remaining, and the caller's own share; for curators everybody's."""
    return budget_document(session, who)


@router.get("/{name}/budget/timeline", **roles(*EVERYONE))
def timeline(request: Request, session: Dataset, who: Who) -> dict[str, Any]:
    """How the loss grew, charge by charge."""
    only = who.name if own_only(request, who) else None
    return {"measure": session.budget.measure, "timeline": timeline_document(session, only)}


@router.get("/{name}/budget/attributes", **roles(*EVERYONE))
def attributes(session: Dataset) -> dict[str, Any]:
    """The largest loss of a record with each value of each attribute; null for large domains."""
    return {"measure": session.budget.measure, "attributes": attribute_document(session)}


@router.get("/{name}/history", **roles(*EVERYONE))
def history(
    request: Request, session: Dataset, who: Who, after: After = 0, most: Most = 500
) -> dict[str, Any]:
    """Measurements released so far: everybody's, or the caller's own where the server says so."""
    is_own_only = own_only(request, who)
    records = [
        record
        for record in session.history.to_records()
        if record["sequence"] > after and (not is_own_only or record["analyst"] == who.name)
    ]
    page = records[:most]
    last = page[-1]["sequence"] if page else 0
    # A release is many measurements of one entry, and the next page begins after the entry.
    page += [record for record in records[most:] if record["sequence"] == last]
    following = last if len(records) > len(page) else None
    return finite(
        {"measurements": page, "next": following, "sharing": "own" if is_own_only else "everyone"}
    )


@router.get("/{name}/history/{sequence}", **roles(*EVERYONE))
def measurement(request: Request, session: Dataset, who: Who, sequence: Sequence) -> dict[str, Any]:
    """One entry of the history: who, what, which noise, at what cost."""
    try:
        record = session.measurement(sequence)
    except QueryError as problem:
        raise Problem(404, "NotFound", str(problem)) from None
    if own_only(request, who) and record["analyst"] != who.name:
        raise Problem(404, "NotFound", f"entry {sequence} is not yours to see")
    return finite(record)


@router.get("/{name}/ledger", **roles(*AUDITING))
def ledger(session: Dataset, after: After = 0, most: Most = 1000) -> dict[str, Any]:
    """The hash-chained entries, and a high-water mark to keep elsewhere."""
    entries = [entry for entry in session.ledger_entries() if entry.sequence > after]
    page = entries[:most]
    return finite(
        {
            "entries": [
                {
                    "sequence": entry.sequence,
                    "kind": entry.kind,
                    "at": entry.at,
                    "about": dict(entry.about),
                    "payload": dict(entry.payload),
                    "hash": entry.hash,
                }
                for entry in page
            ],
            "next": page[-1].sequence if len(entries) > most else None,
            "mark": json.loads(session.mark()),
        }
    )


@router.get("/{name}/ledger/verification", **roles(*AUDITING))
def verification(session: Dataset) -> dict[str, Any]:
    """The ledger checked from its first entry to its last."""
    report = session.verify()
    return {"intact": report.intact, "problems": list(report.problems), "entries": report.entries}


def _summary(name: str, session: Session) -> dict[str, Any]:
    return {
        "name": name,
        "attributes": len(session.domain),
        "cells": session.domain.size,
        "budget": session.budget.to_dict(),
    }
