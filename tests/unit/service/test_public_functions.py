"""Lookups and derived columns over HTTP: made by documents, never by files, shown and asked."""

from __future__ import annotations

from typing import Any

import pytest

import eke
from eke.domain import domain_to_document
from tests.service import DOMAIN, Server, finished, listening, people

SIZES = eke.Lookup("sizes", ["city"], {"city": ["b & c", "d"], "size": [2, 1]})
FULL = DOMAIN.with_lookups(SIZES).with_derived(minor="age < 18")
PLACE = "/api/v1/datasets/full"


def make(server: Server, **changes: Any) -> Any:
    people().to_csv(server.folder / "people.csv", index=False)
    document = {**domain_to_document(FULL), **changes}
    body = {"name": "full", "file": "people.csv", "domain": document, "epsilon": 5.0}
    return server.call("POST", "/api/v1/datasets", "cleo", body)


def test_a_dataset_is_made_shown_and_asked(server: Server) -> None:
    assert make(server).status == 201
    schema = server.call("GET", f"{PLACE}/schema", "ann").json()
    assert schema["domain"]["derived"] == {"minor": "age < 18"}
    assert schema["domain"]["lookups"]["sizes"]["rows"] == [["b & c", 2], ["d", 1]]
    text = "SELECT minor, SUM(size) AS n FROM full JOIN sizes USING (city) GROUP BY minor"
    answer = server.call("POST", f"{PLACE}/ask", "ann", {"sql": text, "within": 40})
    assert answer.status == 200, answer.json()
    rows = {"mechanism": "max_entropy", "epsilon": 1.0, "options": {"rows": 20}}
    job = server.call("POST", f"{PLACE}/publications", "cleo", rows)
    published = finished(server, job.json())
    place = f"{PLACE}/publications/{published}"
    first = server.call("GET", place, "cleo").json()
    assert {len(row) for row in first["first_rows"]} == {len(first["attributes"])} == {3}
    written = server.call("GET", f"{place}/rows?format=csv", "cleo").body.decode()
    head, *lines = written.splitlines()
    assert head == "sex,age,city,minor"
    assert len(lines) == 20
    assert all(line.endswith(str(line.split(",")[1] == "17")) for line in lines)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"unit": {"column": "nope", "rows": 2}}, "no column 'nope'"),
        ({"domain": {"attributes": {"nope": {"kind": "boolean"}}}}, "nope"),
    ],
)
def test_a_column_that_the_table_lacks_is_the_curators_mistake(
    server: Server, changes: dict[str, Any], told: str
) -> None:
    """Before, this was a 503: as if the server were at fault."""
    people().to_csv(server.folder / "people.csv", index=False)
    whole = {"name": "full", "file": "people.csv", "domain": domain_to_document(FULL)}
    made = server.call("POST", "/api/v1/datasets", "cleo", {**whole, "epsilon": 5.0, **changes})
    assert made.status in {400, 422}
    assert told in made.json()["message"]
    assert server.call("GET", f"{PLACE}/schema", "cleo").status == 404
    assert make(server).status == 201, "nothing is left behind under the name"


def test_the_other_end_knows_them(server: Server) -> None:
    assert make(server).status == 201
    with listening(server.app) as url, eke.connect(url, server.tokens["ann"], "full") as session:
        assert session.domain == FULL
        assert session.ask("SELECT COUNT(*) FROM full WHERE minor", within=40).cost > 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"derived": {"minor": "agee < 18"}}, "derived column 'minor': there is no column 'agee'"),
        ({"lookups": {"x": {"file": "people.csv", "keys": ["city"]}}}, "'keys', 'columns' and"),
        (
            {"lookups": {"x": {"keys": ["city"], "columns": [], "rows": [["d"], ["d"]]}}},
            "two rows with city = 'd'",
        ),
    ],
)
def test_what_is_wrong_is_said(server: Server, changes: Any, message: str) -> None:
    """No file of the server's is read because a document names it."""
    refused = make(server, **changes)
    assert refused.status == 400
    assert message in refused.json()["message"]
    assert not (server.folder / "full.eke").exists()
