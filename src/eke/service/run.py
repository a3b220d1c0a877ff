"""Running: a server on a port, or one request in process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

import uvicorn
from fastapi import FastAPI

from eke.service.access import Access
from eke.service.account import Account
from eke.service.app import create_app
from eke.service.dataset import Datasets
from eke.service.log import log_to_stderr
from eke.service.settings import Settings


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to one request."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    @property
    def is_text(self) -> bool:
        """Whether the body can be printed."""
        kind = self.headers.get("content-type", "")
        return kind.startswith(("text/", "application/json"))

    def json(self) -> Any:
        return json.loads(self.body)


def run(app: FastAPI, *, host: str, port: int, patience: int = 30) -> None:
    """Serve until SIGINT or SIGTERM; requests under way then have `patience` seconds to finish."""
    log_to_stderr()
    uvicorn.run(app, host=host, port=port, workers=1, **manner(patience))


def manner(patience: int) -> dict[str, Any]:
    """How uvicorn runs a server, whatever it is made of."""
    return {
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": patience,
        "timeout_keep_alive": 30,
    }


def get(datasets: Datasets, settings: Settings, address: str) -> Reply:
    """What GET on this address answers a curator, without any server or account."""
    with closing(Access(None)) as access:
        access.add(Account("local", "curator"))
        headers = {"Authorization": f"Bearer {access.new_token('local').text}"}
        app = create_app(datasets, access, settings)
        return asyncio.run(send(app, "GET", address, headers))


async def send(
    app: FastAPI, method: str, address: str, headers: Mapping[str, str], body: bytes = b""
) -> Reply:
    """The answer of the application to one request, without any server."""
    path, _, query = address.partition("?")
    sent = {"Host": "localhost", "Content-Length": str(len(body)), **headers}
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(n.lower().encode(), v.encode("latin-1")) for n, v in sent.items()],
        "client": ("127.0.0.1", 0),
        "server": ("localhost", 80),
    }
    status, answered, content = 500, dict[str, str](), bytearray()
    waiting = [{"type": "http.request", "body": body, "more_body": False}]
    over = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if waiting:
            return waiting.pop()
        await over.wait()  # nobody hangs up before the last byte
        return {"type": "http.disconnect"}

    async def take(message: Any) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            answered.update({n.decode(): v.decode("latin-1") for n, v in message["headers"]})
        else:
            content.extend(message.get("body", b""))
            if not message.get("more_body"):
                over.set()

    await app(scope, receive, take)
    return Reply(status, answered, bytes(content))
