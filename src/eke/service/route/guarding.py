"""Guarded claims: listed for everyone, guarded and lifted by curators."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from eke.codec.plain import finite
from eke.service.body import NewGuard
from eke.service.linear_form import question_of
from eke.service.log import log
from eke.service.permission import CURATING, EVERYONE, Dataset, DatasetName, Who, roles
from eke.service.route.reading import Sequence

router = APIRouter(prefix="/api/v1/datasets", tags=["guarding"])


@router.get("/{name}/guards", **roles(*EVERYONE))
def guards(session: Dataset) -> dict[str, Any]:
    """The claims that are not to become more probable, and how probable they are; all public."""
    return finite({"guards": [one.to_dict() for one in session.guards]})


@router.post("/{name}/guards", status_code=201, **roles(*CURATING))
def guard(name: DatasetName, session: Dataset, who: Who, body: NewGuard) -> dict[str, Any]:
    """Guard a claim from now on; the number of its ledger entry."""
    asked = question_of(body.sql, body.query, session.domain)
    sequence = session.guard(
        asked, body.claim, threshold=body.threshold, note=body.note, by=who.name
    )
    log("claim guarded", dataset=name, sequence=sequence, by=who.name)
    return {"sequence": sequence}


@router.delete("/{name}/guards/{sequence}", status_code=204, **roles(*CURATING))
def lift(name: DatasetName, session: Dataset, who: Who, sequence: Sequence) -> None:
    """Guard what an entry holds no longer; both entries stay in the ledger."""
    session.lift(sequence, by=who.name)
    log("guard lifted", dataset=name, sequence=sequence, by=who.name)
