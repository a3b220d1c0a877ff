"""What is known from outside: listed for everyone, registered and removed by curators."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from eke.codec.plain import finite
from eke.privacy.law import law_from_json
from eke.service.body import NewOutside
from eke.service.linear_form import question_of
from eke.service.log import log
from eke.service.permission import CURATING, EVERYONE, Dataset, DatasetName, Who, roles
from eke.service.route.reading import Sequence
from eke.session import Told

router = APIRouter(prefix="/api/v1/datasets", tags=["outside"])


@router.get("/{name}/outside", **roles(*EVERYONE))
def outside(session: Dataset) -> dict[str, Any]:
    """Facts, and noisy tables of others, that answers are made with; all of it is public."""
    return finite({"outside": [one.to_dict() for one in session.outside]})


@router.post("/{name}/outside", status_code=201, **roles(*CURATING))
def register(name: DatasetName, session: Dataset, who: Who, body: NewOutside) -> dict[str, Any]:
    """Register statements of one source; the number of their ledger entry."""
    told = [
        Told(
            question_of(one.sql, one.query, session.domain),
            one.values,
            None if one.law is None else law_from_json(one.law),
        )
        for one in body.statements
    ]
    sequence = session.register_as(told, body.source, who.name)
    log("outside registered", dataset=name, sequence=sequence, by=who.name)
    return {"sequence": sequence}


@router.delete("/{name}/outside/{sequence}", status_code=204, **roles(*CURATING))
def forget(name: DatasetName, session: Dataset, who: Who, sequence: Sequence) -> None:
    """Use what an entry registered no longer; answers that were given stay."""
    session.forget(sequence, by=who.name)
    log("outside forgotten", dataset=name, sequence=sequence, by=who.name)
