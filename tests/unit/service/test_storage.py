"""Where accounts and jobs are kept: transactions, versions, and a server that goes away."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from eke.errors import ServiceError
from eke.service import Access, Account
from eke.service.storage import Storage, StorageUnavailable, open_storage
from eke.service.storage.schema import STEPS, TABLES, VERSION
from tests.postgresql_server import Server, running_server
from tests.service import serving

_INSERT = "INSERT INTO account VALUES (?, ?, NULL)"


@pytest.fixture
def storage(place: str) -> Iterator[Storage]:
    with closing(open_storage(place)) as opened:
        yield opened


def plain(address: str) -> psycopg.Connection[Any]:
    return psycopg.connect(address.partition("&dataset=")[0], autocommit=True)


def schema_of(address: str) -> str:
    return address.rpartition("dataset=")[2]


# -- both ----------------------------------------------------------------------------------------


def test_a_block_is_kept_whole_or_not_at_all(storage: Storage) -> None:
    with storage.writing() as run:
        assert run(_INSERT, "ann", "analyst") == 1
        assert run("UPDATE account SET role = 'auditor' WHERE name = ?", "nobody") == 0

    def fail() -> None:
        with storage.writing() as run:
            run(_INSERT, "ben", "analyst")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    beside = storage.beside()
    assert beside.read("SELECT name, role, datasets FROM account") == [("ann", "analyst", None)]
    if beside is not storage:
        beside.close()


def test_opening_again_changes_nothing(storage: Storage, place: str) -> None:
    with storage.writing() as run:
        run(_INSERT, "ann", "analyst")
    with closing(open_storage(place)) as again:
        assert again.read("SELECT name FROM account") == [("ann",)]
    assert storage.shared == ("://" in place)


def test_numbers_are_kept_to_the_last_bit(storage: Storage) -> None:
    """A single-precision column would round a time to minutes."""
    with storage.writing() as run:
        run(_INSERT, "ann", "analyst")
        run("INSERT INTO token VALUES ('t', 'ann', 'h', ?, NULL, NULL)", 1_800_000_000.123457)
        run(
            "INSERT INTO job (id, dataset, account, request_key, request, state, step, progress, "
            "made_at, result) VALUES ('j', 'd', 'ann', 'k', '{}', 'done', 'done', 0.1, 0.0, ?)",
            2**53 + 1,
        )
    assert storage.read("SELECT made_at FROM token") == [(1_800_000_000.123457,)]
    assert storage.read("SELECT progress, result FROM job") == [(0.1, 2**53 + 1)]


def test_its_clock_runs(storage: Storage) -> None:
    first, second = storage.time(), storage.time()
    assert 1.7e9 < first <= second < 1e11


def test_newer_tables_are_left_alone(storage: Storage, place: str) -> None:
    if storage.shared:
        with storage.writing() as run:
            run("UPDATE version SET number = 99")
    else:
        with closing(sqlite3.connect(place)) as connection:
            connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ServiceError, match="another version"):
        open_storage(place)


# -- a file --------------------------------------------------------------------------------------


@pytest.mark.parametrize("served", [True, False])
def test_a_file_of_the_first_version_is_brought_up_to_date(folder: Path, served: bool) -> None:
    """Its accounts and its finished jobs stay; a file that no server used had no table of jobs."""
    path = folder / "old.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for statement in (*STEPS[0], *(STEPS[1][:1] if served else ())):
            connection.execute(statement)
        connection.execute("PRAGMA user_version = 1")
        connection.execute("INSERT INTO account VALUES ('ann', 'analyst', NULL)")
        if served:
            connection.execute(
                "INSERT INTO job VALUES ('j', 'd', 'ann', 'k', '{}', 'done', 'done', 1.0, 5.0, "
                "6.0, NULL, 3)"
            )
    with closing(open_storage(path)) as storage:
        assert storage.read("SELECT name FROM account") == [("ann",)]
        assert storage.read("SELECT id, owner FROM job") == ([("j", "")] if served else [])
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_other_files_are_not_taken_for_accounts(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("nothing like a database, but long enough to look at\n" * 40)
    with pytest.raises(ServiceError, match="holds no accounts"):
        open_storage(text)
    with pytest.raises(ServiceError, match="cannot be used"):
        open_storage(tmp_path)


def test_a_file_that_cannot_be_read_is_a_503(tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "access.db")
    storage.close()

    def write() -> None:
        with storage.writing() as run:
            run(_INSERT, "ann", "analyst")

    for use in (lambda: storage.read("SELECT name FROM account"), write):
        with pytest.raises(StorageUnavailable, match=r"access\.db cannot be used") as caught:
            use()
        assert caught.value.status == 503


# -- PostgreSQL ----------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["mysql://h/b", "postgresql://h/b?dataset=a+b", "http://:x/"])
def test_other_addresses_are_refused(address: str) -> None:
    with pytest.raises(ServiceError):
        open_storage(address)


def test_passwords_are_not_shown() -> None:
    address = "postgresql://eke:hidden@127.0.0.1:1/base?sslpassword=hidden"
    with pytest.raises(StorageUnavailable, match="cannot be reached") as caught:
        open_storage(address)
    assert "hidden" not in str(caught.value)
    assert "127.0.0.1" in str(caught.value), "the operator is told where"
    assert "127.0.0.1" not in str(caught.value.document), "a caller is not"


def test_servers_that_start_at_once_make_the_tables_once(address: str) -> None:
    start = threading.Barrier(8)

    def opened(_: int) -> Storage:
        start.wait()
        return open_storage(address)

    with ThreadPoolExecutor(8) as pool:
        storages = list(pool.map(opened, range(8)))
    with storages[0].writing() as run:
        run(_INSERT, "ann", "analyst")
    for storage in storages:
        assert storage.read("SELECT name FROM account") == [("ann",)]
        storage.close()
    with plain(address) as connection:
        found = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s", [schema_of(address)]
        ).fetchall()
    assert {name for (name,) in found} == {f"access_{name}" for name in (*TABLES, "version")}


def test_accounts_have_a_schema_of_their_own(postgresql: Server) -> None:
    with closing(open_storage(postgresql.address())) as storage:
        assert "dataset=eke_access" in storage.place


def test_a_commit_is_on_disk_whatever_the_default(address: str) -> None:
    with plain(address) as connection:
        connection.execute("ALTER ROLE eke SET synchronous_commit = off")
        try:
            with (
                closing(open_storage(address)) as storage,
                storage._transaction() as transaction,  # type: ignore[attr-defined]
            ):
                shown = transaction.exec_driver_sql("SHOW synchronous_commit").scalar_one()
            assert shown == "on"
        finally:
            connection.execute("ALTER ROLE eke RESET synchronous_commit")


def test_a_user_without_rights_is_told_which(address: str, postgresql: Server) -> None:
    with plain(address) as connection:
        connection.execute("CREATE ROLE guest LOGIN")
        try:
            with pytest.raises(ServiceError, match="needs CREATE"):
                open_storage(address.replace("eke@", "guest@"))
            open_storage(address).close()
            with pytest.raises(ServiceError, match="must own"):
                open_storage(address.replace("eke@", "guest@"))
        finally:
            connection.execute("DROP ROLE guest")


def test_a_read_is_one_statement_outside_of_any_transaction(address: str) -> None:
    """Also after a transaction was open on the same connection."""
    with closing(open_storage(address)) as storage:
        with storage.writing() as run:
            run(_INSERT, "ann", "analyst")
        before, after = (
            storage.read("SELECT pg_backend_pid(), now(), name FROM account") for _ in range(2)
        )
        assert before[0][0] == after[0][0], "one connection does"
        assert before[0][1] < after[0][1], "now() stands still in a transaction"
        with plain(address) as connection:
            state = connection.execute(
                "SELECT state FROM pg_stat_activity WHERE pid = %s", [after[0][0]]
            ).fetchone()
        assert state == ("idle",)


def test_connections_that_died_are_replaced(address: str) -> None:
    """Once by a kill of the session, for a reading and for a writing block each."""
    with closing(open_storage(address)) as storage, plain(address) as connection:

        def kill() -> None:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE application_name = 'eke' AND pid <> pg_backend_pid()"
            )

        kill()
        assert storage.read("SELECT name FROM account") == []
        kill()
        with storage.writing() as run:
            run(_INSERT, "ann", "analyst")

        def lose() -> None:
            with storage.writing() as run:
                run(_INSERT, "ben", "analyst")
                kill()
                run(_INSERT, "cleo", "curator")

        with pytest.raises(StorageUnavailable):
            lose()
        assert storage.read("SELECT name FROM account") == [("ann",)], "nothing is tried twice"


def test_a_server_that_is_away_is_a_503_and_found_again(folder: Path) -> None:
    with running_server() as postgresql, serving(folder, access=postgresql.address()) as server:
        place = "/api/v1/datasets"
        assert server.call("GET", place, "ann").status == 200
        token = {"token": server.tokens["ann"]}
        cookie = server.call("POST", "/api/v1/session", json=token).headers["set-cookie"]
        browser = {"Cookie": cookie.partition(";")[0]}
        assert server.send("GET", place, browser).status == 200
        postgresql.stop()
        answers = [
            server.call("GET", place, "ann"),
            server.send("GET", place, browser),
            server.call("POST", "/api/v1/session", json=token),
        ]
        assert [one.status for one in answers] == [503, 503, 503]
        for one in answers:
            assert one.json()["error"] == "ServiceError"
            assert "postgres" not in one.text
        assert server.call("GET", "/health").status == 200
        postgresql.start()
        assert server.call("GET", place, "ann").status == 200
        assert server.send("GET", place, browser).status == 200
        server.access.add(Account("zoe", "analyst"))
        with closing(Access(postgresql.address())) as other:
            assert other.find("zoe") == Account("zoe", "analyst")
