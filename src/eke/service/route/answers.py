"""Answers: what the caller asked before, listed, read again and taken along as files.

Everybody sees their own here, whatever the server says about the history; what was measured for
others' answers is in the history.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from eke.codec.answer import answer_document
from eke.codec.plain import finite
from eke.errors import QueryError
from eke.service.download import DESCRIBED, FileFormat, answer_file
from eke.service.failure import Problem
from eke.service.permission import EVERYONE, Dataset, Who, roles
from eke.service.route.reading import Sequence
from eke.service.state import state_of
from eke.session import KeptAnswer

router = APIRouter(prefix="/api/v1/datasets/{name}/answers", tags=["answers"])
Before = Annotated[
    int | None, Query(ge=1, le=2**53, description="Only entries before this number.")
]
Most = Annotated[int, Query(alias="limit", ge=1, le=500)]
Format = Annotated[FileFormat, Query(alias="format")]


@router.get("", **roles(*EVERYONE))
def answers(session: Dataset, who: Who, before: Before = None, most: Most = 100) -> dict[str, Any]:
    """The caller's own answers, newest first: paid ones, and free ones that had a key."""
    page, following = session.answers.of(who.name, before=before, most=most)
    return finite({"answers": [_listed(one) for one in page], "next": following})


@router.get("/{sequence}", response_class=Response, responses=DESCRIBED, **roles(*EVERYONE))
def one_answer(
    request: Request,
    session: Dataset,
    who: Who,
    sequence: Sequence,
    form: Format = FileFormat.JSON,
) -> Response:
    """One of the caller's own answers as it was given, as JSON, CSV or Parquet."""
    with state_of(request).turns.turn(who.name):
        try:
            answer = session.answers.answer(who.name, sequence)
        except QueryError as problem:
            raise Problem(404, "NotFound", str(problem)) from None
        document = {**answer_document(answer, posterior=True), "entry": sequence}
    return answer_file(answer, form, f"answer-{sequence}", document)


def _listed(stored: KeptAnswer) -> dict[str, Any]:
    receipt = stored.receipt
    return {
        "entry": stored.sequence,
        "at": stored.at,
        "question": receipt.question,
        "within": receipt.within,
        "confidence": receipt.confidence,
        "source": receipt.source,
        "measure": receipt.measure,
        "cost": receipt.cost,
        "asked": None if stored.asked is None else dict(stored.asked),
    }
