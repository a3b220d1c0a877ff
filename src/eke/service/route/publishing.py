"""Publishing: rows made in the background, and the publications that the ledger holds."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import HTMLResponse, Response

from eke.codec.estimate import row_estimate_document
from eke.codec.release import publication_document
from eke.errors import QueryError
from eke.service.account import Account
from eke.service.archived import listed, seen_record
from eke.service.download import DESCRIBED, FileFormat, published_file
from eke.service.failure import Problem
from eke.service.gate import FRAMED
from eke.service.job import MOST_ROWS
from eke.service.job_document import job_document
from eke.service.job_store import Job
from eke.service.linear_form import question_of
from eke.service.permission import (
    ASKING,
    EVERYONE,
    Dataset,
    DatasetName,
    Who,
    own_only,
    roles,
)
from eke.service.release_body import AskedOfRows, NewPublication
from eke.service.route.question import Key
from eke.service.route.reading import After, Most, Sequence
from eke.service.state import State, state_of
from eke.service.utility_report import utility_report
from eke.session import Price, PublishRequest, Session

router = APIRouter(prefix="/api/v1/datasets/{name}", tags=["publishing"])
JobId = Annotated[str, Path(max_length=40, description="The id of a job.")]
Format = Annotated[FileFormat, Query(alias="format")]


@router.post("/publications/preview", **roles(*EVERYONE))
def preview_publication(
    request: Request, session: Dataset, who: Who, body: NewPublication
) -> dict[str, Any]:
    """What a publication would cost at most; spends nothing, and says what is wrong with it."""
    with state_of(request).turns.turn(who.name):
        price = _priced(session, who, body, None)
    return {
        "measure": price.measure,
        "cost": price.cost,
        "remaining": price.remaining,
        "capped": price.capped,
        "affordable": price.affordable,
        **({"guarded": price.guarded} if price.guarded else {}),
    }


@router.post("/publications", status_code=202, **roles(*ASKING))
def publish(
    request: Request,
    name: DatasetName,
    session: Dataset,
    who: Who,
    body: NewPublication,
    key: Key = None,
) -> dict[str, Any]:
    """Publish rows in the background; the answer is a job to look at until it is done.

    What is wrong with the request, or clearly too expensive, is refused here. With an
    Idempotency-Key the same request gets the same job, and one that was interrupted goes on.
    """
    with state_of(request).turns.turn(who.name):
        price = _priced(session, who, body, key)
    paid = key is not None and session.archive.find(who.name, key) is not None
    if not price.affordable and not paid:
        raise Problem(
            402,
            "Refused" if price.guarded else "BudgetExceeded",
            f"the publication is refused: {price.standing_against}; nothing was spent",
        )
    wanted = body.model_dump()
    job = state_of(request).jobs.submit(name, who.name, wanted, key)
    return job_document(job, session)


@router.get("/publications", **roles(*EVERYONE))
def publications(
    request: Request, session: Dataset, who: Who, after: After = 0, most: Most = 500
) -> dict[str, Any]:
    """Publications so far: everybody's, or the caller's own where the server says so."""
    page, following = listed(
        session.archive.publications(), request, session, who, after=after, most=most
    )
    return {"publications": page, "next": following}


@router.get("/publications/{sequence}", **roles(*EVERYONE))
def publication(request: Request, session: Dataset, who: Who, sequence: Sequence) -> dict[str, Any]:
    """One publication: its receipt, its first rows, and how near to history its rows are."""
    record = seen_record("publish", sequence, request, session, who)
    with state_of(request).turns.turn(who.name):
        published = session.archive.publication(sequence)
        return publication_document(published, record, utility_report(published, session))


@router.get(
    "/publications/{sequence}/rows",
    response_class=Response,
    responses=DESCRIBED,
    **roles(*EVERYONE),
)
def rows(
    request: Request,
    session: Dataset,
    who: Who,
    sequence: Sequence,
    form: Format = FileFormat.CSV,
) -> Response:
    """The published rows as CSV, Parquet, or coded as the ledger keeps them."""
    seen_record("publish", sequence, request, session, who)
    return published_file(session.archive.publication(sequence), form, f"publication-{sequence}")


@router.get(
    "/publications/{sequence}/report",
    response_class=HTMLResponse,
    responses={200: {"content": {"text/html": {"schema": {"type": "string"}}}}},
    **roles(*EVERYONE),
)
def report(request: Request, session: Dataset, who: Who, sequence: Sequence) -> Response:
    """A report on the rows for people: a page of HTML by itself, which the console frames.

    Where the server shows people their own measurements only, it compares with these alone.
    """
    seen_record("publish", sequence, request, session, who)
    only = who.name if own_only(request, who) else None
    with state_of(request).turns.turn(who.name):
        text = session.archive.report(sequence, only=only)
    return HTMLResponse(text, headers=FRAMED)


@router.post("/publications/{sequence}/estimate", **roles(*EVERYONE))
def estimate_from_rows(
    request: Request, session: Dataset, who: Who, sequence: Sequence, body: AskedOfRows
) -> dict[str, Any]:
    """What published rows say of one number, and where that of the real table is; free."""
    seen_record("publish", sequence, request, session, who)
    asked = question_of(body.sql, body.query, session.domain)
    with state_of(request).turns.turn(who.name):
        made = session.archive.estimate(sequence, asked, confidence=body.confidence)
    return row_estimate_document(made)


@router.get("/jobs", **roles(*EVERYONE))
def jobs(request: Request, name: DatasetName, session: Dataset, who: Who) -> dict[str, Any]:
    """The newest jobs: an analyst's own, everybody's for the other roles."""
    only = who.name if who.role == "analyst" else None
    seen = state_of(request).jobs.of(name, only)
    return {"jobs": [job_document(one, session) for one in seen]}


@router.get("/jobs/{job}", **roles(*EVERYONE))
def job(
    request: Request, name: DatasetName, session: Dataset, who: Who, job: JobId
) -> dict[str, Any]:
    """How far a job has come, and what became of it."""
    return job_document(_job(state_of(request), name, who, job), session)


@router.delete("/jobs/{job}", **roles(*ASKING))
def cancel(
    request: Request, name: DatasetName, session: Dataset, who: Who, job: JobId
) -> dict[str, Any]:
    """Take a job back; one that is paid for is given up, and its charge stays."""
    state = state_of(request)
    unfinished = _job(state, name, who, job)
    paid = session.archive.find(unfinished.account, unfinished.key) is not None
    return job_document(state.jobs.cancel(unfinished, paid=paid), session)


def _priced(session: Session, who: Account, body: NewPublication, key: str | None) -> Price:
    wanted = body.options.get("rows")
    if isinstance(wanted, int) and wanted > MOST_ROWS:
        raise QueryError(f"a server publishes at most {MOST_ROWS:,} rows at a time")
    request = PublishRequest(
        body.mechanism,
        body.epsilon,
        body.rho,
        body.options,
        who.name,
        key,
        most_rows=MOST_ROWS,  # of the total, too, that rows follow when nothing is said
    )
    return session.price(request, analyst=who.name)


def _job(state: State, dataset: str, who: Account, job_id: str) -> Job:
    job = state.jobs.get(job_id)
    hidden = job is not None and who.role == "analyst" and job.account != who.name
    if job is None or job.dataset != dataset or hidden:
        raise Problem(404, "NotFound", "there is no such job, or it is not yours to see")
    return job
