"""Answers that last: listed, read again and downloaded by whoever asked, and by nobody else."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import pytest

import eke
from tests.service import BY_SEX, COUNT, DOMAIN, Server

PLACE = "/api/v1/datasets/people"
MEAN = "SELECT AVG(age) AS mean FROM people"


def ask(server: Server, key: str | None, body: dict[str, Any], who: str = "ann") -> dict[str, Any]:
    headers = {} if key is None else {"Idempotency_Key": key}
    found = server.call("POST", f"{PLACE}/ask", who, body, **headers)
    assert found.status == 200, found.json()
    return found.json()  # type: ignore[no-any-return]


def listed(server: Server, who: str = "ann", more: str = "") -> dict[str, Any]:
    return server.call("GET", f"{PLACE}/answers{more}", who).json()  # type: ignore[no-any-return]


def test_answers_are_listed_newest_first_and_asking_again_is_free(server: Server) -> None:
    text = f"{COUNT}\n  WHERE city =\t'b & c'"  # what is shown of it has single blanks
    paid = ask(server, "one", {"sql": text, "within": 60})
    free = ask(server, "two", {"sql": text, "within": 60})
    table = ask(server, None, {"sql": BY_SEX, "within": 50, "confidence": 0.9})
    assert (paid["source"], free["source"]) == ("measured", "history")
    assert table["entry"] is None
    found = listed(server)["answers"]
    assert [one["question"] for one in found] == [
        BY_SEX, f"{COUNT} WHERE city = 'b & c'", f"{COUNT} WHERE city = 'b & c'",
    ]  # fmt: skip
    assert [one["source"] for one in found] == ["measured", "history", "measured"]
    assert [one["entry"] for one in found[1:]] == [free["entry"], paid["entry"]]
    assert found[2]["asked"]["sql"] == text
    before = server.session.budget.spent
    for one in found:
        assert ask(server, None, one["asked"])["source"] == "history"
    assert server.session.budget.spent == before


def test_an_answer_keeps_the_numbers_it_had(server: Server) -> None:
    first = ask(server, "first", {"sql": COUNT, "within": 80})
    ask(server, None, {"sql": COUNT, "within": 20})
    again = server.call("GET", f"{PLACE}/answers/{first['entry']}", "ann").json()
    assert {**again, "posterior": None} == {**first, "posterior": None}
    assert len(again["posterior"]["points"]) > 2


def test_pages_follow_each_other(server: Server) -> None:
    for width in (90, 70, 50):
        ask(server, None, {"sql": COUNT, "within": width})
    whole = [one["entry"] for one in listed(server)["answers"]]
    first = listed(server, more="?limit=2")
    rest = listed(server, more=f"?limit=2&before={first['next']}")
    assert [one["entry"] for one in first["answers"] + rest["answers"]] == whole
    assert rest["next"] is None


@pytest.mark.parametrize("sql", [COUNT, BY_SEX, MEAN])
def test_files_hold_the_answer(server: Server, sql: str) -> None:
    answer = ask(server, "k", {"sql": sql, "within": 40 if sql != MEAN else 2})
    place = f"{PLACE}/answers/{answer['entry']}"
    sent = server.call("GET", f"{place}?format=csv", "ann")
    assert sent.headers["content-disposition"].endswith(f'"answer-{answer["entry"]}.csv"')
    text = pd.read_csv(io.BytesIO(sent.body))
    binary = pd.read_parquet(io.BytesIO(server.call("GET", f"{place}?format=parquet", "ann").body))
    assert list(text.columns) == list(binary.columns)
    if sql == BY_SEX:
        assert list(text["sex"]) == list(binary["sex"]) == ["Female", "Male"]
        wanted = [row[1]["low"] for row in answer["rows"]]
        assert list(text["n_low"]) == list(binary["n_low"]) == pytest.approx(wanted)
    else:
        assert text["question"][0] == sql
        assert text["value"][0] == binary["value"][0] == pytest.approx(answer["value"])


def test_a_formula_in_steps_is_one_answer_dated_by_its_first_charge(server: Server) -> None:
    answer = ask(server, "k", {"sql": MEAN, "within": 1})
    assert answer["receipt"]["steps"] > 1  # else this tests nothing
    (one,) = listed(server)["answers"]
    assert one["entry"] == answer["entry"]
    charges = [e for e in server.session.ledger_entries() if e.kind == "reserve"]
    assert one["at"] == charges[0].at


def test_tables_rows_and_other_peoples_answers_are_not_listed(server: Server) -> None:
    session = server.session
    session.release(session.plan([["sex"]], budget=0.05), key="tables", analyst="ann")
    session.publish("lda", epsilon=0.1, target="sex", key="rows", analyst="ann")
    session.publish("max_entropy", from_history=True, key="free rows", analyst="ann")
    own = ask(server, "k", {"sql": COUNT, "within": 60}, who="cleo")
    assert listed(server)["answers"] == []
    assert [one["entry"] for one in listed(server, "cleo")["answers"]] == [own["entry"]]
    refused = server.call("GET", f"{PLACE}/answers/{own['entry']}", "ann")
    assert refused.status == 404
    assert "no answer of yours" in refused.json()["message"]


def test_accuracies_of_columns_and_of_the_text_itself_are_asked_again_as_they_were(
    server: Server,
) -> None:
    two = "SELECT COUNT(*) AS n, SUM(age) AS ages FROM people"
    inside = f"{COUNT} ERROR WITHIN 70 AT CONFIDENCE 0.9"
    ask(server, None, {"sql": two, "within": {"n": 50, "ages": 2000}})
    ask(server, "k", {"sql": inside})
    last, first = listed(server)["answers"]
    assert first["asked"]["within"] == {"n": 50, "ages": 2000}
    assert set(last["asked"]) == {"sql", "policy"}
    for one in (first, last):
        assert ask(server, None, one["asked"])["source"] == "history"
        assert server.call("GET", f"{PLACE}/answers/{one['entry']}", "ann").status == 200


def test_what_was_no_sql_is_listed_and_not_read(server: Server) -> None:
    linear = eke.count(sex="Female").on(DOMAIN).to_document()
    answer = ask(server, "k", {"query": linear, "within": 60})
    (one,) = listed(server)["answers"]
    assert (one["entry"], one["asked"]) == (answer["entry"], None)
    found = server.call("GET", f"{PLACE}/answers/{one['entry']}", "ann")
    assert (found.status, "ask it again where" in found.json()["message"]) == (404, True)


def test_a_cap_is_called_a_cap(server: Server) -> None:
    """Whoever is refused learns whether their own cap or the dataset's limit is the reason."""
    dear = {"sql": COUNT, "within": 0.5}
    tables = {"workload": {"all_marginals": 1}, "budget": 5}
    rows = {"mechanism": "lda", "epsilon": 5, "options": {"target": "sex"}}
    calls = [("ask", dear), ("releases", tables), ("publications", rows)]
    for path, body in calls:
        found = server.call("POST", f"{PLACE}/{path}", "ann", body)
        assert found.status == 402
        assert "cap" not in found.json()["message"]
    server.call("PUT", f"{PLACE}/caps/ann", "cleo", {"cap": 0.2})
    for path, body in calls:
        found = server.call("POST", f"{PLACE}/{path}", "ann", body)
        assert found.status == 402
        assert "your cap leaves you 0.2" in found.json()["message"], path
    refusal = server.call("POST", f"{PLACE}/ask", "ann", dear).json()["refusal"]
    assert (refusal["capped"], refusal["remaining"]) == (True, 0.2)
    cheap = {"sql": COUNT, "within": 60}
    assert "of 0.2 that your cap leaves you" in preview(server, "ann", cheap)["sentence"]
    other = preview(server, "cleo", cheap)
    assert (other["capped"], "of 1 left" in other["sentence"]) == (False, True)
    planned = server.call("POST", f"{PLACE}/plans", "ann", {**tables, "budget": 0.1}).json()
    priced = server.call("POST", f"{PLACE}/publications/preview", "ann", rows).json()
    assert planned["capped"]
    assert priced["capped"]


def preview(server: Server, who: str, body: dict[str, Any]) -> dict[str, Any]:
    return server.call("POST", f"{PLACE}/preview", who, body).json()  # type: ignore[no-any-return]
