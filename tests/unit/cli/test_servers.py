"""Commands on a dataset whose table and ledger are both in PostgreSQL."""

from __future__ import annotations

import secrets
from pathlib import Path

import psycopg

from tests.command_line import Run
from tests.postgresql_server import Server

DOMAIN = """\
format: eke-domain/1
attributes:
  age: {type: integer, low: 0, high: 99}
"""


def test_addresses_stand_where_files_do(run: Run, postgresql: Server, tmp_path: Path) -> None:
    name = f"cli_{secrets.token_hex(6)}"
    with psycopg.connect(postgresql.address()) as connection:
        connection.execute(
            f"CREATE TABLE {name} AS SELECT n % 100 AS age FROM generate_series(1, 500) n".encode()
        )
    (tmp_path / "people.yaml").write_text(DOMAIN)
    table = postgresql.address().replace("eke@", "eke:hidden@")
    place = postgresql.address(name).replace("eke@", "eke:hidden@")
    made = run(
        *("init", table, tmp_path / "people.yaml", "--table", f"public.{name}", "--epsilon", "1"),
        *("-o", place, "--json"),
    )
    assert made.code == 0, made.err
    assert f"dataset={name}" in made.json["dataset"]
    asked = run("ask", place, "SELECT COUNT(*) FROM t", "-w", "50", "--json")
    assert asked.code == 0, asked.err
    verified = run("verify", place, "--json")
    assert verified.json["intact"]
    again = run("init", table, tmp_path / "people.yaml", "--epsilon", "1", "-o", place)
    assert again.code != 0
    for shown in (made, asked, verified, again):
        assert "hidden" not in shown.out + shown.err
