"""The gate waits for accounts on another machine without keeping others waiting."""

from __future__ import annotations

import asyncio
import threading

import pytest

from eke.service import send
from eke.service.storage import StorageUnavailable
from tests.service import Server

SCHEMA = "/api/v1/datasets/people/schema"


@pytest.fixture
def slow(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> tuple[Server, threading.Event, threading.Event]:
    """A server whose accounts are shared and answer when told to; (it, asked, answer)."""
    asked, answer = threading.Event(), threading.Event()
    find = server.access.by_token

    def wait(text: str) -> object:
        asked.set()
        assert answer.wait(60)
        return find(text)

    monkeypatch.setattr(server.access.storage, "shared", True, raising=False)
    monkeypatch.setattr(server.access, "by_token", wait)
    return server, asked, answer


def test_others_do_not_wait(slow: tuple[Server, threading.Event, threading.Event]) -> None:
    server, asked, answer = slow
    headers = {"Authorization": f"Bearer {server.tokens['ann']}"}

    async def both() -> tuple[int, int]:
        waiting = asyncio.create_task(send(server.app, "GET", SCHEMA, headers, b""))
        assert await asyncio.to_thread(asked.wait, 60)
        health = await send(server.app, "GET", "/health", {}, b"")
        assert not waiting.done()
        answer.set()
        return health.status, (await waiting).status

    assert server.loop.run(both()) == (200, 200)


def test_accounts_that_cannot_be_reached_are_logged_and_told_of_without_the_place(
    server: Server, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def gone(_: str) -> object:
        raise StorageUnavailable("postgresql://db.internal/eke cannot be used")

    monkeypatch.setattr(server.access, "by_token", gone)
    reply = server.call("GET", SCHEMA, "ann")
    assert reply.status == 503
    assert reply.headers["retry-after"] == "5"
    assert "db.internal" not in reply.body.decode()
    (record,) = [one for one in caplog.records if one.msg == "accounts unusable"]
    assert "db.internal" in record.fields["reason"]  # type: ignore[attr-defined]
