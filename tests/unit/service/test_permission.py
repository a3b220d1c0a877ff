"""The auth matrix: every route with every kind of caller answers as declared here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service import COUNT, Server, routes_of, serving

ASK = {"sql": COUNT, "within": 200}
TABLES = {"workload": {"all_marginals": 1}, "budget": 0.01}
ROWS = {"mechanism": "lda", "epsilon": 0.1, "options": {"target": "sex"}}
DEAR = {**ROWS, "epsilon": 50}  # refused before a job is made of it
JOB = "0123456789abcdef"
FACT = {"source": "Yearbook", "statements": [{"sql": COUNT, "values": [400]}]}
GUARD = {"sql": COUNT, "claim": "< 0", "threshold": 0.9}
DOMAIN = {"attributes": {"x": {"type": "boolean"}}}
# method, path, body, and the status for (analyst, other analyst, auditor, curator).
# `other` is an analyst who may see another dataset only.
MATRIX: list[tuple[str, str, Any, tuple[int, int, int, int]]] = [
    ("GET", "/health", None, (200, 200, 200, 200)),
    ("GET", "/metrics", None, (403, 403, 200, 200)),
    ("GET", "/api/v1/session", None, (200, 200, 200, 200)),
    ("DELETE", "/api/v1/session", None, (204, 204, 204, 204)),
    ("GET", "/api/v1/datasets", None, (200, 200, 200, 200)),
    ("GET", "/api/v1/datasets/people", None, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/schema", None, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/budget", None, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/budget/timeline", None, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/budget/attributes", None, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/history", None, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/history/4", None, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/answers", None, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/answers/4", None, (200, 404, 404, 404)),  # ann's own
    ("GET", "/api/v1/datasets/people/ledger", None, (403, 403, 200, 200)),
    ("GET", "/api/v1/datasets/people/ledger/verification", None, (403, 403, 200, 200)),
    ("POST", "/api/v1/datasets/people/ask", ASK, (200, 404, 403, 200)),
    ("POST", "/api/v1/datasets/people/ask-many", {"questions": [ASK]}, (200, 404, 403, 200)),
    ("POST", "/api/v1/datasets/people/preview", ASK, (200, 404, 200, 200)),
    ("POST", "/api/v1/datasets/people/curve", {"sql": COUNT, "within": [9]}, (200, 404, 200, 200)),
    ("POST", "/api/v1/datasets/people/explain", ASK, (200, 404, 200, 200)),
    ("POST", "/api/v1/datasets/people/estimate", {"sql": COUNT}, (200, 404, 200, 200)),
    (
        "POST",
        "/api/v1/datasets/people/claim",
        {"sql": COUNT, "claim": "> 9"},
        (200, 404, 200, 200),
    ),
    ("POST", "/api/v1/datasets/people/plans", TABLES, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/advice", None, (403, 403, 200, 200)),
    ("POST", "/api/v1/datasets/people/releases", TABLES, (200, 404, 403, 200)),
    ("GET", "/api/v1/datasets/people/releases", None, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/releases/7", None, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/releases/7/tables/0", None, (200, 404, 200, 200)),
    ("POST", "/api/v1/datasets/people/publications/preview", ROWS, (200, 404, 200, 200)),
    ("POST", "/api/v1/datasets/people/publications", DEAR, (402, 404, 403, 402)),
    ("GET", "/api/v1/datasets/people/publications", None, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/publications/10", None, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/publications/10/rows", None, (200, 404, 200, 200)),
    ("GET", "/api/v1/datasets/people/publications/10/report", None, (200, 404, 200, 200)),
    (
        "POST",
        "/api/v1/datasets/people/publications/10/estimate",
        {"sql": COUNT},
        (200, 404, 200, 200),
    ),
    ("GET", "/api/v1/datasets/people/jobs", None, (200, 404, 200, 200)),
    ("GET", f"/api/v1/datasets/people/jobs/{JOB}", None, (200, 404, 200, 200)),
    ("DELETE", f"/api/v1/datasets/people/jobs/{JOB}", None, (409, 404, 403, 409)),
    ("GET", "/api/v1/accounts", None, (403, 403, 403, 200)),
    ("POST", "/api/v1/accounts", {"name": "new", "role": "analyst"}, (403, 403, 403, 201)),
    ("POST", "/api/v1/accounts/ann/tokens", {}, (403, 403, 403, 201)),
    ("PUT", "/api/v1/accounts/ann/settings", {"settings": {}}, (403, 403, 403, 200)),
    ("DELETE", "/api/v1/tokens/000000000000", None, (403, 403, 403, 404)),
    ("PUT", "/api/v1/datasets/people/limit", {"limit": 1}, (403, 403, 403, 200)),
    ("PUT", "/api/v1/datasets/people/caps/zoe", {"cap": 1}, (403, 403, 403, 200)),
    ("GET", "/api/v1/datasets/people/outside", None, (200, 404, 200, 200)),
    ("POST", "/api/v1/datasets/people/outside", FACT, (403, 403, 403, 201)),
    ("DELETE", "/api/v1/datasets/people/outside/4", None, (403, 403, 403, 400)),  # no fact
    ("GET", "/api/v1/datasets/people/guards", None, (200, 404, 200, 200)),
    ("POST", "/api/v1/datasets/people/guards", GUARD, (403, 403, 403, 201)),
    ("DELETE", "/api/v1/datasets/people/guards/4", None, (403, 403, 403, 400)),  # no guard
    ("GET", "/api/v1/files", None, (403, 403, 403, 200)),
    (
        "POST",
        "/api/v1/promises",
        {"view": {"sql": "SELECT x FROM t", "tables": {"t": "none.csv"}}},
        (403, 403, 403, 422),
    ),
    ("POST", "/api/v1/drafts", {"file": "none.csv"}, (403, 403, 403, 422)),
    (
        "POST",
        "/api/v1/datasets",
        {"name": "x", "file": "none.csv", "domain": DOMAIN, "epsilon": 1},
        (403, 403, 403, 422),
    ),
]
# For everyone, known or not: the way in, and the pages of the console.
OPEN = {("POST", "/api/v1/session"), ("GET", "/"), ("GET", "/console/"), ("GET", "/console/{name}")}
PUBLIC = {"/health"}
CALLERS = ("ann", "ben", "otto", "cleo")


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("matrix")) as server:
        server.ask(COUNT, 60)
        session = server.session
        session.release(session.plan([["sex"]], budget=0.05), analyst="ann")
        session.publish("lda", epsilon=0.1, target="sex", key="rows", analyst="ann")
        store = server.app.state.eke.jobs._store
        store.add(JOB, "people", "ann", "rows", json.dumps(ROWS))
        store.end(JOB, "done", result=10)
        expired = server.access.new_token("cleo", days=1)
        server.clock.now += 2 * 86_400
        revoked = server.access.new_token("cleo")
        server.access.revoke(revoked.identity)
        valid = server.tokens["cleo"]
        forged = f"eke_{valid.split('_')[1]}_{'A' * 43}"
        server.tokens |= {
            "expired": expired.text,
            "revoked": revoked.text,
            "malformed": "eke_nonsense",
            "forged": forged,
            "empty": "",
        }
        yield server


def declared(server: Server) -> set[tuple[str, str]]:
    """(method, path) of all routes."""
    return {(method, one.path) for one in routes_of(server.app) for method in one.methods or ()}


def template(path: str, paths: set[str]) -> str:
    """The declared path that a path belongs to, literal ones first."""
    fitting = [p for p in paths if re.fullmatch(re.sub(r"{\w+}", "[^/]+", p), path)]
    return min(fitting, key=lambda p: p.count("{"))


def test_the_matrix_has_every_route(one: Server) -> None:
    routes = declared(one)
    covered = {
        (method, template(path, {p for m, p in routes if m == method}))
        for method, path, *_ in MATRIX
    }
    assert routes - covered == OPEN


@pytest.mark.parametrize(("method", "path", "body", "expected"), MATRIX)
def test_the_matrix(one: Server, method: str, path: str, body: Any, expected: tuple) -> None:
    found = tuple(one.call(method, path, who, body).status for who in CALLERS)
    assert found == expected
    if path in PUBLIC:
        return
    before = one.session.budget
    for who in (None, "malformed", "expired", "revoked", "forged", "empty"):
        refused = one.call(method, path, who, body)
        assert refused.status in (401, 429)
        assert set(refused.json()) >= {"error", "message", "status"}
    assert one.session.budget == before


def test_declared_roles_are_those_of_the_matrix(one: Server) -> None:
    """What the OpenAPI document says is what the matrix has seen."""
    paths = one.app.openapi()["paths"]
    for method, path, _, expected in MATRIX:
        if path in PUBLIC:
            continue
        operation = paths[template(path, set(paths))][method.lower()]
        seen = zip(("analyst", None, "auditor", "curator"), expected, strict=True)
        assert operation["x-roles"] == sorted(r for r, status in seen if r and status != 403)


def test_unknown_addresses_tell_strangers_nothing(one: Server) -> None:
    assert one.call("GET", "/api/v1/nowhere").status == 401
    assert one.call("GET", "/api/v1/nowhere", "ann").status == 404
    assert one.call("GET", "/api/v1/openapi.json").status == 401
    assert one.call("PATCH", "/api/v1/datasets", "ann").status == 405
    assert one.call("GET", "/nowhere").status == 404


def test_wrong_tokens_are_slowed_down_but_right_ones_are_not(folder: Path) -> None:
    with serving(folder, failures_per_minute=3) as server:
        statuses = [server.call("GET", "/api/v1/datasets", "wrong").status for _ in range(5)]
        assert statuses == [401, 401, 401, 429, 429]
        assert server.call("GET", "/api/v1/datasets", "ann").status == 200


def test_each_account_has_its_rate(folder: Path) -> None:
    with serving(folder, requests_per_minute=4) as server:
        found = [server.call("GET", "/api/v1/datasets", "ann") for _ in range(5)]
        assert [one.status for one in found] == [200, 200, 200, 200, 429]
        assert int(found[-1].headers["retry-after"]) >= 1
        assert server.call("GET", "/api/v1/datasets", "otto").status == 200
