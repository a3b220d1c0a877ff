"""Publications over HTTP: jobs that are paid once, whatever happens to them."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import eke
from eke.engine import measuring
from eke.publish import Published
from eke.service import Access, Datasets, Settings, create_app, job_store
from eke.service import job as job_module
from eke.service.job import MOST_OF_ONE_ACCOUNT
from eke.service.job_store import JobStore
from eke.service.route import publishing
from eke.service.storage import StorageUnavailable
from eke.session import Session
from eke.session.publish.published import CHECKING, PAYING
from tests.service import (
    BY_SEX,
    COUNT,
    DOMAIN,
    Server,
    finished,
    hold_publications,
    people,
    serving,
)

PEOPLE = "/api/v1/datasets/people"
ROWS: dict[str, Any] = {"mechanism": "lda", "epsilon": 0.3, "options": {"target": "sex"}}


def post(server: Server, body: Any = ROWS, who: str = "ann", **headers: str) -> Any:
    found = server.call("POST", f"{PEOPLE}/publications", who, body, **headers)
    assert found.status == 202, found.text
    return found.json()


def job(server: Server, made: Any, who: str = "cleo") -> Any:
    return server.call("GET", f"{PEOPLE}/jobs/{made['id']}", who).json()


def ended(server: Server, made: Any) -> Any:
    while (found := job(server, made))["state"] in ("queued", "running"):
        time.sleep(0.02)
    return found


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """While it is not set, every job waits before it looks at its request."""
    opened = hold_publications(monkeypatch)
    yield opened
    opened.set()


def test_a_publication_is_made_in_the_background_and_kept(server: Server) -> None:
    made = post(server, Idempotency_Key="rows-1")
    number = finished(server, made)
    done = job(server, made)
    assert (done["state"], done["progress"], done["charged"]) == ("done", 1.0, True)
    assert server.session.budget.spent == pytest.approx(0.3, rel=1e-2)
    listed = server.call("GET", f"{PEOPLE}/publications", "otto").json()["publications"]
    assert [(one["sequence"], one["mechanism"]) for one in listed] == [(number, "lda")]
    place = f"{PEOPLE}/publications/{number}"
    shown = server.call("GET", place, "ann").json()
    assert shown["attributes"] == ["sex", "age", "city"]
    assert len(shown["first_rows"]) == 8
    assert {tuple(one["attributes"]) for one in shown["report"]} >= {("sex",), ("city",)}
    assert all(0 <= one["error"] <= 2 for one in shown["report"])
    csv = server.call("GET", f"{place}/rows", "ann")
    parquet = server.call("GET", f"{place}/rows?format=parquet", "ann")
    coded = server.call("GET", f"{place}/rows?format=json", "ann")
    frame = pd.read_csv(io.BytesIO(csv.body))
    assert len(frame) == shown["rows"]
    assert frame.equals(pd.read_parquet(io.BytesIO(parquet.body)).astype(frame.dtypes))
    assert len(Published.from_text(DOMAIN, coded.text)) == shown["rows"]
    assert post(server, Idempotency_Key="rows-1") == done, "the same key, the same job"
    assert server.session.publish(
        "lda", epsilon=0.3, target="sex", key="rows-1", analyst="ann"
    ).to_text() == (coded.text), "and the same rows here"


def test_a_report_is_a_page_by_itself(server: Server) -> None:
    """Its own style and no scripts, shown in the console's frames alone; the same as here."""
    made = post(server, {"mechanism": "max_entropy", "epsilon": 0.5, "options": {}})
    number = finished(server, made)
    found = server.call("GET", f"{PEOPLE}/publications/{number}/report", "otto")
    assert found.status == 200
    assert found.headers["content-type"].startswith("text/html")
    assert found.text == server.session.archive.report(number)
    assert "<script" not in found.text
    assert "&lt;script&gt;alert(1)" in found.text
    policy = found.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "frame-ancestors 'self'" in policy
    assert found.headers["x-frame-options"] == "SAMEORIGIN"
    assert found.headers["x-content-type-options"] == "nosniff"
    nowhere = server.call("GET", f"{PEOPLE}/publications/1/report", "otto")
    assert nowhere.status == 404
    assert "frame-ancestors 'none'" in nowhere.headers["content-security-policy"]


def test_a_report_holds_nothing_of_others_where_they_are_hidden(folder: Path) -> None:
    """Rows from history follow what everybody measured; ann has measured nothing."""
    with serving(folder, sharing="own") as server:
        server.ask(BY_SEX, 40, "cleo")
        free = {"mechanism": "max_entropy", "options": {"from_history": True}}
        number = finished(server, post(server, free))
        place = f"{PEOPLE}/publications/{number}/report"
        own, every = (server.call("GET", place, who).text for who in ("ann", "cleo"))
        assert "measured tables compared" not in own
        assert "measured tables compared" in every


def test_rows_are_asked_for_nothing(server: Server) -> None:
    """With the numbers that the rows give here; what is wrong is a 400, 404 or 422."""
    made = post(server, {"mechanism": "max_entropy", "epsilon": 0.5, "options": {}})
    number = finished(server, made)
    spent = server.session.budget.spent
    place = f"{PEOPLE}/publications/{number}/estimate"
    women = "SELECT COUNT(*) FROM people WHERE sex = 'Female'"
    told = server.call("POST", place, "otto", {"sql": women, "confidence": 0.8})
    assert told.status == 200, told.text
    here = server.session.archive.estimate(number, women, confidence=0.8)
    assert told.json() == {"kind": "rows", **here.to_dict()}
    linear = eke.count(sex="Female").on(DOMAIN).to_document()
    assert server.call("POST", place, "ann", {"query": linear}).json()["value"] == here.value
    for body, status in (
        ({"sql": women, "confidence": 1.0}, 422),
        ({"sql": women, "confidence": "0.9"}, 422),
        ({"sql": women, "method": "blue"}, 422),
        ({}, 422),
        ({"sql": "SELECT sex, COUNT(*) FROM people GROUP BY sex"}, 400),
        ({"sql": "SELECT COUNT(*) FROM people WHERE height = 3"}, 400),
        ({"sql": "SELECT MEDIAN(age) + 1 FROM people"}, 400),
    ):
        assert server.call("POST", place, "ann", body).status == status, body
    nowhere = f"{PEOPLE}/publications/1/estimate"
    assert server.call("POST", nowhere, "ann", {"sql": women}).status == 404
    assert server.session.budget.spent == spent


def test_a_key_belongs_to_one_request(server: Server, gate: threading.Event) -> None:
    made = post(server, Idempotency_Key="one")
    other = {**ROWS, "epsilon": 0.2}
    headers = {"Idempotency_Key": "one"}
    assert server.call("POST", f"{PEOPLE}/publications", "ann", other, **headers).status == 409
    assert post(server, Idempotency_Key="one")["id"] == made["id"]
    server.ask(COUNT, 60, Idempotency_Key="two")
    headers = {"Idempotency_Key": "two"}
    used = server.call("POST", f"{PEOPLE}/publications", "ann", ROWS, **headers)
    assert used.status == 409, "a key of a question is no key for a publication"
    gate.set()
    finished(server, made)


def test_what_is_too_dear_is_refused_at_once(server: Server) -> None:
    refused = server.call("POST", f"{PEOPLE}/publications", "ann", {**ROWS, "epsilon": 5})
    assert refused.status == 402
    assert "nothing was spent" in refused.json()["message"]
    assert server.call("GET", f"{PEOPLE}/jobs", "ann").json()["jobs"] == []


def test_what_becomes_too_dear_fails_without_a_charge(
    server: Server, gate: threading.Event
) -> None:
    made = post(server, {**ROWS, "epsilon": 0.9}, Idempotency_Key="late")
    server.ask(COUNT, 15, "cleo")
    gate.set()
    failed = ended(server, made)
    assert (failed["state"], failed["error"]["status"]) == ("failed", 402)
    assert not failed["charged"]
    server.session.change_limit(3.0)
    again = post(server, {**ROWS, "epsilon": 0.9}, Idempotency_Key="late")
    assert again["id"] == made["id"]
    finished(server, again)


def test_what_is_not_paid_for_can_be_taken_back(server: Server, gate: threading.Event) -> None:
    running, waiting = post(server), post(server)
    for _ in range(500):
        if job(server, running)["state"] == "running":
            break
        time.sleep(0.01)
    cancelled = server.call("DELETE", f"{PEOPLE}/jobs/{waiting['id']}", "ann").json()
    assert cancelled["state"] == "cancelled"
    asked = server.call("DELETE", f"{PEOPLE}/jobs/{running['id']}", "ann")
    assert asked.status == 200
    gate.set()
    assert ended(server, running)["state"] == "cancelled"
    assert server.session.budget.spent == 0
    done = post(server)
    finished(server, done)
    assert server.call("DELETE", f"{PEOPLE}/jobs/{done['id']}", "ann").status == 409


PAIRS: dict[str, Any] = {"mechanism": "max_entropy", "epsilon": 0.3, "options": {"rows": 50}}


@pytest.mark.parametrize("wanted", [ROWS, PAIRS])
def test_what_is_paid_for_can_be_given_up_and_the_charge_stays(
    server: Server, monkeypatch: pytest.MonkeyPatch, wanted: dict[str, Any]
) -> None:
    """The worker is free for others, and the same key finishes what was paid for."""
    inside, leave = _hold_when_paid(monkeypatch)
    made = post(server, wanted, Idempotency_Key="rows")
    assert inside.wait(60)
    other = post(server, {**ROWS, "epsilon": 0.01}, "cleo")
    spent = server.session.budget.spent
    given_up = server.call("DELETE", f"{PEOPLE}/jobs/{made['id']}", "ann")
    assert given_up.status == 200
    told = given_up.json()
    assert (told["state"], told["charged"], told["publication"]) == ("given_up", True, None)
    assert "the charge stays" in told["advice"]
    assert server.call("DELETE", f"{PEOPLE}/jobs/{made['id']}", "ann").status == 409, "it is over"
    leave.set()
    finished(server, other)
    assert job(server, made) == told, "it was not finished behind anybody's back"
    assert "eke_jobs_total" in (metrics := server.call("GET", "/metrics", "otto").text)
    assert 'outcome="given_up"} 1' in metrics
    assert server.session.budget.spent >= spent > 0, "nothing is given back"
    drawn = _draws_of(server, "ann")
    assert drawn, "what was drawn is kept"
    again = post(server, wanted, Idempotency_Key="rows")
    assert again["id"] == made["id"]
    finished(server, again)
    charges = [one for one in server.session.ledger_entries() if one.kind == "reserve"]
    assert [one.about["analyst"] for one in charges] == ["ann", "cleo"], "one charge each"
    assert _draws_of(server, "ann")[: len(drawn)] == drawn, "and used: nothing is drawn twice"
    if wanted is ROWS:  # it draws once; the other goes on with what it was about to draw
        assert len(_draws_of(server, "ann")) == len(drawn)


def test_what_is_given_up_and_wanted_again_at_once_goes_on(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker never noticed."""
    inside, leave = _hold_when_paid(monkeypatch)
    made = post(server, Idempotency_Key="rows")
    assert inside.wait(60)
    server.call("DELETE", f"{PEOPLE}/jobs/{made['id']}", "ann")
    assert post(server, Idempotency_Key="rows")["state"] == "queued"
    leave.set()
    finished(server, made)
    entries = [one.kind for one in server.session.ledger_entries()]
    assert entries.count("reserve") == entries.count("commit") == 1


def test_what_is_paid_for_and_waits_is_given_up(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted after the charge and asked for again, it waits with a charge."""
    server.session.publish("lda", epsilon=0.3, target="sex", key="rows", analyst="ann")
    opened = hold_publications(monkeypatch)
    post(server, {**ROWS, "epsilon": 0.01}, "cleo")  # runs, at the gate
    made = post(server, Idempotency_Key="rows")
    told = server.call("DELETE", f"{PEOPLE}/jobs/{made['id']}", "ann").json()
    assert (told["state"], told["charged"]) == ("given_up", True)
    opened.set()


def test_accounts_are_served_in_turns(server: Server, gate: threading.Event) -> None:
    """Somebody with one job does not wait for all three of somebody else."""
    small = {**ROWS, "epsilon": 0.01}
    made = [post(server, small, who) for who in ("ann", "ann", "ann", "cleo")]
    gate.set()
    for one in made:
        finished(server, one)
    jobs = [job(server, one) for one in made]
    order = sorted(jobs, key=lambda one: one["ended_at"])
    assert [one["account"] for one in order] == ["ann", "cleo", "ann", "ann"]


@pytest.mark.parametrize(
    "wanted",
    [
        {"mechanism": "max_entropy", "epsilon": 0.5, "options": {}},
        {"mechanism": "lda", "epsilon": 0.5, "options": {"target": "sex"}},
    ],
)
def test_rows_that_follow_a_noisy_total_are_cut_to_the_cap(
    server: Server, monkeypatch: pytest.MonkeyPatch, wanted: dict[str, Any]
) -> None:
    """The table has 400 rows, and the noise on that is small."""
    monkeypatch.setattr(job_module, "MOST_ROWS", 50)
    monkeypatch.setattr(publishing, "MOST_ROWS", 50)
    number = finished(server, post(server, wanted))
    shown = server.call("GET", f"{PEOPLE}/publications/{number}", "ann").json()
    assert shown["rows"] == 50
    assert "50" in str(shown["notes"]) + str(shown["receipt"]), "the receipt says so"


def test_more_rows_than_the_cap_are_refused_before_the_charge(
    folder: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked for, or as many as the table publicly has."""
    monkeypatch.setattr(job_module, "MOST_ROWS", 50)
    monkeypatch.setattr(publishing, "MOST_ROWS", 50)
    replaced = eke.Replace("Male")
    domain = eke.Domain(
        sex=eke.Categorical("Female", "Male", null=replaced, outside=replaced),
        age=eke.Integer(17, 26, null=eke.Replace(17), outside="clamp"),
    )
    known = eke.create(
        folder / "known.eke", people(), domain, epsilon=1.0, neighbours="replace_one"
    )
    server.app.state.eke.datasets.add("known", known)
    asked = {"mechanism": "max_entropy", "epsilon": 0.5, "options": {"rows": 51}}
    total = {"mechanism": "pca", "epsilon": 0.5, "options": {}}
    for name, wanted in (("people", asked), ("known", total)):
        for address in ("publications", "publications/preview"):
            place = f"/api/v1/datasets/{name}/{address}"
            refused = server.call("POST", place, "ann", wanted)
            assert refused.status == 400
            assert "50" in refused.json()["message"]
    assert known.budget.spent == server.session.budget.spent == 0


def _draws_of(server: Server, analyst: str) -> list[Any]:
    """What the ledger keeps of an account's draws, in order."""
    entries = list(server.session.ledger_entries())
    charges = {
        one.sequence for one in entries if one.kind == "reserve" and one.about["analyst"] == analyst
    }
    return [
        one.payload["draws"]
        for one in entries
        if one.kind == "draw" and one.payload["reservation"] in charges
    ]


def _hold_when_paid(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """(set when a job has touched data, what lets it go on)."""
    inside, leave = threading.Event(), threading.Event()

    def hold(name: str) -> None:
        if name == "engine.counted" and threading.current_thread().name == "eke-jobs":
            inside.set()
            leave.wait(60)

    monkeypatch.setattr(measuring, "failpoint", hold)
    return inside, leave


def test_an_account_has_few_jobs_at_a_time(server: Server, gate: threading.Event) -> None:
    small = {**ROWS, "epsilon": 0.01}
    for _ in range(MOST_OF_ONE_ACCOUNT):
        post(server, small)
    full = server.call("POST", f"{PEOPLE}/publications", "ann", small)
    assert full.status == 429
    assert full.headers["retry-after"] == "30"
    assert post(server, small, "cleo")["state"] == "queued", "another account may"
    assert "eke_jobs_waiting 4" in server.call("GET", "/metrics", "otto").text
    for one in server.call("GET", f"{PEOPLE}/jobs", "cleo").json()["jobs"]:
        server.call("DELETE", f"{PEOPLE}/jobs/{one['id']}", "cleo")


def test_jobs_are_their_owners(server: Server) -> None:
    made = post(server, who="cleo")
    finished(server, made)
    assert server.call("GET", f"{PEOPLE}/jobs/{made['id']}", "ann").status == 404
    assert server.call("GET", f"{PEOPLE}/jobs", "ann").json()["jobs"] == []
    assert job(server, made, "otto")["account"] == "cleo"


class Death(BaseException):
    """Stands for a process that dies."""


@pytest.mark.parametrize("place", [None, "engine.counted"])
def test_a_restart_reports_the_truth_and_the_key_goes_on(
    folder: Path, monkeypatch: pytest.MonkeyPatch, place: str | None
) -> None:
    """Before the charge nothing is spent; after it, the same key finishes what was paid for."""
    with serving(folder) as server:

        def die(name: str) -> None:
            if name == place:
                raise Death

        if place is None:
            monkeypatch.setattr(Session, "publish", _die)
        monkeypatch.setattr(measuring, "failpoint", die)
        monkeypatch.setattr(threading, "excepthook", lambda _: None)
        made = post(server, Idempotency_Key="rows")
        worker = server.app.state.eke.jobs._worker
        worker.join(60)
        monkeypatch.undo()
        assert job(server, made)["state"] == "running", "nobody told the file otherwise"
        access = Access(folder / "access.db", server.clock)
        restarted = create_app(
            Datasets([("people", server.session)]), access, Settings(secure_cookies=False)
        )
        server.app = restarted
        told = job(server, made)
        assert (told["state"], told["charged"]) == ("interrupted", place is not None)
        assert "same Idempotency-Key" in told["advice"]
        spent = server.session.budget.spent
        assert (spent > 0) == (place is not None)
        again = post(server, Idempotency_Key="rows")
        assert again["id"] == made["id"]
        number = finished(server, again)
        assert server.session.budget.spent == pytest.approx(spent or 0.3, rel=1e-2)
        entries = [one.kind for one in server.session.ledger_entries()]
        assert entries.count("reserve") == entries.count("commit") == 1
        assert server.call("GET", f"{PEOPLE}/publications/{number}", "ann").status == 200
        restarted.state.eke.jobs.stop()
        access.close()


def _die(*_: object, **__: object) -> None:
    raise Death


def test_stopping_interrupts_what_waits(server: Server, gate: threading.Event) -> None:
    made = [post(server), post(server)]
    jobs = server.app.state.eke.jobs
    threading.Timer(0.2, gate.set).start()
    jobs.stop()
    states = [job(server, one)["state"] for one in made]
    assert states == ["done", "interrupted"], "the one under way may finish"
    full = server.call("POST", f"{PEOPLE}/publications", "ann", ROWS)
    assert full.status == 429, "a server that stops takes nothing more"


def test_a_store_that_is_away_for_a_while_loses_no_job(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is away when the job begins, after it was paid for, and when it ends."""
    away = {"begin": 2, "get": 2, "move": 1, "end": 2}

    def patch(name: str) -> None:
        plain = getattr(JobStore, name)

        def sometimes(self: JobStore, *words: Any, **named: Any) -> Any:
            late = name != "move" or words[1] not in (CHECKING, PAYING)
            if late and away[name] and threading.current_thread().name == "eke-jobs":
                away[name] -= 1
                raise StorageUnavailable("away")
            return plain(self, *words, **named)

        monkeypatch.setattr(JobStore, name, sometimes)

    monkeypatch.setattr(job_module, "_BEAT_SECONDS", 0.01)
    for name in away:
        patch(name)
    finished(server, post(server))
    assert set(away.values()) == {0}, "each was met"


def test_a_store_that_is_away_before_the_charge_costs_nothing(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(*_: object) -> bool:
        raise StorageUnavailable("postgresql://secret.example")

    with monkeypatch.context() as patched:
        patched.setattr(JobStore, "move", away)
        made = post(server, Idempotency_Key="rows")
        failed = ended(server, made)
    assert (failed["state"], failed["error"]["status"]) == ("failed", 503)
    assert "secret" not in str(failed)
    assert server.session.budget.spent == 0
    finished(server, post(server, Idempotency_Key="rows"))


def test_a_worker_that_died_is_replaced(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(threading, "excepthook", lambda _: None)
        patched.setattr(Session, "publish", _die)
        post(server)
        server.app.state.eke.jobs._worker.join(60)
    finished(server, post(server))


def test_a_lease_is_kept_while_a_job_takes_its_time(
    server: Server, gate: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lease is shorter than the job, and what waits behind it has one as well."""
    monkeypatch.setattr(job_module, "_BEAT_SECONDS", 0.02)
    monkeypatch.setattr(job_store, "LEASE_SECONDS", 3.0)
    made = [post(server), post(server)]
    began = [server.app.state.eke.jobs.get(one["id"]).alive_at for one in made]
    while any(
        server.app.state.eke.jobs.get(one["id"]).alive_at < before + 3.5
        for one, before in zip(made, began, strict=True)
    ):
        assert {job(server, one)["state"] for one in made} <= {"queued", "running"}
        time.sleep(0.05)
    gate.set()
    for one in made:
        finished(server, one)


def test_questions_do_not_wait_for_a_publication(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A job holds the lock of its own vault while it works."""
    inside, leave = _hold_when_paid(monkeypatch)
    made = post(server)
    assert inside.wait(60)
    assert server.ask(COUNT, 60).status == 200
    assert job(server, made)["charged"]
    leave.set()
    finished(server, made)


def test_a_surprise_in_a_job_is_told_without_its_text(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("row 17: Female, 23")

    monkeypatch.setattr(Session, "publish", broken)
    failed = ended(server, post(server))
    assert (failed["state"], failed["error"]["status"]) == ("failed", 500)
    assert "row 17" not in str(failed)


def test_rows_for_a_purpose(server: Server) -> None:
    options = {
        "target": "sex",
        "workload": [["age", "sex"], {"columns": ["age", "sex"], "weight": 5}, {"sql": "SELECT 1"}],
        "rows": 20,
    }
    body = {"mechanism": "max_entropy", "epsilon": 0.3, "options": options}
    refused = server.call("POST", f"{PEOPLE}/publications", "ann", body)
    assert refused.status in (400, 422)
    options["workload"] = options["workload"][:2]  # type: ignore[index]
    assert finished(server, post(server, body))
