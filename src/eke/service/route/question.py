"""Questions: asked, priced and explained."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse

from eke.codec.answer import answer_document
from eke.codec.claim import claim_document
from eke.codec.estimate import estimate_document
from eke.codec.plain import finite
from eke.codec.preview import sent_preview
from eke.errors import BudgetExceeded, EkeError
from eke.service.account import Account
from eke.service.body import (
    AskBody,
    AskManyBody,
    Claimed,
    CurveBody,
    Estimated,
    QuestionBody,
    SqlQuestion,
)
from eke.service.failure import Problem, error_document, status_of
from eke.service.linear_form import question_of
from eke.service.log import log
from eke.service.pace import hold_back
from eke.service.permission import (
    ASKING,
    EVERYONE,
    Dataset,
    DatasetName,
    Who,
    own_only,
    roles,
)
from eke.service.state import State, state_of
from eke.session import Session

router = APIRouter(prefix="/api/v1/datasets/{name}", tags=["questions"])
Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=200,
        pattern=r"^[!-~]+$",
        description="The same key and body give the same stored answer, whatever crashes between.",
    ),
]


@router.post("/ask", response_model=dict[str, Any], **roles(*ASKING))
def ask(
    request: Request, name: DatasetName, session: Dataset, who: Who, body: AskBody, key: Key = None
) -> JSONResponse:
    """The answer to a question: free from history, or from the budget."""
    hold_back(request)
    answer = _answered(state_of(request), name, session, who, body, key)
    hold_back(request, held=answer["source"] != "history")
    # Plain JSON values already: FastAPI would look at each of them twice more.
    return JSONResponse(answer)


@router.post("/ask-many", **roles(*ASKING))
def ask_many(
    request: Request,
    name: DatasetName,
    session: Dataset,
    who: Who,
    body: AskManyBody,
    key: Key = None,
) -> dict[str, Any]:
    """Answers to several questions, one after the other; each is charged, or fails, by itself."""
    hold_back(request)
    results: list[dict[str, Any]] = []
    for place, question in enumerate(body.questions, start=1):
        key_of_one = None if key is None else f"{key}#{place}"
        try:
            answer = _answered(state_of(request), name, session, who, question, key_of_one)
        except EkeError as problem:
            if status_of(problem) >= 500:
                raise
            results.append({"answer": None, "error": error_document(problem)})
        except Problem as problem:  # no turn for this one; those before it are answered
            results.append({"answer": None, "error": problem.document})
        else:
            results.append({"answer": answer, "error": None})
    free = all(one["answer"] and one["answer"]["source"] == "history" for one in results)
    hold_back(request, held=not free)
    return {"results": results}


@router.post("/preview", **roles(*EVERYONE))
def preview(session: Dataset, who: Who, body: QuestionBody) -> dict[str, Any]:
    """Price and source of an answer; spends nothing and touches no data."""
    asked = question_of(body.sql, body.query, session.domain)
    previewed = session.preview(asked, analyst=who.name, policy=body.policy, **_wanted(body))
    return sent_preview(previewed)


@router.post("/curve", **roles(*EVERYONE))
def curve(session: Dataset, who: Who, body: CurveBody) -> dict[str, Any]:
    """The price of a question at several half-widths; spends nothing."""
    previews = session.curve(body.sql, body.within, body.confidence, analyst=who.name)
    points = [
        {"within": within, "action": one.action, "cost": one.cost}
        for within, one in zip(body.within, previews, strict=True)
    ]
    return finite({"measure": session.budget.measure, "curve": points})


@router.post("/explain", **roles(*EVERYONE))
def explain(request: Request, session: Dataset, who: Who, body: SqlQuestion) -> dict[str, Any]:
    """How a question is read, what history says about it, and its price."""
    explanation = session.explain(body.sql, analyst=who.name, policy=body.policy, **_wanted(body))
    if own_only(request, who):
        theirs = {m.sequence for m in session.history if m.analyst == who.name}
        for aggregate in explanation["aggregates"].values():
            for source in aggregate["sources"]:
                if source["sequence"] not in theirs:
                    source["question"] = "a measurement of somebody else"
    return finite(explanation)


@router.post("/estimate", **roles(*EVERYONE))
def estimate(session: Dataset, who: Who, body: Estimated) -> dict[str, Any]:
    """What history says about a linear question, asked before or not; free."""
    asked = question_of(body.sql, body.query, session.domain)
    estimated = session.estimate(
        asked,
        body.method,
        body.confidence,
        prior=body.prior,
        alpha=body.alpha,
        folds=body.folds,
        analyst=who.name,
    )
    return estimate_document(estimated)


@router.post("/claim", **roles(*EVERYONE))
def claim(session: Dataset, who: Who, body: Claimed) -> dict[str, Any]:
    """How probable a claim about the true answers is, by what was released; free."""
    asked = question_of(body.sql, body.query, session.domain)
    return claim_document(session.claim(asked, body.claim, analyst=who.name))


def _wanted(body: QuestionBody | SqlQuestion) -> dict[str, Any]:
    """How accurate an answer is to be, or what it may cost, as a session takes it."""
    return {
        "within": body.within,
        "confidence": body.confidence,
        "spend": body.spend,
        "groups_of": body.groups_of,
    }


def _answered(
    state: State, name: str, session: Session, who: Account, body: AskBody, key: str | None
) -> dict[str, Any]:
    asked = question_of(body.sql, body.query, session.domain)
    try:
        answer = session.ask(asked, key=key, analyst=who.name, policy=body.policy, **_wanted(body))
    except BudgetExceeded:
        state.metrics.count("eke_answers_total", dataset=name, source="refused")
        log("refused", dataset=name, account=who.name)
        raise
    source = answer.receipt.source
    state.metrics.count("eke_answers_total", dataset=name, source=source)
    log("answered", dataset=name, account=who.name, source=source, cost=answer.cost)
    # Under a key the answer is kept, and can be read again and downloaded (`route/answers.py`).
    entry = None if key is None else session.archive.find(who.name, key)
    return {**answer_document(answer, posterior=body.posterior), "entry": entry}
