"""The application: `gate.py` lets a request in, a route in `route/` answers it.

Gate → route → Session          (never past the session: no route has a handle on data)
             ↘ Jobs → Session   (publications, in the background)
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI

from eke.service import failure
from eke.service.access import Access
from eke.service.dataset import Datasets
from eke.service.gate import Gate
from eke.service.log import log
from eke.service.pace import Pace
from eke.service.peers import Peers
from eke.service.route import (
    answers,
    browser,
    curating,
    guarding,
    outside,
    publishing,
    question,
    reading,
    releasing,
    system,
)
from eke.service.settings import Settings
from eke.service.state import State
from eke.service.static import console_router

SWITCH_SECONDS = 0.0001
"""How soon a thread that computes gives way to one that has something to answer. An answer takes
many such waits, one for each look at a file; Python's own five milliseconds would add up. A thread
that waits begins to count anew whenever the other steps aside for an instant, as it does in every
small step of NumPy, so that the time must be short compared with these."""
_ERROR = {
    "type": "object",
    "required": ["error", "message", "status"],
    "properties": {
        "error": {"type": "string", "description": "The name of the error."},
        "message": {"type": "string", "description": "What is wrong, and what to do next."},
        "status": {"type": "integer"},
    },
}
_FAILURES = {
    "400": "The question, the accuracy or a privacy parameter makes no sense.",
    "401": "No valid token.",
    "402": "Refused: the budget, or a guarded claim, does not allow it; `refusal` says what is "
    "available instead.",
    "403": "The role does not allow it, or a browser sent no CSRF token.",
    "404": "No such thing, or not the caller's to see.",
    "409": "An idempotency key belongs to another request, a name is taken, history does not say, "
    "or it is too late.",
    "413": "The body is too large.",
    "422": "The body or a parameter has the wrong form.",
    "429": "Too many requests; `Retry-After` says how long to wait.",
    "503": "The dataset, or the accounts, cannot be reached; nothing was released.",
}


def create_app(
    datasets: Datasets,
    access: Access,
    settings: Settings | None = None,
    pace: Pace | None = None,
    *,
    beside: Callable[[State], AbstractAsyncContextManager[None]] | None = None,
    peers: Peers | None = None,
) -> FastAPI:
    """The web application over some datasets, for the accounts of one access file.

    `pace` has another clock than that of the machine, for tests; `beside` is another door, which is
    open as long as the application runs; `peers` are the other workers of the same server.
    """
    state = State.of(datasets, access, settings or Settings(), pace, peers)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        log("started", datasets=len(datasets.items()))
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        async with (
            nullcontext() if peers is None else peers.open(state.metrics),
            nullcontext() if beside is None else beside(state),
        ):
            yield
        await asyncio.to_thread(state.jobs.stop)
        sys.setswitchinterval(before)
        log("stopped")  # the requests that were under way have been answered

    app = FastAPI(
        title="eke",
        summary="Question sensitive tables under differential privacy.",
        version=version("eke"),
        docs_url=None,  # both pages load scripts from elsewhere
        redoc_url=None,
        openapi_url="/api/v1/openapi.json",
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.eke = state
    failure.install(app)
    for part in (
        system,
        browser,
        reading,
        question,
        answers,
        releasing,
        publishing,
        outside,
        guarding,
        curating,
    ):
        app.include_router(part.router)
    if state.settings.console:
        app.include_router(console_router())
    app.add_middleware(Gate, state=state)
    _describe(app)
    return app


def _describe(app: FastAPI) -> None:
    """Let the OpenAPI document tell of tokens and of the one shape of errors."""
    plain = app.openapi

    def described() -> dict[str, Any]:
        if app.openapi_schema:
            return app.openapi_schema
        document = plain()
        components = document.setdefault("components", {})
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        schemas = components.setdefault("schemas", {})
        schemas["Error"] = _ERROR
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
        for path, methods in document["paths"].items():
            if path == "/health":
                continue
            for operation in methods.values():
                for status, meaning in _FAILURES.items():
                    operation["responses"][status] = {"description": meaning, "content": content}
        app.openapi_schema = document
        return document

    setattr(app, "openapi", described)  # noqa: B010 - how FastAPI is extended
