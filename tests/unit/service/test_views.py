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
    view = {"sql": sql, "tables": tables or TABLES}
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
