"""The whole HTTP application over a PostgreSQL ledger: several servers, one limit, one cap."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

import eke
from eke.engine import draws
from eke.service import Access, Account, Datasets, Settings, create_app
from tests.postgresql_server import Server as PostgreSQL
from tests.service import COUNT, DOMAIN, listening, people

PEOPLE = "/api/v1/datasets/people"
ROWS = {"mechanism": "lda", "epsilon": 0.3, "options": {"target": "sex"}}


class Client:
    """A caller of one server."""

    def __init__(self, url: str, token: str) -> None:
        self._http = httpx.Client(
            base_url=url, headers={"Authorization": f"Bearer {token}"}, timeout=60
        )

    def close(self) -> None:
        self._http.close()

    def get(self, path: str) -> httpx.Response:
        return self._http.get(f"{PEOPLE}/{path}")

    def post(self, path: str, body: Any, key: str | None = None) -> httpx.Response:
        headers = {} if key is None else {"Idempotency-Key": key}
        return self._http.post(f"{PEOPLE}/{path}", json=body, headers=headers)

    def finished(self, job: Any) -> Any:
        while (found := self.get(f"jobs/{job['id']}").json())["state"] in ("queued", "running"):
            time.sleep(0.02)
        return found


@contextmanager
def server(place: str, access: Path, table: Path) -> Iterator[Client]:
    """A server with its own session and its own accounts, and ann as its caller."""
    session = eke.open(place, data=str(table), analyst="server")
    accounts = Access(access)
    accounts.add(Account("ann", "analyst"))
    app = create_app(
        Datasets([("people", session)]),
        accounts,
        Settings(secure_cookies=False, requests_per_minute=100_000, answer_step=0.0),
    )
    with listening(app) as url, closing(Client(url, accounts.new_token("ann").text)) as client:
        yield client
    accounts.close()


@pytest.fixture
def dataset(postgresql: PostgreSQL, tmp_path: Path) -> tuple[str, Path]:
    """(address, table) of a dataset whose ledger is in PostgreSQL."""
    table = tmp_path / "people.csv"
    people().to_csv(table, index=False)
    place = postgresql.address(f"t_{secrets.token_hex(8)}")
    eke.create(place, table, DOMAIN, epsilon=2.0, analyst="cleo")
    return place, table


@pytest.fixture
def pair(dataset: tuple[str, Path], tmp_path: Path) -> Iterator[tuple[Client, Client]]:
    """Two servers on one ledger."""
    place, table = dataset
    with ExitStack() as stack:
        one, other = (
            stack.enter_context(server(place, tmp_path / f"access-{n}.db", table)) for n in (1, 2)
        )
        yield one, other


def test_a_cap_holds_however_many_servers_are_asked(
    pair: tuple[Client, Client], dataset: tuple[str, Path]
) -> None:
    """N = 60 questions of one analyst by 8 threads at two servers; the cap allows a few."""
    curator = eke.open(dataset[0], data=str(dataset[1]))
    curator.change_cap("ann", 0.25, by="cleo")

    def ask(number: int) -> int:
        sql = f"{COUNT} WHERE age <> {17 + number % 10}"
        body = {"sql": sql, "within": 60 - number / 2}
        return pair[number % 2].post("ask", body).status_code

    # FastAPI makes ready what reads a body at the first request, and hides warnings of that in a
    # way that threads disturb; here warnings are errors.
    assert [one.post("ask", {}).status_code for one in pair] == [422, 422]
    with ThreadPoolExecutor(8) as pool:
        statuses = list(pool.map(ask, range(60)))
    assert set(statuses) == {200, 402}
    shares = curator.shares
    assert shares.spent["ann"] <= shares.caps["ann"] == 250_000_000
    assert shares.spent["ann"] > 200_000_000, "the cap was the thing that stopped them"
    charged = [one for one in curator.ledger_entries() if one.kind == "reserve"]
    assert sum(int(str(one.payload["cost"])) for one in charged) == shares.spent["ann"]
    body = {"workload": {"all_marginals": 1}, "budget": 0.2}
    assert [one.post("releases", body).status_code for one in pair] == [402, 402]
    assert [one.post("publications", ROWS).status_code for one in pair] == [402, 402]
    assert curator.verify().intact


def test_what_one_server_releases_the_other_has(pair: tuple[Client, Client]) -> None:
    one, other = pair
    body = {"workload": {"all_marginals": 2}, "budget": 0.3}
    first, again = one.post("releases", body, "tables"), other.post("releases", body, "tables")
    assert first.status_code == 200
    assert first.content == again.content, "one key, one release"
    number = first.json()["sequence"]
    assert other.get(f"releases/{number}").json() == first.json()
    asked = {"sql": "SELECT sex, COUNT(*) FROM people GROUP BY sex", "within": 200}
    assert other.post("ask", asked).json()["source"] == "history"
    job = one.post("publications", ROWS, "rows").json()
    done = one.finished(job)
    assert done["state"] == "done"
    place = f"publications/{done['publication']}/rows?format=json"
    assert other.get(place).content == one.get(place).content
    assert other.get(f"jobs/{job['id']}").status_code == 404, "a job belongs to its server"
    taken = other.finished(other.post("publications", ROWS, "rows").json())
    assert taken["publication"] == done["publication"], "one key, one publication"


def test_a_publication_that_died_goes_on_at_another_server(
    pair: tuple[Client, Client], dataset: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker of the first server dies after the charge and before the rows."""

    class Death(BaseException):
        pass

    def die(name: str) -> None:
        if name == "engine.drawn":
            raise Death

    one, other = pair
    died = threading.Event()
    with monkeypatch.context() as patched:
        patched.setattr(threading, "excepthook", lambda _: died.set())
        patched.setattr(draws, "failpoint", die)
        job = one.post("publications", ROWS, "rows").json()
        assert died.wait(60)
    curator = eke.open(dataset[0], data=str(dataset[1]))
    spent = curator.budget.spent
    assert spent > 0
    assert one.get(f"jobs/{job['id']}").json()["charged"]
    done = other.finished(other.post("publications", ROWS, "rows").json())
    assert done["state"] == "done"
    assert curator.budget.spent == spent, "it was paid for"
    rows = curator.archive.publication(done["publication"])
    lines = other.get(f"publications/{done['publication']}/rows").text.splitlines()
    assert len(lines) == len(rows) + 1
    kinds = [entry.kind for entry in curator.ledger_entries()]
    assert kinds.count("reserve") == kinds.count("commit") == 1
