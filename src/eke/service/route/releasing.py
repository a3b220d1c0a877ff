"""Releasing: plans of whole workloads, their prices, and the tables that were released."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from eke.codec.advice import advice_document
from eke.codec.plan import plan_document
from eke.codec.release import release_document, table_document
from eke.errors import BudgetExceeded, QueryError
from eke.planning import ReleasePlan
from eke.planning.workload.agreement import Kind, fitting_work
from eke.planning.workload.programs import Norm
from eke.service.archived import listed, seen_record
from eke.service.download import DESCRIBED, FileFormat, table_file
from eke.service.failure import Problem
from eke.service.linear_form import half_widths, workload_of
from eke.service.log import log
from eke.service.pace import hold_back
from eke.service.permission import (
    ASKING,
    AUDITING,
    EVERYONE,
    Dataset,
    DatasetName,
    Who,
    roles,
)
from eke.service.release_body import Planned
from eke.service.route.question import Key
from eke.service.route.reading import After, Most, Sequence
from eke.service.state import state_of
from eke.session import Release, Session

router = APIRouter(prefix="/api/v1/datasets/{name}", tags=["releasing"])
Place = Annotated[int, Path(ge=0, le=10_000, description="Which table, counted from 0.")]
Format = Annotated[FileFormat, Query(alias="format")]
As = Annotated[
    Kind | None,
    Query(alias="as", description="The nearest answers that are consistent, nonnegative or whole."),
]
Near = Annotated[Norm, Query(description="What is near: l2, l1 or linf.")]

MOST_ADJUSTED = 20_000
"""Answers of a release, where they are adjusted by the server."""
MOST_PROGRAMMED = 5_000
"""The same in L1 and L∞: linear programs, whose work grows much faster than their size."""
MOST_FITTED = 12_000_000
"""Cells that are read in each round, where whole counts are fitted by the server."""


@router.post("/plans", **roles(*EVERYONE))
def plan(request: Request, session: Dataset, who: Who, body: Planned) -> dict[str, Any]:
    """How a workload would be released, with which errors, for how much; spends nothing."""
    with state_of(request).turns.turn(who.name):
        planned = _planned(session, body)
        return plan_document(planned, session.price(planned, analyst=who.name))


@router.post("/releases", **roles(*ASKING))
def release(
    request: Request, name: DatasetName, session: Dataset, who: Who, body: Planned, key: Key = None
) -> dict[str, Any]:
    """Release a workload, in one charge; its tables are in the answer."""
    state = state_of(request)
    with state.turns.turn(who.name):
        planned = _planned(session, body)
        hold_back(request)
        try:
            released = session.release(planned, key=key, analyst=who.name)
        except BudgetExceeded:
            state.metrics.count("eke_releases_total", dataset=name, outcome="refused")
            log("refused", dataset=name, account=who.name)
            raise
    state.metrics.count("eke_releases_total", dataset=name, outcome="released")
    log("released", dataset=name, account=who.name, entry=released.sequence, cost=released.cost)
    record = seen_record("release", released.sequence, request, session, who)
    return release_document(released, record, values=True)


@router.get("/advice", **roles(*AUDITING))
def advice(request: Request, session: Dataset, who: Who) -> dict[str, Any]:
    """Tables that would make questions like those paid for free, with their prices."""
    with state_of(request).turns.turn(who.name):
        return advice_document(session.advise(), session.budget.measure)


@router.get("/releases", **roles(*EVERYONE))
def releases(
    request: Request, session: Dataset, who: Who, after: After = 0, most: Most = 500
) -> dict[str, Any]:
    """Workloads released so far: everybody's, or the caller's own where the server says so."""
    page, following = listed(
        session.archive.releases(), request, session, who, after=after, most=most
    )
    return {"releases": page, "next": following}


@router.get("/releases/{sequence}", **roles(*EVERYONE))
def one_release(
    request: Request,
    session: Dataset,
    who: Who,
    sequence: Sequence,
    values: bool = True,
    kind: As = None,
    norm: Near = "l2",
) -> dict[str, Any]:
    """One release with its tables; without their numbers if `values` is false."""
    record = seen_record("release", sequence, request, session, who)
    released = _as_wanted(request, session.archive.release(sequence), who, kind, norm)
    return release_document(released, record, values=values)


@router.get(
    "/releases/{sequence}/tables/{place}",
    response_class=Response,
    responses=DESCRIBED,
    **roles(*EVERYONE),
)
def one_table(
    request: Request,
    session: Dataset,
    who: Who,
    sequence: Sequence,
    place: Place,
    form: Format = FileFormat.JSON,
    kind: As = None,
    norm: Near = "l2",
) -> Response:
    """One table of a release as JSON, CSV or Parquet."""
    seen_record("release", sequence, request, session, who)
    released = session.archive.release(sequence)
    if place >= len(released.tables):
        raise Problem(404, "NotFound", f"the release has tables 0 to {len(released.tables) - 1}")
    table = _as_wanted(request, released, who, kind, norm).tables[place]
    name = f"release-{sequence}-{place}" + ("" if kind is None else f"-{kind}")
    return table_file(table, form, name, table_document(table))


def _as_wanted(
    request: Request, released: Release, who: Who, kind: Kind | None, norm: Norm
) -> Release:
    """The release as it is, or adjusted: that is work, and has its turn."""
    if kind is None:
        return released
    most, where = (MOST_ADJUSTED, "") if norm == "l2" else (MOST_PROGRAMMED, f" in {norm}")
    if released.workload.questions > most:
        raise QueryError(
            f"a server adjusts at most {most:,} answers{where}, and this release has "
            f"{released.workload.questions:,}; read it with eke.connect and say adjusted() there"
        )
    with state_of(request).turns.turn(who.name):
        if kind == "whole" and fitting_work(released.workload) > MOST_FITTED:
            raise QueryError(
                "whole counts behind so many tables take a server too long; ask for nonnegative "
                "ones, or read the release with eke.connect and say adjusted() there"
            )
        return released.adjusted(kind, norm)


def _planned(session: Session, body: Planned) -> ReleasePlan:
    if body.strategy_matrix is not None and body.strategy != "auto":
        raise QueryError("give a strategy by name or as a matrix, not both")
    return session.plan(
        workload_of(body.workload, session.domain),
        budget=body.budget,
        within=half_widths(body.within),
        confidence=body.confidence,
        strategy=body.strategy if body.strategy_matrix is None else body.strategy_matrix,
    )
