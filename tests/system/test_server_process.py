"""`eke serve` as a process: it stops gently, and a kill in a release charges once."""

from __future__ import annotations

import json
import signal
import threading
import time
from pathlib import Path

import httpx
import pytest

import eke
from eke.service import Access, Account
from tests.service import COUNT, DOMAIN, Serving, people, serve_command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    people().to_csv(tmp_path / "people.csv", index=False)
    eke.create(tmp_path / "people.eke", tmp_path / "people.csv", DOMAIN, epsilon=1.0)
    return tmp_path


@pytest.fixture
def token(folder: Path) -> str:
    access = Access(folder / "access.db")
    access.add(Account("ann", "analyst"))
    text = access.new_token("ann").text
    access.close()
    return text


def process(folder: Path, **variables: str) -> Serving:
    """(process, address) of a server that answers."""
    return serve_command("people.eke", "--access", "access.db", folder=folder, variables=variables)


def ask(url: str, token: str, key: str) -> httpx.Response:
    return httpx.post(
        f"{url}/api/v1/datasets/people/ask",
        json={"sql": COUNT, "within": 40},
        headers={"Authorization": f"Bearer {token}", "Idempotency-Key": key},
        timeout=60,
    )


def test_a_kill_in_the_middle_of_a_release_is_charged_and_answered_once(
    folder: Path, token: str
) -> None:
    with (
        process(folder, EKE_FAILPOINT="engine.counted") as (_, url),
        pytest.raises(httpx.TransportError),
    ):
        ask(url, token, "monday")
    charged = eke.open(folder / "people.eke").budget.spent
    assert charged > 0
    with process(folder) as (started, url):
        first, again = ask(url, token, "monday"), ask(url, token, "monday")
        assert first.status_code == 200
        assert first.content == again.content
        started.send_signal(signal.SIGTERM)
        _, log = started.communicate(timeout=60)
    after = eke.open(folder / "people.eke")
    assert after.budget.spent == charged
    assert len(after.history) == 1
    # The log tells of requests, and of nothing that was asked or answered.
    lines = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    events = [line["event"] for line in lines]
    assert events[0] == "started"
    assert events[-1] == "stopped"
    assert events.count("answered") == 2
    for secret in ("SELECT", token, str(first.json()["value"])):
        assert secret not in log


@pytest.mark.long
def test_a_kill_in_the_middle_of_a_publication_is_reported_and_finished_by_its_key(
    folder: Path, token: str
) -> None:
    place = "/api/v1/datasets/people"
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "rows"}
    body = {"mechanism": "lda", "epsilon": 0.3, "options": {"target": "sex"}}
    with process(folder, EKE_FAILPOINT="engine.counted") as (started, url):
        job = httpx.post(f"{url}{place}/publications", json=body, headers=headers, timeout=60)
        assert job.status_code == 202
        started.wait(60)
    charged = eke.open(folder / "people.eke").budget.spent
    assert charged > 0
    with process(folder) as (_, url):
        address = f"{url}{place}/jobs/{job.json()['id']}"
        told = httpx.get(address, headers=headers).json()
        assert (told["state"], told["charged"]) == ("interrupted", True)
        again = httpx.post(f"{url}{place}/publications", json=body, headers=headers, timeout=60)
        assert again.json()["id"] == job.json()["id"]
        while (told := httpx.get(address, headers=headers).json())["state"] != "done":
            assert told["state"] in ("queued", "running"), told
            time.sleep(0.05)
    after = eke.open(folder / "people.eke")
    assert after.budget.spent == charged
    assert [one.sequence for one in after.archive.publications()] == [told["publication"]]


def test_sigterm_lets_a_request_finish(folder: Path, token: str) -> None:
    with process(folder) as (started, url):
        found: list[httpx.Response] = []
        body = {
            "questions": [
                {"sql": f"{COUNT} WHERE age = {17 + i % 10}", "within": 150 - i} for i in range(25)
            ]
        }
        sender = threading.Thread(
            target=lambda: found.append(
                httpx.post(
                    f"{url}/api/v1/datasets/people/ask-many",
                    json=body,
                    headers={"Authorization": f"Bearer {token}"},
                    timeout=60,
                )
            )
        )
        sender.start()
        while not len(eke.open(folder / "people.eke").history):
            time.sleep(0.01)
        started.send_signal(signal.SIGTERM)
        sender.join()
        assert started.wait(60) in (0, -signal.SIGTERM)
    assert found[0].status_code == 200
    assert len(found[0].json()["results"]) == 25
