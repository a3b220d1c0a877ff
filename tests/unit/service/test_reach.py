"""Reach: nobody sees, grants or changes more than they hold, on any route.

Every route of the application is tried by every kind of caller on every kind of target, inside and
outside of what the caller may see. Routes and targets are taken from the application itself: one
that is new and not declared here fails `test_every_route_is_tried`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import pytest
from fastapi.routing import APIRoute

import eke
from eke.service import Account, Reply
from eke.service.account import ROLES, Role
from tests.parts import among
from tests.service import COUNT, DOMAIN, Server, people, routes_of, serving
from tests.unit.service.test_permission import MATRIX, OPEN, ROWS, template

INSIDE, OUTSIDE = "people", "canary-dataset"
SEES: dict[str, tuple[str, ...] | None] = {
    "whole": None,
    "inside": (INSIDE,),
    "outside": (OUTSIDE,),
    "both": (INSIDE, OUTSIDE),
}
# To whoever sees the inside only, a canary is never named. Those who see more are named where they
# have asked something inside, and nowhere else.
PREFIX = {"inside": "in", "outside": "canary", "whole": "wide", "both": "wide"}
ACCOUNTS = {
    (name := f"{PREFIX[sees]}-{role}-{sees}"): Account(name, role, listed)
    for sees, listed in SEES.items()
    for role in ROLES
}
SEQUENCE = {"history": "4", "releases": "7", "publications": "10", "outside": "4", "guards": "4"}
# What routes without a target are about: the caller alone, what it may see, or the whole server.
WITHOUT_TARGET = {
    ("GET", "/health"): "own",
    ("GET", "/metrics"): "own",
    ("GET", "/api/v1/session"): "own",
    ("DELETE", "/api/v1/session"): "own",
    ("GET", "/api/v1/datasets"): "own",
    ("GET", "/api/v1/accounts"): "own",
    ("POST", "/api/v1/accounts"): "grant",
    ("GET", "/api/v1/files"): "server",
    ("POST", "/api/v1/promises"): "server",
    ("POST", "/api/v1/drafts"): "server",
    ("POST", "/api/v1/datasets"): "server",
}
_numbers = count()


@dataclass(frozen=True)
class Try:
    """A request, and the status that it must get: None for whatever an allowed one gets."""

    method: str
    path: str
    body: Any
    expected: int | None


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("reach")
    with serving(folder, requests_per_minute=10**9, failures_per_minute=10**9) as server:
        hidden = eke.create(folder / "hidden.eke", people(), DOMAIN, epsilon=1.0)
        server.app.state.eke.datasets.add(OUTSIDE, hidden)
        store = server.app.state.eke.jobs._store
        for name, account in ACCOUNTS.items():
            server.access.add(account)
            server.tokens[name] = server.access.new_token(name).text
        for dataset, session in server.app.state.eke.datasets.items():
            owner = _owner(dataset)
            session.ask(COUNT, 60, analyst=owner)
            session.release(session.plan([["sex"]], budget=0.05), analyst=owner)
            session.publish("lda", epsilon=0.1, target="sex", key="rows", analyst=owner)
            store.add(f"job-{dataset}", dataset, owner, "rows", json.dumps(ROWS))
            store.end(f"job-{dataset}", "done", result=10)
            server.ask(COUNT, 200, owner)  # counted in the metrics of each
        server.call("POST", f"/api/v1/datasets/{OUTSIDE}/ask", _owner(OUTSIDE), {"sql": COUNT})
        yield server


def _owner(dataset: str) -> str:
    return "in-analyst-inside" if dataset == INSIDE else "canary-analyst-outside"


def tries(server: Server, caller: Account) -> Iterator[Try]:
    """Every route on every target, with what it must answer this caller."""
    paths = {route.path for route in routes_of(server.app)}
    bodies = {(method, template(path, paths)): body for method, path, body, _ in MATRIX}
    for route in routes_of(server.app):
        method = next(iter(route.methods or ()))
        place = (method, route.path)
        if place in OPEN:
            continue
        allowed = (route.openapi_extra or {}).get("x-roles", ROLES)
        wrong_role = None if caller.role in allowed else 403
        body = bodies[place]  # a KeyError: declare the route in the matrix of test_permission
        names = re.findall(r"{(\w+)}", route.path)
        if "name" in names:
            for dataset in (INSIDE, OUTSIDE):
                unseen = None if caller.may_see(dataset) else 404
                foreign = (
                    404
                    if "job" in names
                    and caller.role == "analyst"
                    and caller.name != _owner(dataset)
                    else None
                )
                path = _filled(route.path, dataset)
                yield Try(method, path, body, wrong_role or unseen or foreign)
        elif names in (["account"], ["token"]):
            for target in ACCOUNTS.values():
                beyond = None if _holds(caller, target) else 404
                spare = server.access.new_token(target.name).identity
                path = route.path.replace("{account}", target.name).replace("{token}", spare)
                yield Try(method, path, body, wrong_role or beyond)
        elif WITHOUT_TARGET[place] == "grant":
            for target in ACCOUNTS.values():
                listed = None if target.datasets is None else list(target.datasets)
                name = f"{target.name.split('-')[0]}-{next(_numbers)}"
                wanted = {"name": name, "role": target.role, "datasets": listed}
                beyond = None if _holds(caller, target) else 403
                yield Try(method, route.path, wanted, wrong_role or beyond)
        else:
            whole = caller.datasets is None or WITHOUT_TARGET[place] == "own"
            yield Try(method, route.path, body, wrong_role or (None if whole else 403))


def _holds(caller: Account, target: Account) -> bool:
    """The rule, said another way than in the code."""
    everything = {INSIDE, OUTSIDE, "any that may come"}
    seen = [everything if one.datasets is None else {*one.datasets} for one in (target, caller)]
    return seen[0] <= seen[1]


def _filled(path: str, dataset: str) -> str:
    """The address with everything but the dataset as it is in both."""
    kind = path.split("/")[5] if path.count("/") > 4 else ""
    return (
        path.replace("{name}", dataset)
        .replace("{sequence}", SEQUENCE.get(kind, "0"))
        .replace("{place}", "0")
        .replace("{job}", f"job-{dataset}")
        .replace(
            "{account}", "in-analyst-inside"
        )  # of the cap: whoever it is, it is of the dataset
    )


def beyond(server: Server, caller: Account) -> Any:
    """Everything that a caller must not change."""
    datasets = [
        (name, session.budget, session.mark())
        for name, session in server.app.state.eke.datasets.items()
        if not caller.may_see(name)
    ]
    accounts = [one for one in server.access.accounts() if not _holds(caller, one)]
    names = {one.name for one in accounts}
    revoked = [
        one for one in server.access.tokens() if one.account in names and one.revoked_at is not None
    ]
    return datasets, accounts, revoked, server.app.state.eke.datasets.items()


def violations(server: Server, name: str, send: Any = None) -> list[str]:
    """What a caller got, saw or changed that it should not have, or did not get."""
    caller, found = ACCOUNTS[name], []
    before = beyond(server, caller)
    for one in tries(server, caller):
        reply: Reply = (send or server.call)(one.method, one.path, name, one.body)
        told = f"{name}: {one.method} {one.path} {one.body} gave {reply.status}"
        wanted = one.expected or "a success"
        if one.expected is None:
            right = reply.status not in (401, 403, 404) and reply.status < 500
        else:
            right = reply.status == one.expected
        if not right:
            found.append(f"{told}, not {wanted}")
        inside = one.path.startswith(f"/api/v1/datasets/{INSIDE}")
        named = "canary" in reply.text or (not inside and "wide-" in reply.text)
        if caller.datasets == (INSIDE,) and named:
            found.append(f"{told} and told of what is out of reach")
        after = beyond(server, caller)
        if after != before:
            found.append(f"{told} and changed what is out of reach")
        before = after
    return found


def test_every_route_is_tried(world: Server) -> None:
    tried = [(one.method, one.path) for one in tries(world, ACCOUNTS["wide-curator-whole"])]
    assert all("{" not in path for _, path in tried)
    assert len(tried) == sum(
        2 if "{name}" in route.path else len(ACCOUNTS) if _by_account(route) else 1
        for route in routes_of(world.app)
        if (next(iter(route.methods or ())), route.path) not in OPEN
    )


def _by_account(route: APIRoute) -> bool:
    grants = (next(iter(route.methods or ())), route.path) == ("POST", "/api/v1/accounts")
    return grants or "{account}" in route.path or "{token}" in route.path


# Who sees both datasets holds nearly what one who sees all holds; for one role that is tried.
SHORT = [name for name in ACCOUNTS if name == "wide-curator-both" or not name.endswith("-both")]


@pytest.mark.parametrize("name", among(sorted(ACCOUNTS), SHORT))
def test_nobody_reaches_further_than_they_hold(world: Server, name: str) -> None:
    assert violations(world, name) == []


def test_a_browser_reaches_no_further_than_its_token(world: Server) -> None:
    name = "in-curator-inside"
    signed_in = world.call("POST", "/api/v1/session", None, {"token": world.tokens[name]})
    cookie = signed_in.headers["set-cookie"].split(";")[0]
    csrf = signed_in.json()["csrf"]

    def send(method: str, path: str, _: str, body: Any) -> Reply:
        if (method, path) == ("DELETE", "/api/v1/session"):  # the browser is needed afterwards
            return world.call(method, path, name, body)
        return world.call(method, path, None, body, Cookie=cookie, X_CSRF_Token=csrf)

    assert violations(world, name, send) == []
    assert signed_in.json()["can_create"] is False
    assert signed_in.json()["datasets"] == [INSIDE]


@pytest.mark.parametrize(
    ("broken", "seen"),
    [
        (
            "reaches",
            {
                "GET /api/v1/accounts",
                "POST /api/v1/accounts",
                "POST /api/v1/accounts/wide-curator-whole/tokens",
                "DELETE /api/v1/tokens/",
            },
        ),
        (
            "may_see",
            {
                "GET /metrics",
                "GET /api/v1/datasets",
                f"PUT /api/v1/datasets/{OUTSIDE}/limit",
                f"POST /api/v1/datasets/{OUTSIDE}/ask",
            },
        ),
    ],
)
def test_a_missing_check_is_noticed(
    world: Server, monkeypatch: pytest.MonkeyPatch, broken: str, seen: set[str]
) -> None:
    """Positive control: accounts that hold everything, as far as the code is concerned."""
    caller = ACCOUNTS["in-curator-inside"]
    known = list(tries(world, caller))
    monkeypatch.setattr("tests.unit.service.test_reach.tries", lambda *_: iter(known))
    monkeypatch.setattr("tests.unit.service.test_reach.beyond", lambda *_: None)
    monkeypatch.setattr(Account, broken, lambda *_: True)
    found = violations(world, caller.name)
    for one in seen:
        assert any(f": {one}" in line for line in found), (one, found)


def test_a_forgotten_route_is_noticed(world: Server) -> None:
    """Positive control: a route that nobody has declared anywhere."""
    routes_before = list(world.app.router.routes)
    world.app.add_api_route("/api/v1/secrets/{secret}", lambda secret: secret, methods=["GET"])
    try:
        with pytest.raises(KeyError):
            list(tries(world, ACCOUNTS["wide-curator-whole"]))
    finally:
        world.app.router.routes[:] = routes_before


def test_what_a_restricted_curator_may_do(world: Server) -> None:
    """The finding: an account without restriction, made to change somebody else's limit."""
    wanted = {"name": "mule", "role": "curator"}
    refused = world.call("POST", "/api/v1/accounts", "in-curator-inside", wanted)
    assert refused.status == 403
    assert "name its datasets" in refused.json()["message"]
    assert world.access.find("mule") is None
    made = world.call(
        "POST", "/api/v1/accounts", "in-curator-inside", {**wanted, "datasets": [INSIDE]}
    )
    assert made.status == 201
    limit = f"/api/v1/datasets/{OUTSIDE}/limit"
    assert world.call("PUT", limit, made.json()["token"], {"limit": 9}).status == 404


@pytest.mark.parametrize("role", ROLES)
def test_only_curators_reach_accounts(role: Role) -> None:
    assert Account("a", role).reaches(Account("b", "analyst", ())) == (role == "curator")
