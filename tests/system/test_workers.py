"""`eke serve --workers 2`: one server for whoever asks, whichever process answers."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

import eke
from eke.service import Access, Account
from tests.service import COUNT, DOMAIN, people, serve_command

PLACE = "/api/v1/datasets/people"


class Workers:
    """A server of two workers, and the token of its curator."""

    def __init__(self, folder: Path, process: int, url: str, token: str, door: int) -> None:
        self.folder, self.process, self.url, self.door = folder, process, url, door
        self.token = token

    def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Each time by a connection of its own, which either of the workers may take."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return httpx.request(method, f"{self.url}{path}", headers=headers, timeout=120, **more)

    def ask(self, age: int, within: float) -> httpx.Response:
        asked = {"sql": f"{COUNT} WHERE age >= {age}", "within": within}
        return self.send("POST", f"{PLACE}/ask", json=asked)

    def processes(self) -> set[int]:
        """The workers that have counted something lately."""
        (room,) = self.rooms()
        return {int(path.stem) for path in room.glob("*.socket")}

    def rooms(self) -> list[Path]:
        return list(self.folder.glob("eke-serve-*"))


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    folder = tmp_path_factory.mktemp("w")
    people().to_csv(folder / "people.csv", index=False)
    eke.create(folder / "people.eke", folder / "people.csv", DOMAIN, epsilon=1.0)
    access = Access(folder / "access.db")
    access.add(Account("cleo", "curator"))
    token = access.new_token("cleo").text
    access.close()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        door = probe.getsockname()[1]
    words = ("--folder", ".", "--access", "access.db", "--workers", "2", "--insecure")
    more = ("--pg", f"127.0.0.1:{door}", "--answer-step", "0")
    log, here = folder / "log", {"TMPDIR": str(folder)}
    with serve_command(*words, *more, folder=folder, log=log, variables=here) as (process, url):
        server = Workers(folder, process.pid, url, token, door)
        until(lambda: log.read_text().count('"listening"') == 2)
        yield server
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
        assert log.read_text().count('"stopped"') >= 2
        assert server.rooms() == []


def until(true: Any) -> None:
    while not true():
        time.sleep(0.05)


def test_two_workers_spend_one_budget(workers: Workers) -> None:
    """Twenty-four questions at once, of which the limit pays for a part: never more."""
    with ThreadPoolExecutor(8) as threads:
        asked = list(threads.map(lambda n: workers.ask(17 + n % 10, 24.0 - n / 2), range(24)))
    assert {one.status_code for one in asked} == {200, 402}
    paid = sum(one.json()["cost"] for one in asked if one.status_code == 200)
    budget = workers.send("GET", f"{PLACE}/budget").json()
    assert budget["spent"] <= 1.0
    assert paid == pytest.approx(budget["spent"])
    assert paid == pytest.approx(sum(one["cost"] for one in answers(workers)))
    assert workers.send("GET", f"{PLACE}/ledger/verification").json()["intact"]


def answers(workers: Workers) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = workers.send("GET", f"{PLACE}/answers?limit=200").json()[
        "answers"
    ]
    return listed


def test_every_request_is_counted_once_wherever_one_looks(workers: Workers) -> None:
    before = counted(workers, "/health")
    for _ in range(20):
        httpx.get(f"{workers.url}/health")
    until(lambda: counted(workers, "/health") == before + 20)
    until(lambda: counted(workers, "/health") == before + 20)


def counted(workers: Workers, route: str) -> int:
    text = workers.send("GET", "/metrics").text
    lines = re.findall(rf'eke_requests_total{{.*route="{route}".*}} (\d+)', text)
    return sum(map(int, lines))


def test_a_dataset_is_made_by_one_and_known_to_both(workers: Workers) -> None:
    body = {"name": "more", "file": "people.csv", "epsilon": 1.0}
    domain = workers.send("GET", f"{PLACE}/schema").json()["domain"]
    made = workers.send("POST", "/api/v1/datasets", json={**body, "domain": domain})
    assert made.status_code == 201, made.text
    looks = [workers.send("GET", "/api/v1/datasets/more/budget") for _ in range(12)]
    assert {one.status_code for one in looks} == {200}


def test_clients_of_postgresql_are_served_by_both(workers: Workers) -> None:
    words = f"host=127.0.0.1 port={workers.door} user=cleo dbname=people password={workers.token}"
    values = set()
    for _ in range(6):
        with psycopg.connect(words) as client:
            row = client.execute(f"{COUNT} ERROR WITHIN 100000").fetchone()
            assert row is not None
            values.add(row[0])
            client.cancel_safe()  # comes by another connection, and perhaps to the other worker
    assert len(values) == 1


def test_a_worker_that_dies_is_replaced_and_nothing_is_lost(workers: Workers) -> None:
    before = answers(workers)
    dead, living = sorted(workers.processes())
    os.kill(dead, signal.SIGKILL)
    until(lambda: len(workers.processes() - {dead}) == 2)
    assert living in workers.processes()
    assert answers(workers) == before
    assert workers.ask(17, 1e6).json()["source"] == "history"


@pytest.mark.long
def test_a_worker_that_cannot_start_ends_the_server(tmp_path: Path) -> None:
    """The dataset is taken away after the server has begun, before its workers do."""
    people().to_csv(tmp_path / "people.csv", index=False)
    eke.create(tmp_path / "people.eke", tmp_path / "people.csv", DOMAIN, epsilon=1.0)
    access = Access(tmp_path / "access.db")
    access.add(Account("cleo", "curator"))
    access.new_token("cleo")
    access.close()
    before = (
        "from eke.service import workers as w; plain = w.Multiprocess.run\n"
        "def run(self):\n"
        "    open('people.eke', 'w').write('gone')\n"
        "    plain(self)\n"
        "w.Multiprocess.run = run"
    )
    words = ("serve", "people.eke", "--access", "access.db", "--workers", "2", "--port", "48766")
    code = f"{before}\nfrom eke.cli import main; main()"
    ended = subprocess.run(
        [sys.executable, "-c", code, *words],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "a worker could not start" in ended.stderr
    assert "not started" in ended.stderr
