"""The OpenAPI document: complete, and a fuzzer that follows it finds no 5xx."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import Case

from tests.service import BY_SEX, COUNT, Server, serving

SQL = [
    COUNT,
    BY_SEX,
    f"{COUNT} WHERE age BETWEEN 18 AND 20",
    "SELECT AVG(age) FROM people",
    "SELECT city, SUM(age) FROM people WHERE sex = 'Male' GROUP BY city HAVING COUNT(*) > 3",
    f"{COUNT} ERROR WITHIN 60 AT CONFIDENCE 0.9",
]
TABLES: list[dict[str, Any]] = [
    {"all_marginals": 1},
    {"over": [["sex", "city"]], "ranges": [["age"]]},
    {"sql": "SELECT COUNT(*) FROM people GROUP BY CUBE (sex, city)"},
    {"queries": [{"query": {"terms": [{"weight": "1", "factors": {"sex": [[1, 1], [0, 1]]}}]}}]},
]
OPERATIONS = 56


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    rates: dict[str, Any] = {"requests_per_minute": 10**9, "failures_per_minute": 10**9}
    with serving(tmp_path_factory.mktemp("fuzz"), epsilon=50.0, **rates) as server:
        yield server


def operations(server: Server) -> dict[str, Any]:
    schema = schemathesis.openapi.from_dict(server.app.openapi())
    found = (one.ok() for one in schema.get_all_operations())  # type: ignore[union-attr]
    return {one.label: one for one in found}


def test_every_operation_is_described(one: Server) -> None:
    document = one.app.openapi()
    found = operations(one)
    assert len(found) == OPERATIONS + 1  # and signing in
    for methods in document["paths"].values():
        for operation in methods.values():
            assert len(operation["description"].split()) > 3
    assert "HTTPValidationError" not in json.dumps(document)


def cases(server: Server) -> st.SearchStrategy[tuple[Case, str, int]]:
    """(case, who sends it, which question of `SQL` to put in it, if any)."""
    each = st.one_of([operation.as_strategy() for operation in operations(server).values()])
    who = st.sampled_from(["cleo", "cleo", "cleo", "ann", "otto", "ben", "nobody"])
    return st.tuples(each, who, st.integers(-1, 2 * len(SQL)))


def fuzz(server: Server, number: int) -> dict[int, int]:
    """How often each status came; statuses are declared and failures have their shape."""
    seen: dict[int, int] = {}
    declared = {
        (label.split(" ")[0], label.split(" ")[1]): set(operation.definition.raw["responses"])
        for label, operation in operations(server).items()
    }

    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(server))
    def run(drawn: tuple[Case, str, int]) -> None:
        case, who, place = drawn
        if place >= 0 and "name" in case.path_parameters:
            case.path_parameters["name"] = "people"  # else hardly a case would get there
        if 0 <= place < len(SQL) and isinstance(case.body, dict) and "sql" in case.body:
            case.body["sql"] = SQL[place]
            case.body.pop("query", None)
        if place >= 0 and isinstance(case.body, dict) and "workload" in case.body:
            case.body["workload"] = TABLES[place % len(TABLES)]
        found = sent(server, case, who)
        seen[found.status] = seen.get(found.status, 0) + 1
        assert found.status < 500, (case.method, case.path, case.body, found.text)
        operation = declared[case.method.upper(), case.path]
        # The router answers for itself when a path was fuzzed into another one.
        assert str(found.status) in operation | {"404", "405"}, (case.path, found.text)
        if found.status >= 400:
            document = found.json()
            assert document["status"] == found.status
            assert document["message"]

    run()
    logging.getLogger("eke.figures").info("%d cases: %s", number, seen)
    return seen


def sent(server: Server, case: Case, who: str) -> Any:
    """The response to a case, sent by an account."""
    parts = case.as_transport_kwargs(base_url="http://localhost")
    parts.pop("timeout", None)
    prepared = requests.Request(**parts).prepare()
    headers = {n: v for n, v in prepared.headers.items() if isinstance(v, str) and v.isascii()}
    if who in server.tokens:
        headers["Authorization"] = f"Bearer {server.tokens[who]}"
    body = prepared.body or b""
    raw = body.encode("utf-8", "replace") if isinstance(body, str) else body
    assert isinstance(raw, bytes)
    headers["Content-Length"] = str(len(raw))
    return server.send(str(prepared.method), prepared.path_url, headers, raw)


def test_300_cases_give_no_5xx(one: Server) -> None:
    seen = fuzz(one, 300)
    assert sum(seen.values()) >= 300
    assert {200, 400, 401, 403, 404, 422} <= set(seen), seen
    assert one.session.verify().intact


@pytest.mark.long
def test_10000_cases_give_no_5xx(folder: Path) -> None:
    rates: dict[str, Any] = {"requests_per_minute": 10**9, "failures_per_minute": 10**9}
    with serving(folder, epsilon=50.0, **rates) as server:
        seen = fuzz(server, 10_000)
        assert sum(seen.values()) >= 10_000
        assert server.session.verify().intact


def test_the_fuzzer_notices_a_5xx(one: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Positive control: a route that fails."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("row 17: Female, 23")

    monkeypatch.setattr("eke.service.route.reading.budget_document", broken)
    with pytest.raises(AssertionError, match="never charged twice"):
        fuzz(one, 2000)  # the first of them ends it
    found = one.call("GET", "/api/v1/datasets/people/budget", "ann")
    assert found.status == 500
    assert "row 17" not in found.text
