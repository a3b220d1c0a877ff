"""Failures: the one JSON shape of everything that is not a success, and its status.

{"error": "SqlError", "message": "…", "status": 400}  and for some errors more fields.
"""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from eke.errors import (
    AccessDenied,
    AccuracyError,
    BudgetExceeded,
    DataError,
    DomainError,
    EkeError,
    EstimateError,
    FactError,
    KeyConflict,
    LedgerError,
    LedgerTampered,
    PrivacyError,
    QueryError,
    ReleaseFailed,
    ServiceError,
    SqlError,
)
from eke.service.log import log

#: The first class that fits decides.
STATUS: tuple[tuple[type[EkeError], int], ...] = (
    (QueryError, 400),
    (AccuracyError, 400),
    (DomainError, 400),
    (PrivacyError, 400),
    (FactError, 400),
    (BudgetExceeded, 402),
    (AccessDenied, 403),
    (KeyConflict, 409),
    (EstimateError, 409),
    (ReleaseFailed, 422),
    (ServiceError, 409),
    (LedgerTampered, 503),
    (LedgerError, 503),
    (DataError, 503),
)
_FIXED = {
    503: "the dataset cannot be used at the moment; nothing was released. The server's operator "
    "can find out why with `eke verify`",
    500: "something went wrong inside the server; it was logged. Send the request again: with the "
    "same Idempotency-Key it is never charged twice",
}


class Problem(Exception):
    """A failure that is about HTTP rather than about eke: its status, name and reason."""

    def __init__(self, status: int, error: str, message: str, **more: Any) -> None:
        super().__init__(message)
        self.status = status
        self.document = {"error": error, "message": message, "status": status, **more}


def status_of(problem: EkeError) -> int:
    """The HTTP status that stands for an error."""
    return next((status for kind, status in STATUS if isinstance(problem, kind)), 500)


def error_document(problem: EkeError) -> dict[str, Any]:
    """The body for an error of eke.

    Privacy: what a data engine or a ledger says stays in the server; a fixed sentence goes out.
    """
    status = status_of(problem)
    message = str(problem.args[0]) if isinstance(problem, SqlError) else str(problem)
    document: dict[str, Any] = {
        "error": type(problem).__name__,
        "message": _FIXED.get(status, message),
        "status": status,
    }
    if isinstance(problem, SqlError):
        document |= {"line": problem.line, "column": problem.column}
    refusal = getattr(problem, "refusal", None)
    if refusal is not None:
        names = ("cost", "remaining", "known", "narrowest", "measure", "capped")
        guarded = {"guarded": refusal.guarded} if refusal.guarded else {}
        document["refusal"] = {name: getattr(refusal, name) for name in names} | guarded
    return document


def response(document: dict[str, Any], headers: dict[str, str] | None = None) -> JSONResponse:
    """The answer that carries a failure."""
    return JSONResponse(document, int(document["status"]), headers)


INTERNAL: dict[str, Any] = {"error": "InternalError", "message": _FIXED[500], "status": 500}


def unexpected() -> JSONResponse:
    """The answer when nobody foresaw what happened; the log has its type and place."""
    log("unexpected", level=logging.ERROR, problem=True)
    return response(INTERNAL)


def refused(problem: Problem) -> JSONResponse:
    """The answer to a request that met a problem; the operator reads of those that are ours."""
    if problem.status >= 500:
        log("accounts unusable", level=logging.ERROR, reason=str(problem))
    headers = {}
    if problem.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if "retry_after" in problem.document:
        headers["Retry-After"] = str(problem.document["retry_after"])
    return response(problem.document, headers)


def install(app: FastAPI) -> None:
    """Let every failure have this shape."""

    @app.exception_handler(EkeError)
    async def _eke(_: Request, problem: EkeError) -> JSONResponse:
        document = error_document(problem)
        if document["status"] >= 500:
            log("dataset unusable", level=logging.ERROR, error=document["error"])
        return response(document)

    @app.exception_handler(Problem)
    async def _problem(_: Request, problem: Problem) -> JSONResponse:
        return refused(problem)

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, problem: RequestValidationError) -> JSONResponse:
        reasons = [
            f"{'.'.join(str(part) for part in one['loc'])}: {one['msg']}"
            for one in problem.errors()[:10]
        ]
        return response({"error": "InvalidRequest", "message": "; ".join(reasons), "status": 422})

    @app.exception_handler(HTTPException)
    async def _http(_: Request, problem: HTTPException) -> JSONResponse:
        name = HTTPStatus(problem.status_code).phrase.title().replace(" ", "").replace("-", "")
        message = {
            404: "there is nothing at this address; /api/v1/openapi.json lists what there is",
            405: "this address does not take this method",
        }.get(problem.status_code, str(problem.detail))
        document = {"error": name, "message": message, "status": problem.status_code}
        return response(document, dict(problem.headers or {}))
