"""Guarded claims over HTTP: curators guard and lift, everybody sees."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import eke
from eke.errors import AccessDenied, QueryError, Refused
from tests.service import COUNT, Server, listening, serving

PEOPLE = "/api/v1/datasets/people"
PLACE = f"{PEOPLE}/guards"
WOMEN = "SELECT COUNT(*) FROM people WHERE sex = 'Female'"
BODY = {"sql": WOMEN, "claim": "> 20", "threshold": 0.9, "note": "Board"}


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("guards")) as running:
        yield running


def test_a_curator_guards_and_everybody_sees(server: Server) -> None:
    reply = server.call("POST", PLACE, "cleo", json=BODY)
    assert reply.status == 201
    number = reply.json()["sequence"]
    for who in ("ann", "cleo", "otto"):
        (listed,) = server.call("GET", PLACE, who).json()["guards"]
        assert (listed["sequence"], listed["by"], listed["closed"]) == (number, "cleo", False)
        assert (listed["claim"], listed["probability"]) == ("> 20", None)
    assert server.call("DELETE", f"{PLACE}/{number}", "ann").status == 403
    assert server.call("DELETE", f"{PLACE}/{number}", "cleo").status == 204
    assert server.call("GET", PLACE, "ann").json() == {"guards": []}
    assert server.call("DELETE", f"{PLACE}/{number}", "cleo").status == 400


@pytest.mark.parametrize("who", ["ann", "otto", "ben"])
def test_nobody_else_guards(server: Server, who: str) -> None:
    assert server.call("POST", PLACE, who, json=BODY).status == 403
    assert not server.session.guards


def test_what_is_refused_names_the_guard(server: Server) -> None:
    server.ask(WOMEN, 20)
    server.call("POST", PLACE, "cleo", json=BODY)
    before = server.session.budget
    (state,) = server.call("GET", PLACE, "ann").json()["guards"]
    assert state["closed"]
    refused = server.ask(WOMEN, 10)
    assert refused.status == 402
    assert refused.json()["error"] == "Refused"
    said = f"(entry {state['sequence']}, from 0.9 on)"
    assert said in refused.json()["message"]
    assert said in refused.json()["refusal"]["guarded"]
    assert server.ask(WOMEN, 20).status == 200
    preview = server.call("POST", f"{PEOPLE}/preview", "ann", {"sql": WOMEN, "within": 10}).json()
    assert preview["action"] == "refuse"
    assert said in preview["guarded"]
    assert said in preview["sentence"]
    tables = {"workload": {"over": [["sex"]]}, "budget": 0.1}
    plan = server.call("POST", f"{PEOPLE}/plans", "ann", tables).json()
    assert not plan["affordable"]
    assert said in plan["guarded"]
    assert server.call("POST", f"{PEOPLE}/releases", "ann", tables).status == 402
    rows = {"mechanism": "lda", "epsilon": 0.1, "options": {"target": "sex"}}
    price = server.call("POST", f"{PEOPLE}/publications/preview", "ann", rows).json()
    assert not price["affordable"]
    assert said in price["guarded"]
    made = server.call("POST", f"{PEOPLE}/publications", "ann", rows)
    assert (made.status, made.json()["error"]) == (402, "Refused")
    assert said in made.json()["message"]
    assert server.session.budget == before


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"threshold": 1.5}, 422),
        ({"threshold": 0}, 422),
        ({"threshold": "x"}, 422),
        ({"claim": "soon"}, 400),
        ({"claim": "9 to 3"}, 400),
        ({"sql": "SELECT AVG(age) FROM people"}, 400),
        ({"note": "x" * 501}, 422),
        ({"note": "a\nb"}, 400),
        ({"by": "ann"}, 422),
    ],
)
def test_bad_claims_are_refused(server: Server, changes: dict[str, object], status: int) -> None:
    entries = len(server.session.ledger_entries())
    assert server.call("POST", PLACE, "cleo", json=BODY | changes).status == status
    assert len(server.session.ledger_entries()) == entries


def test_the_client_mirrors_a_session(server: Server) -> None:
    with listening(server.app) as url:
        with eke.connect(url, server.tokens["cleo"]) as remote:
            remote.guard(eke.count(sex="Female"), "> 20", threshold=0.9, note="Board")
            second = remote.guard(COUNT, "10 to 50", threshold=0.5)
            remote.ask(eke.count(sex="Female"), within=20)
            assert remote.guards == server.session.guards
            assert [one.closed for one in remote.guards] == [True, False]
            with pytest.raises(Refused, match="guarded claim") as refused:
                remote.ask(eke.count(sex="Female"), within=10)
            assert isinstance(refused.value.refusal, eke.session.Preview)
            assert "(entry 2," in refused.value.refusal.guarded
            assert "(entry 2," in remote.preview(eke.count(sex="Female"), within=10).guarded
            price = remote.price(remote.plan([["sex"]], budget=0.1))
            assert "(entry 2," in price.guarded
            assert not price.affordable
            with pytest.raises(Refused, match="guarded claim"):
                remote.release(remote.plan([["sex"]], budget=0.1))
            with pytest.raises(QueryError, match="one count or sum"):
                remote.guard("SELECT AVG(age) FROM people", "> 20", threshold=0.9)
            remote.lift(second)
            assert len(remote.guards) == 1
        with eke.connect(url, server.tokens["ann"]) as remote:
            assert len(remote.guards) == 1
            with pytest.raises(AccessDenied):
                remote.guard(COUNT, "> 20", threshold=0.9)
            with pytest.raises(AccessDenied):
                remote.lift(2)
