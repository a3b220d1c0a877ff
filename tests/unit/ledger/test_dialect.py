from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event, insert

from eke.errors import LedgerError, LedgerTampered
from eke.ledger import Ledger, schema, sqlite_file
from eke.ledger.dialect import File, locate


def test_places_are_absolute_files_or_servers(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert locate("x.eke") == File((tmp_path / "x.eke").resolve())
    assert locate(Path("x.eke")) == locate("sqlite:///x.eke")


@pytest.mark.parametrize(
    "text", ["sqlite://", "sqlite:///:memory:", "mysql://host/base", "http://x", "://"]
)
def test_places_that_do_not_last_are_refused(text):
    with pytest.raises(LedgerError):
        locate(text)


def test_every_connection_is_durable(ledger, path):
    for write in (False, True):
        with ledger._transaction(write=write) as connection:
            read = {
                name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
                for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
            }
        assert read == {
            "journal_mode": "truncate",
            "synchronous": 2,
            "foreign_keys": 1,
            "busy_timeout": sqlite_file.BUSY_SECONDS * 1000,
        }


def test_a_file_switched_to_wal_is_switched_back(ledger, path, spend):
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    spend(ledger, "key")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    assert not path.with_name(path.name + "-wal").exists()


def test_names_that_mean_something_in_an_address_are_plain_names(folder, spend):
    path = folder / "a b?mode=memory#c%20.eke"
    spend(Ledger.create(path, {}, 100), "key")
    assert path.is_file()
    assert Ledger.open(path).balance().spent == 10


def test_a_locked_ledger_is_an_error_with_advice(ledger, path, spend, monkeypatch):
    monkeypatch.setattr(sqlite_file, "BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="retry with the same key"):
            spend(ledger, "key")
        assert ledger.balance().spent == 0  # readers do not wait for a writer
        other.execute("ROLLBACK")
    spend(ledger, "key")
    assert ledger.balance().spent == 10


def test_a_full_disk_charges_nothing_and_releases_nothing(ledger, path, spend):
    spend(ledger, "small")

    def fill(connection, _record):
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")

    event.listen(ledger._engine, "connect", fill)
    with pytest.raises(LedgerError, match="disk is full"), ledger.exclusive() as book:
        book.reserve(
            analyst="ann", key="big", digest="d", payload={"x": "y" * 99_999}, spent_after=999
        )
    event.remove(ledger._engine, "connect", fill)
    assert ledger.balance().spent == 10
    assert ledger.verify().intact
    assert ledger.find("ann", "big") is None


def test_a_read_only_ledger_can_be_audited_but_not_charged(ledger, path, spend):
    def refuse_writes(connection, _record):
        connection.execute("PRAGMA query_only = ON")

    event.listen(ledger._engine, "connect", refuse_writes)
    with pytest.raises(LedgerError, match="read-only"):
        spend(ledger, "key")
    assert ledger.verify().intact
    assert ledger.balance().spent == 0


def test_a_ledger_that_vanished_is_not_made_anew(ledger, path, spend):
    path.unlink()
    with pytest.raises(LedgerError, match="gone"):
        spend(ledger, "key")
    assert not path.exists()


@pytest.mark.parametrize(
    "content", [b"no database at all, but some text" * 9, b"SQLite format 3\0"]
)
def test_a_file_that_is_no_database_is_refused(path, content):
    path.write_bytes(content + bytes(2000))
    with pytest.raises(LedgerTampered, match="no dataset of eke"):
        Ledger.open(path)


def test_a_damaged_page_is_detected(ledger, path, spend):
    for number in range(20):
        spend(ledger, str(number))
    content = bytearray(path.read_bytes())
    content[-4096:] = b"\xff" * 4096
    path.write_bytes(content)
    with pytest.raises(LedgerTampered):
        Ledger.open(path)
    assert not ledger.verify().intact


def test_error_texts_hold_no_values(ledger, spend):
    spend(ledger, "key")
    with pytest.raises(LedgerError) as caught, ledger.exclusive() as book:
        book._connection.execute(
            insert(schema.request).values(
                analyst="ann", request_key="key", digest="secret-value", state="x", sequence=1
            )
        )
    assert "secret-value" not in str(caught.value) + str(caught.value.__cause__)
