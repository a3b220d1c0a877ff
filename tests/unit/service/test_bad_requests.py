"""Bad requests: every one is a 4xx with a reason, and the budget is untouched."""

from __future__ import annotations

import itertools
import json
from typing import Any

from tests.service import COUNT, Server

PEOPLE = "/api/v1/datasets/people"
GOOD: dict[str, Any] = {"sql": COUNT, "within": 40}
_TEXTS = [
    *("", " ", "x", "SELECT", "DROP TABLE people", "SELECT * FROM people", "SELECT 1; SELECT 2"),
    *(
        "SELECT COUNT(*) FROM",
        "SELECT COUNT(*) FROM people WHERE",
        "((((((",
        ")" * 50,
        "\0",
        "é" * 9,
    ),
    *("SELECT age FROM people", "SELECT COUNT(*) FROM people WHERE nothing = 1", "'", '"', "--"),
    *("SELECT COUNT(*) FROM people UNION SELECT 1", "(" * 5000, "SELECT MEDIAN(age) FROM people"),
    *("SELECT COUNT(*) FROM people LIMIT -1", "/*", "WITH x AS (SELECT 1) SELECT 1", "x" * 20_001),
    *("SELECT COUNT(*) FROM people WHERE age = 'x'", "PRAGMA foo", "ATTACH 'x'", "COPY people TO"),
    *("SELECT COUNT(age, sex) FROM people", "VACUUM", "SELECT COUNT(*) FROM people GROUP BY 9"),
    *("SELECT SUM(sex) FROM people", "SELECT COUNT(*) FROM people ERROR WITHIN"),
]
_NUMBERS: list[Any] = [
    "40",
    True,
    [],
    {},
    -1,
    0,
    {"n": -1},
    {"n": "x"},
    "NaN",
    [40],
    {"no": 4},
    1e400,
]
_CONFIDENCES: list[Any] = [0, 1, -1, 2, "0.9", True, [], {}, 1e400]
_PATHS = ["ask", "preview", "explain"]


def bad_bodies() -> list[tuple[str, bytes]]:
    """(path, body) of requests that make no sense."""
    found: list[tuple[str, Any]] = []
    sql: Any
    many: list[Any] = [GOOD, [1], ["x"], [None], "x", [{}], [[]], [], [GOOD] * 51, None]
    curves: list[Any] = [[], [0], ["1"], [1] * 25, 4, None]
    drawn: list[Any] = [1, "yes", None, []]
    for path, sql in itertools.product(_PATHS, _TEXTS):
        found.append((path, {**GOOD, "sql": sql}))
        found.append((path, {"sql": sql, "within": 10, "confidence": 0.9}))
    for sql in _TEXTS:
        found.append(("curve", {"sql": sql, "within": [10]}))
        found.append(("ask", {**GOOD, "sql": sql, "posterior": True, "policy": "direct"}))
        found.append(("ask", {**GOOD, "sql": f"{COUNT} WHERE {sql}"}))
    for path, sql in itertools.product(_PATHS, [None, 1, True, [], {}, [COUNT]]):
        found.append((path, {**GOOD, "sql": sql}))
    for path, within in itertools.product(_PATHS, _NUMBERS):
        found.append((path, {**GOOD, "within": within}))
    for path, confidence in itertools.product(_PATHS, _CONFIDENCES):
        found.append((path, {**GOOD, "confidence": confidence}))
    for path, policy in itertools.product(_PATHS, ["", "x", 1, True, [], "TOP_UP"]):
        found.append((path, {**GOOD, "policy": policy}))
    for path, extra in itertools.product(
        _PATHS, ["analyst", "key", "seed", "epsilon", "__proto__"]
    ):
        found.append((path, {**GOOD, extra: 1}))
    whole: list[Any] = [[], [GOOD], "x", 1, None, True, {}]
    found += list(itertools.product(_PATHS, whole))
    found += [("ask-many", {"questions": one}) for one in many]
    found += [("curve", {"sql": COUNT, "within": one}) for one in curves]
    found += [("ask", {**GOOD, "posterior": one}) for one in drawn]
    found += [("ask", {**GOOD, "within": None}), ("preview", {**GOOD, "within": None})]
    bodies = [(path, json.dumps(body).encode()) for path, body in found]
    raw = [b"", b"{", b"[", b"nul", b"\xff\xfe", b"{'sql': 1}", b'{"sql": NaN}', b"{}{}", b"\0" * 9]
    raw += [b"[" * 20_000, b'{"a":' * 9_000, b'"' + b"x" * 70_000 + b'"', b"1" * 5000]
    return bodies + [(path, body) for path, body in itertools.product([*_PATHS, "curve"], raw)]


def test_500_bad_requests_cost_nothing_and_say_why(server: Server) -> None:
    bodies = bad_bodies()
    headers = {
        "Authorization": f"Bearer {server.tokens['ann']}",
        "Content-Type": "application/json",
    }
    server.app.state.eke.requests._most = 1e9  # no rate for this many at once
    server.app.state.eke.requests._per_second = 1e9
    found = [
        (path, body[:90], server.send("POST", f"{PEOPLE}/{path}", headers, body))
        for path, body in bodies
    ]
    assert len(found) >= 500
    wrong = [(p, b, r.status, r.text) for p, b, r in found if not 400 <= r.status < 500]
    assert wrong == []
    for _, _, reply in found:
        document = reply.json()
        assert document["status"] == reply.status
        assert len(document["message"]) > 5
    assert server.session.budget.spent == 0
    assert len(server.session.ledger_entries()) == 1, "nothing was written, either"
    assert server.ask(COUNT, 40).status == 200, "and the server still works"


def test_bad_paths_and_parameters(server: Server) -> None:
    for path, status in {
        "/api/v1/datasets/none": 404,
        "/api/v1/datasets/..%2f..%2fetc": 404,
        f"/api/v1/datasets/{'x' * 65}": 422,
        f"{PEOPLE}/history?limit=0": 422,
        f"{PEOPLE}/history?limit=x": 422,
        f"{PEOPLE}/history?after=-1": 422,
        f"{PEOPLE}/history?after={10**30}": 422,
        f"{PEOPLE}/history/99": 404,
        f"{PEOPLE}/history/x": 422,
        f"{PEOPLE}/ask": 405,
        "/console/../app.py": 404,
        "/console/%2e%2e%2fapp.py": 404,
    }.items():
        found = server.call("GET", path, "ann")
        assert found.status == status, path


def test_bodies_that_are_too_large_are_not_read(server: Server) -> None:
    headers = {"Authorization": f"Bearer {server.tokens['ann']}"}
    assert server.send("POST", f"{PEOPLE}/ask", headers, b"x" * 70_000).status == 413
    lying = {**headers, "Content-Length": "5"}
    assert server.send("POST", f"{PEOPLE}/ask", lying, b"x" * 70_000).status == 413
    announced = {**headers, "Content-Length": "99999999999999999999"}
    assert server.send("POST", f"{PEOPLE}/ask", announced, b"{}").status == 413
