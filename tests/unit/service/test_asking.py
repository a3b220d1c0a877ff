"""Asking over HTTP: the answers of the session, priced, stored under keys, and refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import eke
from eke.service.gate import SECURITY_HEADERS
from tests.service import BY_SEX, COUNT, DOMAIN, Server, people, serving

PEOPLE = "/api/v1/datasets/people"


def test_paid_then_free(server: Server) -> None:
    first = server.ask(COUNT, 40).json()
    assert first["kind"] == "number"
    assert first["source"] == "measured"
    assert first["low"] <= first["value"] <= first["high"]
    assert first["why"].startswith("Paid")
    second = server.ask(COUNT, 40).json()
    assert second["source"] == "history"
    assert second["cost"] == 0
    assert second["value"] == first["value"]
    assert server.session.budget.spent == pytest.approx(first["cost"])
    assert [m.analyst for m in server.session.history] == ["ann"]


def test_a_price_instead_of_an_accuracy(server: Server) -> None:
    body = {"sql": COUNT, "spend": 0.1}
    offer = server.call("POST", f"{PEOPLE}/preview", "ann", body).json()
    found = server.call("POST", f"{PEOPLE}/ask", "ann", body).json()
    assert found["cost"] <= 0.1 == offer["spend"]
    assert found["receipt"]["spend_nano"] == 100_000_000
    assert (found["high"] - found["low"]) / 2 == pytest.approx(offer["within"], rel=1e-3)
    for wrong in ({"spend": 0}, {"spend": "0.1"}, {"spend": 0.1, "groups_of": 0}):
        assert server.call("POST", f"{PEOPLE}/ask", "ann", {"sql": COUNT, **wrong}).status == 422
    for share in ("2", "two %", "2%%", "1e1 %"):
        assert (
            server.call("POST", f"{PEOPLE}/ask", "ann", {"sql": COUNT, "within": share}).status
            == 422
        )
    found = server.call("POST", f"{PEOPLE}/ask", "ann", {"sql": COUNT, "within": "30 %"}).json()
    assert found["receipt"]["share"] == 0.3
    both = server.call("POST", f"{PEOPLE}/ask", "ann", {**body, "within": 5})
    assert (both.status, both.json()["error"]) == (400, "AccuracyError")
    refused = server.call("POST", f"{PEOPLE}/ask", "ann", {"sql": COUNT, "spend": 50})
    assert refused.status == 402
    assert refused.json()["refusal"]["remaining"] == server.session.remaining


def test_groups_come_as_rows_with_intervals(server: Server) -> None:
    found = server.ask(BY_SEX, 60).json()
    assert found["columns"] == [{"name": "sex", "key": True}, {"name": "n", "key": False}]
    assert [row[0] for row in found["rows"]] == ["Female", "Male"]
    for row in found["rows"]:
        assert row[1]["low"] <= row[1]["value"] <= row[1]["high"]


@pytest.mark.parametrize("value", ["AVG(age)", "SUM(age * 3) / SUM(age * 7)", "STDDEV(age)"])
def test_a_posterior_of_what_hardly_varies_comes_as_well(server: Server, value: str) -> None:
    """Before, the answer was paid for and could not be sent, then or ever after."""
    text = f"SELECT {value} AS v FROM people WHERE age = 20"
    body = {"sql": text, "spend": 0.2, "posterior": True}
    sent = server.call("POST", f"{PEOPLE}/ask", "ann", body)
    assert sent.status == 200
    assert sent.json()["kind"] == "number"
    assert len(sent.json()["posterior"]["points"]) >= 1


def test_a_posterior_comes_when_it_is_asked_for(server: Server) -> None:
    body = {"sql": COUNT, "within": 40, "posterior": True}
    drawn = server.call("POST", f"{PEOPLE}/ask", "ann", body).json()["posterior"]
    step = drawn["points"][1] - drawn["points"][0]
    assert sum(drawn["density"]) * step == pytest.approx(1.0, abs=0.02)
    assert "posterior" not in server.ask(COUNT, 40).json()


def test_a_key_gives_the_same_bytes_and_is_bound_to_request_and_analyst(server: Server) -> None:
    first = server.ask(COUNT, 40, Idempotency_Key="monday-1")
    server.ask(COUNT, 10)
    again = server.ask(COUNT, 40, Idempotency_Key="monday-1")
    assert again.body == first.body
    other = server.ask(COUNT, 41, Idempotency_Key="monday-1")
    assert other.status == 409
    assert other.json()["error"] == "KeyConflict"
    else_ = server.ask(COUNT, 41, "cleo", Idempotency_Key="monday-1")
    assert else_.status == 200


@pytest.mark.parametrize("key", ["", "a b", "ü", "x" * 201, "tab\there"])
def test_bad_keys_cost_nothing(server: Server, key: str) -> None:
    body = json.dumps({"sql": COUNT, "within": 40})
    headers = {
        "Authorization": f"Bearer {server.tokens['ann']}",
        "Content-Type": "application/json",
        "Idempotency-Key": key,
    }
    found = server.send("POST", f"{PEOPLE}/ask", headers, body.encode())
    assert found.status == 422
    assert server.session.budget.spent == 0


def test_refusals_say_what_is_available(server: Server) -> None:
    server.ask(COUNT, 40)
    found = server.ask(COUNT, 0.5)
    assert found.status == 402
    body = found.json()
    assert body["error"] == "Refused"
    assert body["refusal"]["known"] == pytest.approx(40, rel=0.01)
    assert body["refusal"]["narrowest"] < 10
    assert "Nothing was spent" in body["message"]


def test_many_questions_each_by_itself(server: Server) -> None:
    questions = [
        {"sql": COUNT, "within": 40},
        {"sql": "SELECT nothing", "within": 40},
        {"sql": COUNT, "within": 0.1},
        {"sql": COUNT, "within": 40},
    ]
    sent = {"questions": questions}
    found = server.call("POST", f"{PEOPLE}/ask-many", "ann", sent, Idempotency_Key="k")
    errors = [one["error"] and one["error"]["error"] for one in found.json()["results"]]
    assert errors == [None, "SqlError", "Refused", None]
    assert found.json()["results"][3]["answer"]["source"] == "history"
    again = server.call("POST", f"{PEOPLE}/ask-many", "ann", sent, Idempotency_Key="k")
    assert again.body == found.body


def test_previews_curves_and_explanations_are_free(server: Server) -> None:
    seen = server.call("POST", f"{PEOPLE}/preview", "otto", {"sql": COUNT, "within": 40}).json()
    assert seen["action"] == "measure"
    curve = server.call(
        "POST", f"{PEOPLE}/curve", "ann", {"sql": COUNT, "within": [0.1, 10, 40]}
    ).json()["curve"]
    assert [point["action"] for point in curve] == ["refuse", "measure", "measure"]
    assert curve[1]["cost"] > curve[2]["cost"] == seen["cost"]
    told = server.call("POST", f"{PEOPLE}/explain", "ann", {"sql": BY_SEX, "within": 40}).json()
    assert told["aggregates"]["a0"]["cells"] == 2
    assert server.session.budget.spent == 0


def test_sql_errors_have_their_place(server: Server) -> None:
    found = server.ask("SELECT COUNT(*) FROM people WHERE agee > 40", 40)
    assert found.status == 400
    assert found.json() == {
        "error": "SqlError",
        "message": "there is no column 'agee'; did you mean 'age'?",
        "status": 400,
        "line": 1,
        "column": 35,
    }


def test_reading(server: Server) -> None:
    server.ask(COUNT, 40)
    server.ask("SELECT COUNT(*) FROM people WHERE sex = 'Male'", 40, "cleo")
    listed = server.call("GET", "/api/v1/datasets", "ann").json()["datasets"]
    assert [(one["name"], one["cells"]) for one in listed] == [("people", 60)]
    about = server.call("GET", PEOPLE, "ann").json()
    assert about["neighbours"] == "add_remove"
    schema = server.call("GET", f"{PEOPLE}/schema", "ann").json()
    assert schema["order"] == ["sex", "age", "city"]
    budget = server.call("GET", f"{PEOPLE}/budget", "ann").json()
    assert budget["yours"]["spent"] == pytest.approx(0.0747, abs=0.001)
    assert "analysts" not in budget
    shares = server.call("GET", f"{PEOPLE}/budget", "otto").json()["analysts"]
    assert sum(one["spent"] for one in shares) == pytest.approx(budget["spent"])
    line = server.call("GET", f"{PEOPLE}/budget/timeline", "ann").json()["timeline"]
    assert [one["spent"] for one in line] == sorted(one["spent"] for one in line)
    assert line[-1]["spent"] == budget["spent"]
    losses = server.call("GET", f"{PEOPLE}/budget/attributes", "ann").json()["attributes"]
    by_sex = dict(zip(losses[0]["labels"], losses[0]["losses"], strict=True))
    assert by_sex["Male"] > by_sex["Female"] > 0
    history = server.call("GET", f"{PEOPLE}/history?limit=1", "ann").json()
    assert len(history["measurements"]) == 1
    rest = server.call("GET", f"{PEOPLE}/history?after={history['next']}", "ann").json()
    assert rest["next"] is None
    assert [m["analyst"] for m in rest["measurements"]] == ["cleo"]
    one = server.call("GET", f"{PEOPLE}/history/4", "ann").json()
    assert one["analyst"] == "ann"
    assert server.call("GET", f"{PEOPLE}/history/1", "ann").status == 404
    ledger = server.call("GET", f"{PEOPLE}/ledger", "otto").json()
    assert [entry["kind"] for entry in ledger["entries"]][:2] == ["genesis", "reserve"]
    assert ledger["mark"]["sequence"] == len(ledger["entries"])
    assert server.call("GET", f"{PEOPLE}/ledger/verification", "otto").json()["intact"]


def test_a_page_of_the_history_ends_with_an_entry(server: Server) -> None:
    """A release is several measurements of one entry: none of them may fall between two pages."""
    session = server.session
    session.release(session.plan(eke.marginals_up_to(session.domain, 1), budget=0.05))
    server.ask(COUNT, 5)
    everything = session.history.to_records()
    assert len(everything) > len({record["sequence"] for record in everything}), "entries with many"
    found, after = list[Any](), 0
    while after is not None:
        page = server.call("GET", f"{PEOPLE}/history?limit=1&after={after}", "ann").json()
        found += page["measurements"]
        after = page["next"]
    assert found == everything


def test_history_can_be_each_ones_own(folder: Path) -> None:
    with serving(folder, sharing="own") as server:
        server.ask(COUNT, 40, "cleo")
        server.ask(BY_SEX, 40, "ann")
        mine = server.call("GET", f"{PEOPLE}/history", "ann").json()
        assert {m["analyst"] for m in mine["measurements"]} == {"ann"}
        assert mine["sharing"] == "own"
        all_ = server.call("GET", f"{PEOPLE}/history", "otto").json()["measurements"]
        assert {m["analyst"] for m in all_} == {"ann", "cleo"}
        hers = next(m["sequence"] for m in all_ if m["analyst"] == "cleo")
        assert server.call("GET", f"{PEOPLE}/history/{hers}", "ann").status == 404
        line = server.call("GET", f"{PEOPLE}/budget/timeline", "ann").json()["timeline"]
        assert {one["analyst"] for one in line} == {None, "ann"}
        told = server.call("POST", f"{PEOPLE}/explain", "ann", {"sql": COUNT}).json()
        sources = told["aggregates"]["a0"]["sources"]
        assert "a measurement of somebody else" in {one["question"] for one in sources}


def test_caps_and_limits_are_the_curators(server: Server) -> None:
    put = server.call("PUT", f"{PEOPLE}/caps/ann", "cleo", {"cap": 0.05})
    assert put.json()["analysts"] == [{"name": "ann", "spent": 0, "cap": 0.05}]
    assert server.ask(COUNT, 40).status == 402
    assert server.call("GET", f"{PEOPLE}/budget", "ann").json()["yours"]["remaining"] == 0.05
    assert server.ask(COUNT, 70).status == 200
    server.call("PUT", f"{PEOPLE}/caps/ann", "cleo", {"cap": None})
    assert server.ask(COUNT, 40).status == 200
    changed = server.call("PUT", f"{PEOPLE}/limit", "cleo", {"limit": 2})
    assert changed.json()["limit"] == 2
    assert server.call("PUT", f"{PEOPLE}/limit", "cleo", {"limit": 1e-6}).status == 402
    assert [e.payload["by"] for e in server.session.ledger_entries() if e.kind == "limit"] == [
        "cleo"
    ]


def test_every_answer_has_the_security_headers(server: Server) -> None:
    for found in (
        server.call("GET", "/health"),
        server.call("GET", "/api/v1/nowhere"),
        server.call("GET", "/console/"),
        server.ask(COUNT, 40),
        server.call("POST", f"{PEOPLE}/ask", "ann", "no"),
    ):
        assert {n: found.headers[n.lower()] for n in SECURITY_HEADERS} == SECURITY_HEADERS
    assert "unsafe" not in SECURITY_HEADERS["Content-Security-Policy"]
    assert server.call("GET", "/health").json() == {"status": "ok"}


def test_metrics_count(server: Server) -> None:
    server.ask(COUNT, 40)
    server.ask(COUNT, 40)
    server.ask(COUNT, 0.01)
    text = server.call("GET", "/metrics", "otto").text
    for line in (
        'eke_answers_total{dataset="people",source="history"} 1',
        'eke_answers_total{dataset="people",source="measured"} 1',
        'eke_answers_total{dataset="people",source="refused"} 1',
        'eke_budget_limit{dataset="people",measure="epsilon"} 1',
        'eke_request_seconds_count{route="/api/v1/datasets/{name}/ask"} 3',
    ):
        assert line in text.splitlines()


def test_a_table_of_more_cells_than_can_be_kept_one_by_one(folder: Path) -> None:
    """Counts by columns come whole, are free the second time, and can be taken along as a file."""
    domain = eke.Domain(x=eke.Integer(0, 79), y=eke.Integer(0, 63), z=eke.Integer(0, 2))
    rows = range(20_000)
    table = pd.DataFrame(
        {"x": [n % 80 for n in rows], "y": [n // 80 % 64 for n in rows], "z": [n % 3 for n in rows]}
    )
    by_both = "SELECT x, y, COUNT(*) AS n FROM people GROUP BY x, y"
    with serving(folder, 2.0, table=table, domain=domain) as server:
        offer = server.call("POST", f"{PEOPLE}/preview", "ann", {"sql": by_both, "within": 8})
        reply = server.ask(by_both, 8, Idempotency_Key="all")
        assert reply.status == 200, reply.text[:300]
        found = reply.json()
        assert len(found["rows"]) == 80 * 64 > 4096
        assert found["cost"] == pytest.approx(offer.json()["cost"], rel=1e-6)
        assert [row[:2] for row in found["rows"][:65]] == [[n // 64, n % 64] for n in range(65)]
        truth = table.groupby(["x", "y"]).size()
        far = [
            row for row in found["rows"] if not row[2]["low"] <= truth[*row[:2]] <= row[2]["high"]
        ]
        assert len(far) <= 400  # 256 are expected at confidence 0.95; 400 are nine deviations more
        assert all(row[2]["high"] - row[2]["low"] <= 16.001 for row in found["rows"])
        again = server.ask(by_both, 8).json()
        assert (again["source"], again["rows"]) == ("history", found["rows"])
        assert server.ask(by_both, 8, Idempotency_Key="all").body == reply.body
        kept = server.call("GET", f"{PEOPLE}/answers/{found['entry']}?format=csv", "ann")
        assert len(kept.text.splitlines()) == 1 + 80 * 64
        for value in ("SUM(z)", "COUNT(*) FILTER (WHERE z = 1)", "AVG(z)"):
            refused = server.ask(by_both.replace("COUNT(*)", value), 8)
            assert refused.status == 400
            message = refused.json()["message"]
            assert "5,120 groups and at most 4,096 can be asked at once" in message
            assert "ask for COUNT(*) alone by x, y, z (15,360 groups)" in message
        assert server.session.budget.spent == pytest.approx(found["cost"])


@pytest.mark.parametrize(
    ("sql", "advice"),
    [
        (f"{COUNT} UNION ALL SELECT COUNT(*) FROM other", "a question is about one dataset"),
        ("SELECT COUNT(*) / (SELECT COUNT(*) FROM other) FROM people", "ask each by itself"),
        (f"{COUNT} JOIN other USING (age)", "'other' is no declared lookup; records are joined"),
        (f"{COUNT}, other", "join a declared lookup by its keys"),
        (f"{COUNT} WHERE age IN (SELECT age FROM other)", "write the condition itself"),
    ],
)
def test_two_datasets_in_one_statement_are_refused_with_advice(
    server: Server, sql: str, advice: str
) -> None:
    """Both are served, and whoever asks may see both."""
    other = eke.create(server.folder / "other.eke", people(), DOMAIN, epsilon=1.0)
    server.app.state.eke.datasets.add("other", other)
    refused = server.ask(sql, 40)
    assert (refused.status, refused.json()["error"]) == (400, "SqlError")
    assert advice in refused.json()["message"]
    assert refused.json()["column"] > 1
    assert server.session.budget.spent == other.budget.spent == 0
