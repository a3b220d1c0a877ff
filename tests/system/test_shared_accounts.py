"""Two servers on one PostgreSQL ledger that share accounts and jobs, as behind a load balancer."""

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
from eke.service import Access, Account, Datasets, Settings, create_app, job, job_store
from tests.postgresql_server import Server as PostgreSQL
from tests.service import (
    COUNT,
    DOMAIN,
    Serving,
    hold_publications,
    listening,
    people,
    serve_command,
)

PEOPLE = "/api/v1/datasets/people"
ROWS: dict[str, Any] = {"mechanism": "lda", "epsilon": 0.3, "options": {"target": "sex"}}


class Place:
    """Where ledger, accounts and table are, and the tokens of cleo and ann."""

    def __init__(self, postgresql: PostgreSQL, folder: Path) -> None:
        self.table = folder / "people.csv"
        people().to_csv(self.table, index=False)
        self.ledger = postgresql.address(f"t_{secrets.token_hex(8)}")
        self.accounts = postgresql.address(f"t_{secrets.token_hex(8)}")
        eke.create(self.ledger, self.table, DOMAIN, epsilon=2.0, analyst="cleo")
        with closing(Access(self.accounts)) as access:
            access.add(Account("cleo", "curator"))
            access.add(Account("ann", "analyst"))
            self.cleo, self.ann = (access.new_token(name).text for name in ("cleo", "ann"))

    def curator(self) -> eke.Session:
        return eke.open(self.ledger, data=str(self.table))

    @contextmanager
    def server(self) -> Iterator[str]:
        """The address of one more server."""
        session = eke.open(self.ledger, data=str(self.table), analyst="server")
        with closing(Access(self.accounts)) as access:
            settings = Settings(secure_cookies=False, requests_per_minute=100_000, answer_step=0.0)
            with listening(create_app(Datasets([("people", session)]), access, settings)) as url:
                yield url

    def process(self, **variables: str) -> Serving:
        """One more server, started by the command line."""
        return serve_command(
            f"people={self.ledger}", "--access", self.accounts, variables=variables
        )


@pytest.fixture
def place(postgresql: PostgreSQL, tmp_path: Path) -> Place:
    return Place(postgresql, tmp_path)


@pytest.fixture
def pair(place: Place) -> Iterator[tuple[str, str]]:
    with ExitStack() as stack:
        one, other = (stack.enter_context(place.server()) for _ in range(2))
        yield one, other


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """While it is not set, every job waits before it looks at its request."""
    opened = hold_publications(monkeypatch)
    yield opened
    opened.set()


def call(method: str, address: str, token: str, body: Any = None, key: str | None = None) -> Any:
    headers = {"Authorization": f"Bearer {token}"}
    if key is not None:
        headers["Idempotency-Key"] = key
    return httpx.request(method, address, json=body, headers=headers, timeout=60)


def reached(address: str, token: str, *states: str) -> Any:
    """The job when it has come to one of some states."""
    while (found := call("GET", address, token).json())["state"] not in states:
        time.sleep(0.02)
    return found


# -- accounts ------------------------------------------------------------------------------------


def test_a_token_works_everywhere_until_it_is_revoked_anywhere(
    pair: tuple[str, str], place: Place
) -> None:
    one, other = pair
    made = call("POST", f"{one}/api/v1/accounts", place.cleo, {"name": "zoe", "role": "analyst"})
    assert made.status_code == 201
    token = made.json()["token"]
    asked = call("POST", f"{other}{PEOPLE}/ask", token, {"sql": COUNT, "within": 60})
    assert asked.status_code == 200
    again = call("POST", f"{one}{PEOPLE}/ask", token, {"sql": COUNT, "within": 60})
    assert again.json()["source"] == "history"
    ended = call("DELETE", f"{other}/api/v1/tokens/{token.split('_')[1]}", place.cleo)
    assert ended.status_code == 204
    for url in pair:
        assert call("GET", f"{url}/api/v1/datasets", token).status_code == 401
        assert call("GET", f"{url}/api/v1/datasets", place.ann).status_code == 200
    taken = {"name": "zoe", "role": "curator"}
    assert call("POST", f"{other}/api/v1/accounts", place.cleo, taken).status_code == 409


def test_a_browser_goes_from_server_to_server(pair: tuple[str, str], place: Place) -> None:
    one, other = pair
    session = "/api/v1/session"
    with httpx.Client(timeout=60) as browser:
        signed = browser.post(f"{one}{session}", json={"token": place.ann})
        assert signed.status_code == 201
        shown = browser.get(f"{other}{session}").json()
        assert (shown["name"], shown["csrf"]) == ("ann", signed.json()["csrf"])
        body = {"sql": COUNT, "within": 60}
        bare = browser.post(f"{other}{PEOPLE}/ask", json=body)
        assert bare.status_code == 403
        headers = {"X-CSRF-Token": shown["csrf"]}
        assert browser.post(f"{other}{PEOPLE}/ask", json=body, headers=headers).status_code == 200
        cookie = {"Cookie": f"eke_session={browser.cookies['eke_session']}"}
        assert browser.delete(f"{other}{session}", headers=headers).status_code == 204
    assert httpx.get(f"{one}{session}", headers=cookie).status_code == 401


def test_revoking_in_a_shell_ends_browsers_on_all_servers(
    pair: tuple[str, str], place: Place
) -> None:
    session = "/api/v1/session"
    signed = httpx.post(f"{pair[0]}{session}", json={"token": place.ann})
    cookie = {"Cookie": signed.headers["set-cookie"].partition(";")[0]}
    assert [httpx.get(f"{url}{session}", headers=cookie).status_code for url in pair] == [200, 200]
    with closing(Access(place.accounts)) as access:
        access.revoke(place.ann.split("_")[1])
    assert [httpx.get(f"{url}{session}", headers=cookie).status_code for url in pair] == [401, 401]


# -- jobs ----------------------------------------------------------------------------------------


def test_a_job_is_followed_and_taken_back_at_the_other_server(
    pair: tuple[str, str], place: Place, gate: threading.Event
) -> None:
    one, other = pair
    first, second, third = (
        call("POST", f"{one}{PEOPLE}/publications", place.ann, ROWS, f"rows-{n}").json()
        for n in range(3)
    )
    jobs = f"{other}{PEOPLE}/jobs"
    reached(f"{jobs}/{first['id']}", place.ann, "running")
    listed = call("GET", jobs, place.ann).json()["jobs"]
    assert {entry["id"] for entry in listed} == {first["id"], second["id"], third["id"]}
    full = call("POST", f"{other}{PEOPLE}/publications", place.ann, ROWS, "more")
    assert full.status_code == 429, "an account has three jobs on all servers together"
    # A server that starts, and one that stops, leave the jobs of the living alone.
    with place.server() as third_server:
        assert call("GET", f"{third_server}{PEOPLE}/jobs", place.ann).json()["jobs"] == listed
    for asked, state in ((second, "cancelled"), (first, "running")):
        found = call("DELETE", f"{jobs}/{asked['id']}", place.ann)
        assert (found.status_code, found.json()["state"]) == (200, state)
    gate.set()
    assert reached(f"{jobs}/{first['id']}", place.ann, "cancelled", "done")["state"] == "cancelled"
    done = reached(f"{jobs}/{third['id']}", place.ann, "cancelled", "done")
    assert done == call("GET", f"{one}{PEOPLE}/jobs/{third['id']}", place.ann).json()
    assert (done["state"], done["progress"], done["charged"]) == ("done", 1.0, True)
    assert call("DELETE", f"{jobs}/{third['id']}", place.ann).status_code == 409
    assert place.curator().budget.spent == pytest.approx(0.3, rel=1e-2)
    same = call("POST", f"{other}{PEOPLE}/publications", place.ann, ROWS, "rows-2").json()
    assert same == done, "the same key, the same job, at whichever server"


def test_a_key_sent_to_both_at_once_is_one_job(pair: tuple[str, str], place: Place) -> None:
    # FastAPI makes ready what reads a body at the first request, and hides warnings of that in a
    # way that threads disturb; here warnings are errors.
    for url in pair:
        assert call("POST", f"{url}{PEOPLE}/publications", place.ann, {}).status_code == 422

    def post(number: int) -> Any:
        address = f"{pair[number % 2]}{PEOPLE}/publications"
        # Few long requests of one account wait at a server; the others are told to come back.
        while (found := call("POST", address, place.ann, ROWS, "rows")).status_code == 429:
            assert found.json()["error"] == "Busy"
        assert found.status_code == 202, found.text
        return found.json()["id"]

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(post, range(16)))
    assert len(ids) == 1
    done = reached(f"{pair[0]}{PEOPLE}/jobs/{ids.pop()}", place.ann, "done", "failed")
    assert done["state"] == "done"
    curator = place.curator()
    assert [one.sequence for one in curator.archive.publications()] == [done["publication"]]
    kinds = [entry.kind for entry in curator.ledger_entries()]
    assert kinds.count("reserve") == kinds.count("commit") == 1


def test_a_job_of_a_killed_server_is_reported_and_goes_on_at_the_other(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process dies after the charge and before the rows; here the lease is 3 seconds."""
    monkeypatch.setattr(job_store, "LEASE_SECONDS", 3.0)
    monkeypatch.setattr(job, "_BEAT_SECONDS", 0.1)
    with place.server() as alive:
        with place.process(EKE_FAILPOINT="engine.counted") as (started, url):
            made = call("POST", f"{url}{PEOPLE}/publications", place.ann, ROWS, "rows")
            assert made.status_code == 202
            started.wait(60)
        spent = place.curator().budget.spent
        assert spent > 0
        address = f"{alive}{PEOPLE}/jobs/{made.json()['id']}"
        told = reached(address, place.ann, "interrupted", "done", "failed")
        assert (told["state"], told["charged"]) == ("interrupted", True)
        assert "same Idempotency-Key" in told["advice"]
        again = call("POST", f"{alive}{PEOPLE}/publications", place.ann, ROWS, "rows")
        assert again.json()["id"] == made.json()["id"]
        done = reached(address, place.ann, "interrupted", "done", "failed")
        assert done["state"] == "done"
    curator = place.curator()
    assert curator.budget.spent == spent, "it was paid for"
    assert [one.sequence for one in curator.archive.publications()] == [done["publication"]]
    kinds = [entry.kind for entry in curator.ledger_entries()]
    assert kinds.count("reserve") == kinds.count("commit") == 1
    assert curator.verify().intact
