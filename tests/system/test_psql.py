"""`eke serve --pg` and psql, as somebody would use them."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
from pathlib import Path

import eke
from eke.service import Access, Account
from tests.postgresql_server import programs
from tests.service import DOMAIN, people, serve_command


def test_psql_browses_asks_and_asks_again_for_free(tmp_path: Path) -> None:
    people().to_csv(tmp_path / "people.csv", index=False)
    eke.create(tmp_path / "people.eke", tmp_path / "people.csv", DOMAIN, epsilon=1.0)
    access = Access(tmp_path / "eke-access.db")
    access.add(Account("ann", "analyst"))
    token = access.new_token("ann").text
    access.close()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    client = shutil.which("psql") or str(programs() / "psql")

    def psql(*commands: str) -> subprocess.CompletedProcess[str]:
        address = f"host=127.0.0.1 port={port} user=ann dbname=people options='-c eke.within=40'"
        words = [word for command in commands for word in ("-c", command)]
        return subprocess.run(
            [client, "-X", "-A", "-t", address, *words],
            env={**os.environ, "PGPASSWORD": token},
            capture_output=True,
            text=True,
            check=False,
        )

    with serve_command("people.eke", "--pg", f"127.0.0.1:{port}", folder=tmp_path):
        listed = psql(r"\dt", r"\d people")
        assert "public|people|table|eke" in listed.stdout
        assert "age|bigint" in listed.stdout
        question = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
        first, again = psql(question), psql(question)
        assert first.stdout == again.stdout
        assert [line.split("|")[0] for line in first.stdout.splitlines()] == ["Female", "Male"]
        assert "Paid epsilon" in first.stderr
        assert "Free" in again.stderr
        refused = psql("SELECT * FROM people LIMIT 10")
        assert refused.returncode != 0
        assert "records are never shown" in refused.stderr
        copied = psql(f"\\copy ({question}) TO STDOUT CSV HEADER")
        assert copied.stdout.splitlines()[0] == "sex,n"
