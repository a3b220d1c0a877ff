"""The console's files: read once at start, served from memory; no path comes from outside."""

from __future__ import annotations

from importlib.resources import files

from fastapi import APIRouter
from fastapi.responses import RedirectResponse, Response

_KINDS = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


def console_router() -> APIRouter:
    """The pages of the console."""
    router = APIRouter(include_in_schema=False)
    contents = {
        one.name: one.read_bytes() for one in files("eke.service").joinpath("console").iterdir()
    }

    @router.get("/")
    async def home() -> RedirectResponse:
        return RedirectResponse("/console/")

    @router.get("/console/")
    async def page() -> Response:
        return Response(contents["index.html"], media_type=_KINDS["html"])

    @router.get("/console/{name}")
    async def asset(name: str) -> Response:
        kind = _KINDS.get(name.rpartition(".")[2])
        if kind is None or name not in contents:
            return Response(b"not found", 404, media_type="text/plain")
        return Response(contents[name], media_type=kind, headers={"Cache-Control": "no-cache"})

    return router
