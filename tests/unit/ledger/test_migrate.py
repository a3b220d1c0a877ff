from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from sqlalchemy import create_engine, inspect, text

from eke.errors import LedgerError, LedgerTampered
from eke.ledger import Ledger, migrate, schema
from eke.ledger.migrate import MIGRATIONS, Migration


def columns(path, table):
    with closing(sqlite3.connect(path)) as connection:
        return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]


def add_colour(connection):
    connection.execute(text("ALTER TABLE account ADD COLUMN colour TEXT"))


def add_shape(connection):
    connection.execute(text("ALTER TABLE account ADD COLUMN shape TEXT"))


def fail(connection):
    connection.execute(text("ALTER TABLE account ADD COLUMN broken TEXT"))
    connection.execute(text("SELECT nonsense"))


SECOND = Migration(2, "a colour", add_colour)
THIRD = Migration(3, "a shape", add_shape)


def described(inspector, schema_name=None):
    def named(rows):
        return sorted((row["name"] or "", str(row)) for row in rows)

    return {
        table: (
            [
                (c["name"], str(c["type"]), c["nullable"])
                for c in inspector.get_columns(table, schema_name)
            ],
            inspector.get_pk_constraint(table, schema_name)["constrained_columns"],
            named(inspector.get_check_constraints(table, schema_name)),
            named(inspector.get_unique_constraints(table, schema_name)),
            sorted(
                (f["constrained_columns"], f["referred_table"])
                for f in inspector.get_foreign_keys(table, schema_name)
            ),
        )
        for table in sorted(inspector.get_table_names(schema_name))
    }


def test_the_steps_build_the_tables_that_the_code_expects(ledger, path):
    wanted = create_engine("sqlite://")
    schema.metadata.create_all(wanted)
    built = create_engine(f"sqlite:///{path}")
    try:
        assert described(inspect(built)) == described(inspect(wanted))
    finally:
        wanted.dispose()
        built.dispose()


def test_steps_are_numbered_from_one_without_gaps():
    assert [step.version for step in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_an_older_file_is_brought_up_to_date_and_keeps_its_chain(ledger, path, spend, monkeypatch):
    spend(ledger, "before")
    before = ledger.entries()
    monkeypatch.setattr(migrate, "MIGRATIONS", (*MIGRATIONS, SECOND, THIRD))
    opened = Ledger.open(path, ledger_mark := ledger_mark_of(path, monkeypatch, ledger))
    assert columns(path, "account")[-2:] == ["colour", "shape"]
    assert opened.entries() == before
    assert opened.verify(ledger_mark).intact
    spend(opened, "after")
    assert Ledger.open(path).balance().spent == 20


def ledger_mark_of(path, monkeypatch, ledger):
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "MIGRATIONS", MIGRATIONS)
        return ledger.mark()


def test_a_step_that_fails_leaves_the_file_as_it_was(ledger, path, spend, monkeypatch):
    spend(ledger, "before")
    content = path.read_bytes()
    monkeypatch.setattr(migrate, "MIGRATIONS", (*MIGRATIONS, SECOND, Migration(3, "breaks", fail)))
    with pytest.raises(LedgerError):
        Ledger.open(path)
    assert path.read_bytes() == content
    monkeypatch.undo()
    assert Ledger.open(path).balance().spent == 10


def test_a_file_of_a_newer_version_is_refused(ledger, path, spend, edit):
    edit(path, ("UPDATE ledger_version SET version = 99",))
    with pytest.raises(LedgerError, match="newer eke"):
        Ledger.open(path)


def test_a_running_process_notices_that_another_one_upgraded(ledger, path, spend, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(migrate, "MIGRATIONS", (*MIGRATIONS, SECOND))
        Ledger.open(path)
    with pytest.raises(LedgerError, match="newer eke"):
        spend(ledger, "late")
    with pytest.raises(LedgerError, match="newer eke"):
        ledger.balance()


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM ledger_version",
        "UPDATE ledger_version SET version = 'x'",
        "UPDATE ledger_version SET version = -1",
        "UPDATE ledger_version SET version = 0",
        "INSERT INTO ledger_version VALUES (2, 1)",
    ],
)
def test_a_file_that_does_not_state_its_version_is_refused(ledger, path, edit, statement):
    assert edit(path, (statement,)) == 1
    with pytest.raises(LedgerTampered):
        Ledger.open(path)
    with pytest.raises(LedgerTampered):
        ledger.balance()
