"""Views over HTTP: made of files in the server's folder, and of nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from eke.domain import domain_to_document
from tests.service import DOMAIN, Server, people

SQL = "SELECT p.sex, p.age, c.city FROM people p JOIN cities c ON p.city = c.city"
TABLES = {"people": "people.csv", "cities": "cities.csv"}


def make(server: Server, sql: str = SQL, tables: Any = None, **more: Any) -> Any:
    people().to_csv(server.folder / "people.csv", index=False)
    people()[["city"]].drop_duplicates().to_csv(server.folder / "cities.csv", index=False)
    view = {"sql": sql, "tables": TABLES if tables is None else tables}
    body = {"name": "joined", "domain": domain_to_document(DOMAIN), "epsilon": 5.0, "view": view}
    return server.call("POST", "/api/v1/datasets", "cleo", {**body, **more})


def test_a_dataset_of_a_view_is_made_and_asked(server: Server) -> None:
    assert make(server).status == 201
    place = "/api/v1/datasets/joined"
    body = {"sql": "SELECT COUNT(*) FROM joined", "within": 40}
    answer = server.call("POST", f"{place}/ask", "ann", body)
    assert abs(answer.json()["value"] - 400) < 100
    drafted = server.call(
        "POST", "/api/v1/drafts", "cleo", {"view": {"sql": SQL, "tables": TABLES}}
    )
    assert set(drafted.json()["domain"]["attributes"]) == {"sex", "age", "city"}
    assert server.call("POST", "/api/v1/drafts", "ann", {"file": "people.csv"}).status == 403


def promise(server: Server, sql: str = SQL, tables: Any = None, **more: Any) -> Any:
    people().to_csv(server.folder / "people.csv", index=False)
    (server.folder / "cities.csv").write_text("city\n", "utf-8")
    view = {"sql": sql, "tables": TABLES if tables is None else tables}
    return server.call("POST", "/api/v1/promises", "cleo", {"view": view, **more})


def test_what_would_be_protected_is_told_before_anything_is_made(server: Server) -> None:
    assert promise(server).json() == {
        "sentence": "Protected: one row of people, which makes at most one row of the view. "
        "What stands in cities is not protected: it is taken for public.",
        "protected": ["people"],
        "public": ["cities"],
    }
    by_city = SQL.replace("SELECT ", "SELECT p.city AS home, ")
    found = promise(server, by_city, unit={"column": "home", "rows": 3}).json()
    assert found["protected"] == ["people", "cities"]
    assert found["sentence"] == (
        "Protected: all rows of people and cities that belong to one home."
    )


@pytest.mark.parametrize(
    ("changes", "status", "told"),
    [
        ({"sql": "SELECT p.sex FROM people p, cities c"}, 400, "JOIN"),
        ({"unit": {"column": "nobody", "rows": 1}}, 400, "no column 'nobody'"),
        ({"neighbours": "replace_one"}, 400, "LEFT JOIN"),
        ({"tables": {"people": "people.csv", "cities": "none.csv"}}, 422, "no table of this name"),
        ({"tables": {"people": "people.csv", "cities": "people.csv"}}, 422, "use one name"),
        ({"tables": {}, "sql": "SELECT 1"}, 422, "tables"),
    ],
)
def test_what_cannot_be_promised_is_said_with_advice(
    changes: dict[str, Any], status: int, told: str, server: Server
) -> None:
    answer = promise(server, **changes)
    assert answer.status == status, answer.json()
    assert told in answer.json()["message"]


def test_a_draft_and_a_dataset_say_what_is_wrong_with_their_view(server: Server) -> None:
    """A curator's view is not a dataset that cannot be used, nor a file that cannot be read."""
    twice = {"people": "people.csv", "cities": "people.csv"}
    made = make(server, tables=twice)
    assert (made.status, "use one name" in made.json()["message"]) == (422, True)
    view = {"sql": "SELECT nothing FROM people", "tables": {"people": "people.csv"}}
    drafted = server.call("POST", "/api/v1/drafts", "cleo", {"view": view})
    assert drafted.status == 422
    assert "has no column 'nothing'" in drafted.json()["message"]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"tables": {"people": "people.csv", "cities": "../secret.csv"}}, 422),
        ({"tables": {"people": "people.csv", "cities": "/etc/passwd"}}, 422),
        ({"tables": {"people": "people.csv", "cities": "postgresql://host/base"}}, 422),
        ({"sql": "SELECT sex FROM read_csv('/etc/passwd')"}, 400),
        ({"sql": "SELECT sex FROM '/etc/passwd'"}, 400),
        ({"sql": "SELECT sex FROM people ORDER BY random()"}, 400),
        ({"file": "people.csv"}, 422),
        ({"view": None}, 422),
    ],
)
def test_a_view_reads_files_of_the_folder_only(
    changes: dict[str, Any], status: int, server: Server
) -> None:
    (server.folder.parent / "secret.csv").write_text("city\nd\n", "utf-8")
    answer = make(server, **changes)
    assert answer.status == status, answer.json()
    assert "root:" not in answer.text
