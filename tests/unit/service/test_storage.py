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
from sqlalchemy import func

from eke.errors import ServiceError
from eke.service import Access, Account
from eke.service.storage import Change, Row, Storage, StorageUnavailable, open_storage
from tests.postgresql_server import Server, running_server
from tests.service import serving


@pytest.fixture
def storage(place: str) -> Iterator[Storage]:
    with closing(open_storage(place)) as opened:
        yield opened


def adding(storage: Storage, name: str) -> Change:
    return storage.tables.account.insert().values(name=name, role="analyst")


def people(storage: Storage) -> list[Row]:
    return list(storage.read(storage.tables.account.select()))


def plain(address: str) -> psycopg.Connection[Any]:
    return psycopg.connect(address.partition("&dataset=")[0], autocommit=True)


def schema_of(address: str) -> str:
    return address.rpartition("dataset=")[2]


# -- both ----------------------------------------------------------------------------------------


def test_a_block_is_kept_whole_or_not_at_all(storage: Storage) -> None:
    account = storage.tables.account
    with storage.writing() as run:
        assert run(adding(storage, "ann")) == 1
        assert run(account.update().where(account.c.name == "nobody").values(role="auditor")) == 0

    def fail() -> None:
        with storage.writing() as run:
            run(adding(storage, "ben"))
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    beside = storage.beside()
    assert people(beside) == [("ann", "analyst", None)]
    if beside is not storage:
        beside.close()


def test_what_the_database_refuses_undoes_the_block(storage: Storage) -> None:
    def twice() -> None:
        with storage.writing() as run:
            run(adding(storage, "zoe"))
            run(adding(storage, "zoe"))

    for _ in range(2):  # and the storage is as good as before
        with pytest.raises(StorageUnavailable, match="cannot be used") as caught:
            twice()
        assert "zoe" not in str(caught.value)
    assert people(storage) == []


def test_blocks_wait_for_each_other(storage: Storage, place: str) -> None:
    """Read, then write what follows from it: by eight at once, nothing is lost."""
    job = storage.tables.job
    row = dict.fromkeys(("id", "dataset", "account", "request_key", "request", "step"), "j")
    with storage.writing() as run:
        run(job.insert().values(**row, state="done", progress=0.0, made_at=0.0, result=0))
    start = threading.Barrier(8)

    def count(_: int) -> None:
        with closing(open_storage(place)) as mine:
            start.wait()
            for _ in range(5):
                with mine.writing() as run:
                    assert run(job.update().values(result=job.c.result + 1)) == 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(count, range(8)))
    assert storage.read(job.select().with_only_columns(job.c.result)) == [(40,)]


def test_opening_again_changes_nothing(storage: Storage, place: str) -> None:
    with storage.writing() as run:
        run(adding(storage, "ann"))
    with closing(open_storage(place)) as again:
        assert people(again) == [("ann", "analyst", None)]
    assert storage.shared == ("://" in place)


def test_numbers_are_kept_to_the_last_bit(storage: Storage) -> None:
    """A single-precision column would round a time to minutes."""
    token, job = storage.tables.token, storage.tables.job
    made = {"identity": "t", "account": "ann", "hash": "h", "made_at": 1_800_000_000.123457}
    row = dict.fromkeys(("id", "dataset", "account", "request_key", "request", "step"), "j")
    with storage.writing() as run:
        run(adding(storage, "ann"))
        run(token.insert().values(made))
        run(job.insert().values(**row, state="done", progress=0.1, made_at=0.0, result=2**53 + 1))
    assert storage.read(token.select()) == [("t", "ann", "h", 1_800_000_000.123457, None, None)]
    kept = job.select().with_only_columns(job.c.progress, job.c.result, job.c.owner, job.c.unwanted)
    assert storage.read(kept) == [(0.1, 2**53 + 1, "", 0)]


def test_its_clock_runs(storage: Storage) -> None:
    first, second = storage.time(), storage.time()
    assert 1.7e9 < first <= second < 1e11


def test_newer_tables_are_left_alone(storage: Storage, place: str) -> None:
    if storage.shared:
        with plain(place) as connection:
            connection.execute(f'UPDATE "{schema_of(place)}".access_version SET number = 99')
    else:
        with closing(sqlite3.connect(place)) as connection:
            connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ServiceError, match="another version"):
        open_storage(place)


# -- a file --------------------------------------------------------------------------------------


def test_other_files_are_not_taken_for_accounts(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("nothing like a database, but long enough to look at\n" * 40)
    with pytest.raises(ServiceError, match="holds no accounts"):
        open_storage(text)
    with pytest.raises(ServiceError, match="cannot be used"):
        open_storage(tmp_path)


def test_tables_of_others_are_left_alone(place: str) -> None:
    """A ledger, for example, has a table `account`, too."""
    schema = schema_of(place)
    if "://" in place:
        with plain(place) as connection:
            connection.execute(f'CREATE SCHEMA "{schema}"')
            connection.execute(f'CREATE TABLE "{schema}".access_token (only_row BIGINT)')
    else:
        with closing(sqlite3.connect(place)) as file:
            file.execute("CREATE TABLE token (only_row BIGINT)")
    for _ in range(2):
        with pytest.raises(StorageUnavailable, match="cannot be used"):
            open_storage(place)
    if "://" in place:
        with plain(place) as connection:
            found = connection.execute(
                "SELECT tablename FROM pg_tables WHERE schemaname = %s", [schema]
            ).fetchall()
        assert found == [("access_token",)]
    else:
        with closing(sqlite3.connect(place)) as file:
            assert file.execute("SELECT name FROM sqlite_schema").fetchall() == [("token",)]


def test_a_file_that_cannot_be_read_is_a_503(tmp_path: Path) -> None:
    storage = open_storage(tmp_path / "access.db")
    storage.close()

    def write() -> None:
        with storage.writing() as run:
            run(adding(storage, "ann"))

    for use in (lambda: people(storage), write):
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
        run(adding(storages[0], "ann"))
    for storage in storages:
        assert people(storage) == [("ann", "analyst", None)]
        storage.close()
    with plain(address) as connection:
        found = connection.execute(
            "SELECT tablename FROM pg_tables WHERE schemaname = %s", [schema_of(address)]
        ).fetchall()
    assert {name for (name,) in found} == {
        f"access_{name}"
        for name in ("account", "token", "verifier", "setting", "browser", "job", "version")
    }


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
            run(adding(storage, "ann"))
        seen = storage.tables.account.select().with_only_columns(func.pg_backend_pid(), func.now())
        before, after = (storage.read(seen) for _ in range(2))
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
        assert people(storage) == []
        kill()
        with storage.writing() as run:
            run(adding(storage, "ann"))

        def lose() -> None:
            with storage.writing() as run:
                run(adding(storage, "ben"))
                kill()
                run(adding(storage, "cleo"))

        with pytest.raises(StorageUnavailable):
            lose()
        assert people(storage) == [("ann", "analyst", None)], "nothing is tried twice"


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
