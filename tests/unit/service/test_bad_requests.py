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
    *("SELECT COUNT(*) FROM people UNION SELECT 1", "(" * 5000, "SELECT MODE(age) FROM people"),
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
_CLAIMS: list[Any] = [
    None,
    1,
    [],
    {},
    ">",
    "> x",
    "> nan",
    "1 to 0",
    "10",
    "> 2013-01-01",
    "> " + "9" * 99,
]
_CONFIDENCES: list[Any] = [0, 1, -1, 2, "0.9", True, [], {}, 1e400]
_PATHS = ["ask", "preview", "explain"]
_LINEAR: Any = {"constant": "0", "terms": [{"weight": "1", "factors": {"sex": [[1, 2]]}}]}
_FORMS: list[Any] = [
    *(None, 1, "x", [], {}, {"terms": 1}, {"terms": [1]}, {"terms": [{}]}, {"constant": "0"}),
    {"constant": "0", "terms": [{"weight": "1", "factors": {"nobody": [[1, 2]]}}]},
    {"constant": "0", "terms": [{"weight": "1", "factors": {"sex": [[1, 10**9]]}}]},
    {"constant": "0", "terms": [{"weight": "1", "factors": {"sex": [[10**30, 2]]}}]},
    {"constant": "0", "terms": [{"weight": "1", "factors": {"sex": [[1, -1], [1, 3]]}}]},
    {"constant": "0", "terms": [{"weight": "1", "factors": {"sex": [[1]]}}]},
    {"constant": "0", "terms": [{"weight": "1/0", "factors": {}}]},
    {"constant": "0", "terms": [{"weight": "1e999999", "factors": {}}]},
    {"constant": "nan", "terms": []},
    {"constant": "0", "terms": [{"weight": "1", "factors": {"sex": [[1, 2]]}}] * 1001},
    {**_LINEAR, "more": 1},
    {"marginal": [], "inside": _LINEAR},
    {"marginal": ["nobody"], "inside": _LINEAR},
    {"marginal": ["age", "sex"], "inside": _LINEAR},
    {"marginal": ["sex", "sex"], "inside": _LINEAR},
    {"marginal": ["sex"], "inside": {**_LINEAR, "constant": "3"}},
    {"marginal": ["sex"], "inside": {"marginal": ["age"], "inside": _LINEAR}},
]
_WORKLOADS: list[Any] = [
    *(None, 1, "x", [], {}, {"nothing": 1}, {"all_marginals": -1}, {"all_marginals": 4}),
    *({"all_marginals": "2"}, {"all_marginals": True}, {"up_to": 99}, {"half_of_next": 3}),
    *({"over": [["nobody"]]}, {"over": "sex"}, {"over": [[1]]}, {"over": [["sex"]] * 5001}),
    *({"ranges": [[]]}, {"prefixes": [["nobody"]]}, {"containing": "age"}, {"sql": ""}),
    *({"sql": COUNT}, {"sql": "SELECT COUNT(*) FROM people GROUP BY CUBE (nobody)"}),
    {"all_marginals": 1, "containing": "nobody"},
    {"targets": [{"attributes": ["age", "sex"]}]},
    {"targets": [{"attributes": ["sex"], "along": ["nothing"]}]},
    {"targets": [{"attributes": ["sex"], "weight": 0}]},
    {"queries": [{"query": {"marginal": ["sex"], "inside": _LINEAR}}]},
    {"queries": [{"query": {"constant": "0", "terms": []}, "weight": -1}]},
]
_AMOUNTS: list[dict[str, Any]] = [
    *({}, {"budget": 0.1, "within": 9}, {"budget": 0}, {"budget": -1}, {"budget": "1"}),
    *({"budget": 1e400}, {"within": 0}, {"within": []}, {"within": {"sex": 9}}, {"within": "9"}),
    {"within": [{"attributes": ["age"], "within": 9}]},
    *({"within": 9, "strategy": "I"}, {"budget": 0.1, "strategy": "magic"}),
    *({"budget": 0.1, "confidence": 1}, {"budget": 0.1, "analyst": "cleo"}),
]
_ROWS: list[Any] = [
    *(None, 1, [], {}, {"mechanism": "magic", "epsilon": 1}, {"mechanism": "lda"}),
    {"mechanism": "lda", "epsilon": 0.5},
    {"mechanism": "lda", "epsilon": 0.5, "options": {"target": "nobody"}},
    {"mechanism": "lda", "epsilon": 0.5, "options": {"target": 3}},
    {"mechanism": "lda", "epsilon": 0.5, "options": {"target": "sex", "more": 1}},
    {"mechanism": "lda", "epsilon": 0.5, "options": {"target": "sex", "attributes": "age"}},
    {"mechanism": "lda", "epsilon": 0.5, "rho": 0.5, "options": {"target": "sex"}},
    {"mechanism": "lda", "rho": 0.5, "options": {"target": "sex"}},
    {"mechanism": "lda", "epsilon": 1e-300, "options": {"target": "sex"}},
    {"mechanism": "lda", "epsilon": 0, "options": {"target": "sex"}},
    {"mechanism": "lda", "epsilon": 0.5, "key": "x", "options": {"target": "sex"}},
    {"mechanism": "pca", "epsilon": 0.5},  # needs replace_one
    {"mechanism": "max_entropy", "epsilon": 0.5, "options": {"rows": 0}},
    {"mechanism": "max_entropy", "epsilon": 0.5, "options": {"rows": 10**7}},
    {"mechanism": "max_entropy", "epsilon": 0.5, "options": {"rows": "many"}},
    {"mechanism": "max_entropy", "epsilon": 0.5, "options": {"attributes": ["sex"]}},
    {"mechanism": "max_entropy", "epsilon": 0.5, "options": {"from_history": True}},
    {"mechanism": "max_entropy", "options": {"from_history": "yes"}},
    {"mechanism": "max_entropy", "epsilon": 0.5, "options": {str(n): n for n in range(11)}},
]


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
    found += [(path, {"query": one, "within": 40}) for one in _FORMS for path in ("ask", "preview")]
    found += [("estimate", {"query": one}) for one in _FORMS]
    found += [("ask", {"query": _LINEAR, "within": one}) for one in _NUMBERS]
    found += [("ask", {"query": _LINEAR, "sql": COUNT, "within": 40}), ("ask", {"within": 40})]
    found += [("estimate", {"sql": one}) for one in _TEXTS]
    found += [("estimate", {"sql": COUNT, "method": one}) for one in ("", "x", 1, None)]
    priors: tuple[Any, ...] = (
        "x",
        3,
        {},
        {"sex": []},
        {"sex": [1, -1]},
        {"height": [1]},
        {"sex": {"?": 1}},
    )
    found += [("estimate", {"sql": COUNT, "prior": one}) for one in priors]
    found += [("estimate", {"sql": COUNT, "alpha": one}) for one in (0, -1, "1", "inf")]
    found += [("estimate", {"sql": COUNT, "folds": one}) for one in (1, 51, 2.5, "2")]
    found += [("estimate", {"sql": COUNT})]  # there is no history
    found += [("claim", {"sql": COUNT, "claim": "> 9"}), ("claim", {"sql": COUNT})]
    found += [("claim", {"query": one, "claim": "> 9"}) for one in _FORMS]
    found += [("claim", {"sql": one, "claim": "> 9"}) for one in _TEXTS]
    found += [("claim", {"sql": COUNT, "claim": one}) for one in (*_TEXTS, *_CLAIMS)]
    for path in ("plans", "releases"):
        found += [(path, {"workload": one, "budget": 0.1}) for one in _WORKLOADS]
        found += [(path, {"workload": {"all_marginals": 1}, **one}) for one in _AMOUNTS]
    found += [("releases", {"workload": {"all_marginals": 1}, "budget": 50})]
    found += [(path, one) for one in _ROWS for path in ("publications", "publications/preview")]
    found += [("publications", {"mechanism": "lda", "epsilon": 9, "options": {"target": "sex"}})]
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
        f"{PEOPLE}/releases/1": 404,
        f"{PEOPLE}/releases/x": 422,
        f"{PEOPLE}/releases/1/tables/-1": 422,
        f"{PEOPLE}/publications/1": 404,
        f"{PEOPLE}/publications/1/rows?format=exe": 422,
        f"{PEOPLE}/jobs/none": 404,
        f"{PEOPLE}/jobs/{'x' * 41}": 422,
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
