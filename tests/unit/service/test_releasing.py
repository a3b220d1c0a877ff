"""Plans and releases over HTTP: priced for nothing, charged once, read again by everyone."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from tests.service import COUNT, DOMAIN, Server, serving

PEOPLE = "/api/v1/datasets/people"
PAIRS: dict[str, Any] = {"workload": {"all_marginals": 2}, "budget": 0.3}


def post(server: Server, path: str, body: Any, who: str = "ann", **headers: str) -> Any:
    found = server.call("POST", f"{PEOPLE}/{path}", who, body, **headers)
    assert found.status == 200, found.text
    return found.json()


def test_a_plan_is_free_and_is_that_of_a_session(server: Server) -> None:
    found = post(server, "plans", PAIRS, "otto")
    local = server.session.plan(eke.all_marginals(DOMAIN, 2), budget=0.3)
    assert (found["rmse"], found["strategy"]) == (local.rmse, local.strategy)
    assert found["cost"] == pytest.approx(0.3, rel=1e-4)
    assert found["affordable"]
    assert [table["attributes"] for table in found["tables"]] == [
        ["sex", "age"],
        ["sex", "city"],
        ["age", "city"],
    ]
    largest = [float(np.max(one)) for one in local.standard_errors]
    assert [table["largest_error"] for table in found["tables"]] == pytest.approx(largest)
    assert len(server.session.ledger_entries()) == 1


def test_a_request_with_an_old_name_means_the_same(server: Server) -> None:
    plans = [
        post(server, "plans", {"workload": {name: 1}, "budget": 0.3})
        for name in ("half_of_next", "half_above")
    ]
    assert plans[0] == plans[1]
    assert len(plans[0]["tables"]) == 3 + 2
    both = {"workload": {"half_of_next": 1, "half_above": 1}, "budget": 0.3}
    assert server.call("POST", f"{PEOPLE}/plans", "ann", both).status == 422


def test_the_error_of_each_table_is_its_own(server: Server) -> None:
    """Whole marginals come first, however they were asked for; then the others, then questions."""
    linear = eke.total("age").on(DOMAIN).to_document()
    workload = {
        "ranges": [["age"]],
        "over": [["sex"], []],
        "queries": [{"query": linear, "weight": 2.0}],
    }
    plan = post(server, "plans", {"workload": workload, "budget": 0.5})
    released = post(server, "releases", {"workload": workload, "budget": 0.5})
    for planned, table in zip(plan["tables"], released["tables"], strict=True):
        for field in ("attributes", "along", "question", "answers"):
            assert planned[field] == table[field]
        assert planned["largest_error"] == pytest.approx(table["largest_error"])
    assert [table["along"] for table in plan["tables"]] == [["cells"], [], ["ranges"], []]
    assert plan["tables"][-1]["question"] == "sum(age)"


def test_a_release_is_charged_once_and_kept(server: Server) -> None:
    first = server.call("POST", f"{PEOPLE}/releases", "ann", PAIRS, Idempotency_Key="monday")
    again = server.call("POST", f"{PEOPLE}/releases", "ann", PAIRS, Idempotency_Key="monday")
    assert first.status == 200
    assert first.body == again.body
    found = first.json()
    assert server.session.budget.spent == pytest.approx(found["cost"])
    other = {**PAIRS, "budget": 0.2}
    conflict = server.call("POST", f"{PEOPLE}/releases", "ann", other, Idempotency_Key="monday")
    assert conflict.status == 409
    listed = server.call("GET", f"{PEOPLE}/releases", "otto").json()
    assert [one["sequence"] for one in listed["releases"]] == [found["sequence"]]
    assert listed["releases"][0]["workload"] == {"all_marginals": 2}
    place = f"{PEOPLE}/releases/{found['sequence']}"
    assert server.call("GET", place, "otto").json() == found
    short = server.call("GET", f"{place}?values=false", "otto").json()
    assert "values" not in short["tables"][0]
    assert server.ask("SELECT sex, city, COUNT(*) FROM people GROUP BY sex, city", 300).json()[
        "source"
    ] == ("history")


@pytest.mark.parametrize("form", ["csv", "parquet", "json"])
def test_a_table_can_be_downloaded(server: Server, form: str) -> None:
    found = post(server, "releases", PAIRS)
    place = f"{PEOPLE}/releases/{found['sequence']}/tables/1?format={form}"
    reply = server.call("GET", place, "ann")
    if form == "json":
        assert reply.json() == found["tables"][1]
        return
    assert f"release-{found['sequence']}-1.{form}" in reply.headers["content-disposition"]
    read = pd.read_csv if form == "csv" else pd.read_parquet
    frame = read(io.BytesIO(reply.body))
    assert list(frame.columns) == ["sex", "city", "value", "standard_error"]
    assert frame["value"].tolist() == pytest.approx(np.ravel(found["tables"][1]["values"]).tolist())
    missing = server.call("GET", place.replace("/1?", "/3?"), "ann")
    assert missing.status == 404


def test_accuracies_can_be_asked_for_by_table(server: Server) -> None:
    wide = [{"attributes": ["sex"], "within": 60}, {"attributes": ["city"], "within": 90}]
    body = {"workload": {"over": [["sex"], ["city"]]}, "within": wide}
    found = post(server, "plans", body)
    uniform = post(server, "plans", {**body, "within": 60})
    assert found["cost"] < uniform["cost"]


def test_a_cap_refuses_a_release_and_says_what_is_left(server: Server) -> None:
    server.session.change_cap("ann", 0.1)
    plan = post(server, "plans", PAIRS)
    assert not plan["affordable"]
    assert plan["remaining"] == pytest.approx(0.1)
    refused = server.call("POST", f"{PEOPLE}/releases", "ann", PAIRS)
    assert refused.status == 402
    assert "your cap leaves you 0.1" in refused.json()["message"]
    assert server.session.budget.spent == 0
    assert post(server, "plans", PAIRS, "cleo")["affordable"], "the cap is ann's alone"


def test_what_is_not_shared_is_not_listed(folder: Path) -> None:
    with serving(folder, sharing="own") as server:
        found = post(server, "releases", PAIRS, "cleo")
        assert server.call("GET", f"{PEOPLE}/releases", "ann").json()["releases"] == []
        hidden = f"{PEOPLE}/releases/{found['sequence']}"
        assert server.call("GET", hidden, "ann").status == 404
        assert server.call("GET", f"{hidden}/tables/0", "ann").status == 404
        assert server.call("GET", hidden, "otto").status == 200


def test_linear_forms_are_asked_like_sql(server: Server) -> None:
    linear = eke.count(sex="Female").on(DOMAIN).to_document()
    paid = post(server, "ask", {"query": linear, "within": 60, "posterior": True})
    assert paid["source"] == "measured"
    assert len(paid["posterior"]["points"]) > 100
    free = server.ask(f"{COUNT} WHERE sex = 'Female'", 60).json()
    assert (free["source"], free["value"]) == ("history", paid["value"])
    block = eke.marginal("sex", "city").on(DOMAIN).to_document()
    preview = post(server, "preview", {"query": block, "within": 60})
    assert preview["action"] == "measure"
    table = post(server, "ask", {"query": block, "within": 60})
    assert (table["kind"], len(table["values"])) == ("marginal", 6)


def test_estimates_are_free(server: Server) -> None:
    server.ask(COUNT, 40)
    before = server.session.ledger_entries()
    linear = eke.count(sex="Female").on(DOMAIN).to_document()
    found = post(server, "estimate", {"query": linear}, "otto")
    assert not found["determined"]
    assert found["low"] < found["value"] < found["high"]
    local = server.session.estimate(eke.count(sex="Female"))
    assert found["value"] == pytest.approx(local.value)  # type: ignore[union-attr]
    block = post(server, "estimate", {"query": eke.marginal("sex").on(DOMAIN).to_document()})
    assert len(block["cells"]) == 2
    unknown = server.call("POST", f"{PEOPLE}/estimate", "ann", {"query": linear, "method": "blue"})
    assert unknown.status == 409
    assert server.session.ledger_entries() == before


def test_a_release_is_read_as_consistent_nonnegative_or_whole(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    workload = {"all_marginals": 1, "ranges": [["age"]]}
    found = post(server, "releases", {"workload": workload, "budget": 0.02})
    assert "adjusted" not in found
    spent = server.session.budget.spent
    place = f"{PEOPLE}/releases/{found['sequence']}"
    local = server.session.archive.release(found["sequence"])
    for kind in ("consistent", "nonnegative", "whole"):
        for norm in ("l2", "l1", "linf"):
            read = server.call("GET", f"{place}?as={kind}&norm={norm}", "otto").json()
            expected = local.adjusted(kind, norm)
            assert expected.adjustment is not None
            assert read["adjusted"]["kind"] == kind
            assert read["adjusted"]["norm"] == norm
            assert read["adjusted"]["moved"] == pytest.approx(expected.adjustment.moved)
            assert read["adjusted"]["note"] == expected.adjustment.note
            for table, same in zip(read["tables"], expected.tables, strict=True):
                np.testing.assert_allclose(table["values"], same.values)
    file = server.call("GET", f"{place}/tables/0?as=whole&format=csv", "otto")
    assert f"release-{found['sequence']}-0-whole.csv" in file.headers["content-disposition"]
    frame = pd.read_csv(io.BytesIO(file.body))
    assert frame["value"].tolist() == local.adjusted("whole").tables[0].values.tolist()
    assert server.session.budget.spent == spent
    assert server.call("GET", f"{place}?as=nice", "otto").status == 422
    assert server.call("GET", f"{place}?as=whole&norm=l3", "otto").status == 422
    monkeypatch.setattr("eke.service.route.releasing.MOST_FITTED", 3)
    assert "too long" in server.call("GET", f"{place}?as=whole", "otto").json()["message"]
    assert server.call("GET", f"{place}?as=nonnegative", "otto").status == 200
    monkeypatch.setattr("eke.service.route.releasing.MOST_PROGRAMMED", 3)
    for norm in ("l1", "linf"):
        slow = server.call("GET", f"{place}?as=nonnegative&norm={norm}", "otto")
        assert (slow.status, f"at most 3 answers in {norm}" in slow.json()["message"]) == (
            400,
            True,
        )
    assert server.call("GET", f"{place}?as=nonnegative", "otto").status == 200
    monkeypatch.setattr("eke.service.route.releasing.MOST_ADJUSTED", 3)
    refused = server.call("GET", f"{place}?as=whole", "otto")
    assert refused.status == 400
    assert "at most 3 answers" in refused.json()["message"]


def test_a_strategy_matrix_over_http(server: Server) -> None:
    rows = [[1.0, 1.0], [0.7, -0.3], [0.1, 0.9]]
    body = {"workload": {"over": [["sex"]]}, "budget": 0.02, "strategy_matrix": rows}
    plan = post(server, "plans", body)
    local = server.session.plan([["sex"]], budget=0.02, strategy=rows)
    assert (plan["strategy"], plan["rmse"]) == ("matrix", local.rmse)
    assert post(server, "releases", body)["strategy"] == "matrix"
    spent = server.session.budget.spent
    for bad, status in (
        ([[1.0, 1.0]], 400),
        ([[1.0]], 400),
        ([[0.0, 0.0]], 400),
        ([], 422),
        ([["x", 1.0]], 422),
        ([[1.0] * 1025], 422),
        ("I", 422),
    ):
        reply = server.call("POST", f"{PEOPLE}/releases", "ann", {**body, "strategy_matrix": bad})
        assert reply.status == status, reply.text
    both = server.call("POST", f"{PEOPLE}/plans", "ann", {**body, "strategy": "I"})
    assert both.status == 400
    assert server.session.budget.spent == spent
