"""What is special about a ledger on a PostgreSQL server; the other files test what is common."""

from __future__ import annotations

import threading
from contextlib import closing

import psycopg
import pytest
from sqlalchemy import create_engine, event, inspect, text

from eke.errors import BudgetExceeded, LedgerError, LedgerTampered
from eke.ledger import Ledger, postgresql, schema, store
from eke.ledger.dialect import locate
from eke.ledger.postgresql import Server
from eke.ledger.reading import account_state
from tests.postgresql_server import running_server
from tests.unit.ledger.test_migrate import described
from tests.unit.ledger.test_verify import EDITS, detected


@pytest.fixture
def address(new_address):
    return new_address()


@pytest.fixture
def shared(address):
    return Ledger.create(address, {"domain": ["a"]}, limit=1000)


def connect(address):
    return psycopg.connect(address.partition("&dataset=")[0], autocommit=True)


# -- addresses -----------------------------------------------------------------------------------


def test_an_address_names_a_database_and_a_dataset_in_it():
    place = locate("postgresql://user:hidden@host:5433/base?dataset=adult&sslmode=require")
    assert isinstance(place, Server)
    assert place.dataset == "adult"
    assert place.url.get_driver_name() == "psycopg"
    assert dict(place.url.query) == {"sslmode": "require"}
    assert locate("postgresql://host/base").dataset == "eke"  # type: ignore[union-attr]
    assert locate("postgresql+psycopg://h/b") == locate("postgresql://h/b")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://user:hidden@host/base?dataset=adult",
        "postgresql://user@host/base?password=hidden&sslpassword=hidden&passfile=hidden",
    ],
)
def test_passwords_are_not_shown(address):
    assert "hidden" not in str(locate(address))


@pytest.mark.parametrize(
    "name", ["public", "pg_x", "PG_Temp", "a b", 'a"b', "a;b", "1a", "x" * 64, "a&dataset=b"]
)
def test_datasets_have_plain_names(name):
    with pytest.raises(LedgerError, match="name of a schema"):
        locate(f"postgresql://host/base?dataset={name}")


def test_a_port_is_a_number():
    with pytest.raises(LedgerError, match="not a database address"):
        locate("postgresql://host:port/base")


def test_datasets_of_one_database_know_nothing_of_each_other(new_address, spend):
    first, second = (Ledger.create(new_address(), {"n": n}, limit=100) for n in range(2))
    spend(first, "key")
    assert (first.balance().spent, second.balance().spent) == (10, 0)
    assert second.find("ann", "key") is None
    assert first.identity != second.identity


def test_names_differ_by_case(new_address):
    address = new_address()
    Ledger.create(address, {}, limit=1)
    Ledger.create(address.replace("test_", "Test_"), {}, limit=2)
    assert Ledger.open(address).limit == 1


# -- creation ------------------------------------------------------------------------------------


def test_a_ledger_is_created_once_even_by_many_at_once(address):
    outcomes = []

    def create(number):
        try:
            outcomes.append(Ledger.create(address, {"n": number}, limit=5).identity)
        except LedgerError as error:
            outcomes.append(str(error))

    threads = [threading.Thread(target=create, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = [outcome for outcome in outcomes if "holds a ledger already" not in outcome]
    assert len(outcomes) == 6
    assert made == [Ledger.open(address).identity]


def test_a_creation_that_fails_leaves_nothing(address, monkeypatch):
    def fail(*_):
        raise LedgerError("in the middle")

    with monkeypatch.context() as patch:
        patch.setattr("eke.ledger.store._write_genesis", fail)
        with pytest.raises(LedgerError, match="middle"):
            Ledger.create(address, {}, 5)
    with pytest.raises(LedgerError, match="holds no ledger"):
        Ledger.open(address)
    Ledger.create(address, {}, 5)


def test_other_tables_of_the_same_name_are_left_alone(address):
    with connect(address) as connection:
        name = locate(address).dataset  # type: ignore[union-attr]
        connection.execute(f'CREATE SCHEMA "{name}"'.encode())
        connection.execute(f'CREATE TABLE "{name}".account (theirs text)'.encode())
        with pytest.raises(LedgerError, match="another dataset"):
            Ledger.create(address, {}, 5)
        assert connection.execute(f'SELECT * FROM "{name}".account'.encode()).fetchall() == []


def test_the_steps_build_the_tables_that_the_code_expects(shared, address):
    place = locate(address)
    assert isinstance(place, Server)
    wanted = f"{place.dataset}_wanted"
    engine = create_engine(place.url)
    with closing(engine.connect()) as connection:
        connection.execute(text(f'CREATE SCHEMA "{wanted}"'))
        connection.execute(text(f'SET search_path = "{wanted}"'))
        schema.metadata.create_all(connection)
        connection.commit()
        expected = described(inspect(connection), wanted)
        assert described(inspect(connection), place.dataset) == expected
        assert len(expected) == 5
    engine.dispose()


# -- durability ----------------------------------------------------------------------------------


def test_every_transaction_is_durable_and_waits_in_turn(shared):
    for write, level in ((False, "repeatable read"), (True, "read committed")):
        with shared._transaction(write=write) as connection:
            shown = {
                name: connection.execute(text(f"SHOW {name}")).scalar_one()
                for name in ("synchronous_commit", "transaction_isolation", "lock_timeout")
            }
        assert shown == {
            "synchronous_commit": "on",
            "transaction_isolation": level,
            "lock_timeout": "30s",
        }


def test_a_server_that_may_forget_is_refused(shared, address, postgresql):
    with connect(address) as connection:
        for name in ("fsync", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {name} = off".encode())
            connection.execute("SELECT pg_reload_conf()")
            try:
                _wait_for(address, name, "off")
                with pytest.raises(LedgerError, match=f"{name} = off"):
                    Ledger.open(address)
                with pytest.raises(LedgerError, match=f"{name} = off"):
                    Ledger.create(f"{address}_new", {}, 5)
            finally:
                connection.execute(f"ALTER SYSTEM RESET {name}".encode())
                connection.execute("SELECT pg_reload_conf()")
                _wait_for(address, name, "on")
    Ledger.open(address)


def _wait_for(address, name, value):
    while True:
        with connect(address) as fresh:
            if fresh.execute(f"SHOW {name}".encode()).fetchone() == (value,):
                return


def test_the_row_is_locked_before_anything_is_read(shared, address, spend):
    """A charge that waits for another one sees it: the second is refused, not overspent."""
    other = Ledger.open(address)
    outcome = []

    def charge():
        try:
            spend(other, "second", cost=600)
        except BudgetExceeded as error:
            outcome.append(str(error))

    thread = threading.Thread(target=charge)
    with shared.exclusive() as book:
        book.reserve(analyst="ann", key="first", digest="d", payload={}, spent_after=600)
        thread.start()
        _wait_until_someone_waits(address)
    thread.join()
    assert len(outcome) == 1
    assert shared.balance().spent == 600


def test_a_charge_that_lands_while_another_thread_reads_is_no_tampering(shared, spend, monkeypatch):
    """The reader's snapshot is older than the head that its own process has seen meanwhile."""
    original, pending = account_state, ["key"]

    def charged_meanwhile(connection, *, lock):
        state = original(connection, lock=lock)
        if pending and not lock:
            spend(shared, pending.pop())
        return state

    monkeypatch.setattr(store, "account_state", charged_meanwhile)
    assert [entry.sequence for entry in shared.entries()] == [1]
    assert [entry.sequence for entry in shared.entries()] == [1, 2, 3]


def _wait_until_someone_waits(address):
    with connect(address) as connection:
        while not connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
        ).fetchone()[0]:
            pass


# -- failures ------------------------------------------------------------------------------------


def test_a_locked_ledger_is_an_error_with_advice(address, spend, monkeypatch):
    monkeypatch.setattr(postgresql, "WAIT_SECONDS", 0.05)
    ledger = Ledger.create(address, {}, limit=100)
    other = Ledger.open(address)
    with other.exclusive():
        with pytest.raises(LedgerError, match="retry with the same key"):
            spend(ledger, "key")
        assert ledger.balance().spent == 0  # readers do not wait for a writer
    spend(ledger, "key")
    assert ledger.balance().spent == 10


def test_a_connection_that_breaks_in_the_middle_charges_nothing(shared, address, spend):
    def charge_and_break(book):
        book.reserve(analyst="ann", key="key", digest="d", payload={}, spent_after=500)
        (number,) = book._connection.exec_driver_sql("SELECT pg_backend_pid()").one()
        with connect(address) as connection:
            connection.execute("SELECT pg_terminate_backend(%s)", [number])

    with pytest.raises(LedgerError, match="nothing was released"), shared.exclusive() as book:
        charge_and_break(book)
    assert shared.balance().spent == 0
    spend(shared, "key")
    assert shared.verify().intact


def test_a_commit_whose_answer_is_lost_is_found_by_the_same_key(shared, address, spend):
    """The server commits, the connection breaks before it says so: charged, not released."""

    def cut(connection):
        connection.connection.dbapi_connection.commit()
        connection.connection.dbapi_connection.close()

    event.listen(shared._engine, "commit", cut)
    with pytest.raises(LedgerError, match="same key"):
        spend(shared, "key", cost=30)
    event.remove(shared._engine, "commit", cut)
    request = shared.find("ann", "key", "digest of key")
    assert request is not None
    assert (request.state, shared.balance().spent) == ("reserved", 30)
    with shared.exclusive() as book:
        assert book.commit(request.sequence, {}, "once").first
    assert shared.verify().intact


def test_a_server_that_stops_and_comes_back(spend):
    """Stopped as by a power cut: what was acknowledged is there, and the same object goes on."""
    with running_server() as server:
        address = server.address("people")
        ledger = Ledger.create(address, {}, limit=100)
        spend(ledger, "before")
        mark = ledger.mark()
        server.stop()
        for use in (ledger.balance, lambda: spend(ledger, "while"), lambda: Ledger.open(address)):
            with pytest.raises(LedgerError, match="cannot be reached"):
                use()
        server.start()
        assert ledger.balance().spent == 10
        spend(ledger, "while")
        assert Ledger.open(address, mark).balance().spent == 20


@pytest.mark.parametrize(
    ("old", "new"),
    [("/postgres?", "/nowhere?"), ("eke@", "nobody@"), ("host=/", "host=/nowhere/")],
)
def test_wrong_addresses_say_what_may_be_wrong(address, old, new):
    for use in (Ledger.open, lambda where: Ledger.create(where, {}, 5)):
        with pytest.raises(LedgerError, match="check the address and the password"):
            use(address.replace(old, new))


def test_a_read_only_server_can_be_audited_but_not_charged(shared, address, spend):
    with connect(address) as connection:
        connection.execute("ALTER ROLE eke SET default_transaction_read_only = on")
    try:
        audited = Ledger.open(address)
        assert audited.verify().intact
        with pytest.raises(LedgerError, match="standby"):
            spend(audited, "key")
    finally:
        with connect(address) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute("ALTER ROLE eke RESET default_transaction_read_only")


# -- tampering -----------------------------------------------------------------------------------


def test_an_edit_of_every_column_is_detected(shared, address, spend, edit):
    """N = 50 single edits: each column of three rows a table, and each of them deleted."""
    for number in range(3):
        spend(shared, f"paid {number}", cost=10)
    for table in EDITS:
        edit(address, (f"CREATE TABLE copy_of_{table} AS SELECT * FROM {table}",))
    tried, missed = 0, []
    for table, columns in EDITS.items():
        key = "only_row" if table == "account" else "sequence"
        changes = [f"UPDATE {table} SET {c} = {to}" for c, to in columns.items()]
        for change in (*changes, f"DELETE FROM {table}"):
            for row in {"entry": (2, 3, 6), "account": (1,), "request": (2, 4, 6)}[table]:
                assert edit(address, (f"{change} WHERE {key} = {row}",)) == 1
                tried += 1
                if not detected(address):
                    missed.append((change, row))
                restore = f"INSERT INTO {table} SELECT * FROM copy_of_{table}"
                edit(address, (f"DELETE FROM {table}",), (restore,))
    assert missed == []
    assert tried == 50
    assert not detected(address), "put back, all is well again"


def test_a_dropped_schema_is_noticed(shared, address, spend):
    spend(shared, "key")
    with connect(address) as connection:
        connection.execute(f'DROP SCHEMA "{locate(address).dataset}" CASCADE'.encode())  # type: ignore[union-attr]
    with pytest.raises(LedgerTampered):
        shared.balance()
    Ledger.create(address, {"domain": ["a"]}, limit=1000)
    with pytest.raises(LedgerTampered):  # an empty one in its place is not the same ledger
        spend(shared, "again")
