"""Facts over HTTP: curators register them, everybody sees them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import eke
from eke.errors import AccessDenied, FactError
from tests.service import COUNT, Server, listening, serving

PLACE = "/api/v1/datasets/people/outside"


def told(**changes: object) -> dict[str, object]:
    women = "SELECT COUNT(*) FROM people WHERE sex = 'Female'"
    return {"source": "Yearbook", "statements": [{"sql": women, "values": [134], **changes}]}


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("outside")) as running:
        yield running


def test_a_curator_registers_and_everybody_sees(server: Server) -> None:
    reply = server.call("POST", PLACE, "cleo", json=told())
    assert reply.status == 201
    for who in ("ann", "cleo", "otto"):
        (listed,) = server.call("GET", PLACE, who).json()["outside"]
        assert (listed["source"], listed["by"], listed["value"]) == ("Yearbook", "cleo", 134.0)
    number = reply.json()["sequence"]
    assert server.call("DELETE", f"{PLACE}/{number}", "ann").status == 403
    assert server.call("DELETE", f"{PLACE}/{number}", "cleo").status == 204
    assert server.call("GET", PLACE, "ann").json() == {"outside": []}
    assert server.call("DELETE", f"{PLACE}/{number}", "cleo").status == 400


@pytest.mark.parametrize("who", ["ann", "otto"])
def test_nobody_else_registers(server: Server, who: str) -> None:
    assert server.call("POST", PLACE, who, json=told()).status == 403
    assert server.call("POST", PLACE, "ben", json=told()).status == 403
    assert not server.session.outside


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"values": [134, 1]}, 400),
        ({"values": []}, 422),
        ({"values": ["x"]}, 422),
        ({"values": ["1/0"]}, 400),
        ({"values": [-1]}, 400),
        ({"law": {"kind": "laplace"}}, 400),
        ({"law": {"kind": "laplace", "laplace_scale": "9"}}, 400),
        ({"sql": "SELECT AVG(age) FROM people"}, 400),
        ({"by": "ann"}, 422),
    ],
)
def test_bad_statements_are_refused(
    server: Server, changes: dict[str, object], status: int
) -> None:
    entries = len(server.session.ledger_entries())
    assert server.call("POST", PLACE, "cleo", json=told(**changes)).status == status
    assert len(server.session.ledger_entries()) == entries


def test_the_client_mirrors_a_session(server: Server) -> None:
    with listening(server.app) as url:
        with eke.connect(url, server.tokens["cleo"]) as remote:
            number = remote.add_fact(eke.Fact(COUNT, 400, "Yearbook, table 1"))
            by_sex = {"Male": 260, "Female": 140}
            noisy = eke.NoisyTable(eke.marginal("sex"), by_sex, noise_variance=100)
            remote.learn(noisy, source="Office")
            assert remote.outside == server.session.outside
            assert [one.sequence for one in remote.facts] == [number]
            answer = remote.ask(COUNT, within=1)
            assert (answer.value, answer.interval, answer.cost) == (400.0, (400.0, 400.0), 0.0)
            assert answer.caveats[-1].endswith("registered them: Yearbook, table 1.")
            assert len(remote.history) == 2
            with pytest.raises(FactError, match="contradicts 'Yearbook, table 1'"):
                remote.add_fact(eke.Fact(eke.count(), 401, "Another"))
            remote.remove_fact(number)
            assert [one.kind for one in remote.outside] == ["learned"]
        with eke.connect(url, server.tokens["ann"]) as remote:
            assert len(remote.outside) == 1
            with pytest.raises(AccessDenied):
                remote.add_fact(eke.Fact(COUNT, 400, "Yearbook, table 1"))
