"""The same messages to a real PostgreSQL and to eke: the same answers, codes and states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import psycopg
import pytest

from tests.postgresql_server import Server
from tests.wire import Wire, results_of

SCRIPTS: dict[str, Sequence[str]] = {
    "one row": ("SELECT 1", "SELECT 1 AS a, 'x' AS b"),
    "nothing": ("", ";", "-- nothing", "/* nothing */ ;"),
    "several": ("SELECT 1; SELECT 2; SELECT 3", "SELECT 1;; SELECT 2;"),
    "several, one wrong": ("SELECT 1; SELECT nothing_like_this(); SELECT 3", "SELECT 4"),
    "a transaction": ("BEGIN", "SELECT 1", "COMMIT"),
    "in other words": ("START TRANSACTION", "END", "BEGIN WORK", "ABORT"),
    "begun twice": ("BEGIN", "BEGIN", "COMMIT", "COMMIT", "ROLLBACK"),
    "a failed one": ("BEGIN", "SELEC 1", "SELECT 1", "SET x = 1", "COMMIT", "SELECT 1"),
    "rolled back": ("BEGIN", "SELEC 1", "ROLLBACK", "SELECT 1"),
    "savepoints": (
        *("SAVEPOINT a", "BEGIN", "SAVEPOINT a", "SELEC 1", "ROLLBACK TO SAVEPOINT a", "SELECT 1"),
        *("RELEASE SAVEPOINT a", "COMMIT", "ROLLBACK TO a"),
    ),
    "cursors": (
        *("DECLARE c CURSOR FOR SELECT 1", "BEGIN"),
        "DECLARE c CURSOR FOR SELECT generate_series(1, 5)",
        *("FETCH 2 FROM c", "MOVE 1 FROM c", "FETCH NEXT FROM c", "FETCH ALL FROM c", "FETCH c"),
        *("CLOSE c", "FETCH 1 FROM c", "ROLLBACK", "CLOSE c"),
    ),
    "cursors that are kept": (
        *("BEGIN", "DECLARE d NO SCROLL CURSOR WITH HOLD FOR SELECT 1", "COMMIT"),
        *("FETCH FORWARD 1 FROM d", "CLOSE ALL", "FETCH 1 FROM d"),
    ),
    "settings": (
        *("SET application_name = 'x'", "SHOW application_name", "RESET application_name"),
        *("SHOW application_name", "SET nothing_like_this = 1", "SHOW nothing_like_this"),
        *("SET TIME ZONE 'UTC'", "SHOW TimeZone", "SHOW TRANSACTION ISOLATION LEVEL"),
        *("SET LOCAL application_name = 'y'", "SHOW server_version_num", "RESET ALL"),
    ),
    "settings in a transaction": (
        *("SET application_name = 'a'", "BEGIN", "SET application_name = 'b'"),
        *("SHOW application_name", "ROLLBACK", "SHOW application_name", "BEGIN"),
        *("SET LOCAL application_name = 'c'", "SHOW application_name", "COMMIT"),
        "SHOW application_name",
    ),
    "things to forget": (
        *("DEALLOCATE nothing", "DEALLOCATE ALL", "DISCARD ALL", "DISCARD PLANS", "UNLISTEN *"),
        *("BEGIN", "DISCARD ALL", "ROLLBACK"),
    ),
    "copies": (
        "COPY (SELECT 1 AS a, 'x' AS b) TO STDOUT",
        "COPY (SELECT 1) TO STDOUT (FORMAT csv)",
    ),
    "no end": ("SELECT 'a", 'SELECT "a', "SELECT /* 1"),
}
_SHOWN = {"SHOW server_version_num"}  # versions differ
_EXTENDED: tuple[tuple[str, list[bytes | None]], ...] = (
    ("SELECT $1::int AS n, $2::text AS t", [b"3", b"x"]),
    ("SELECT 1 AS a", []),
    ("SELECT $1::int", [None]),
    ("SELECT $1::int", [b"no number"]),
    ("SELECT $1::int", []),
    ("", []),
    ("SELECT 1; SELECT 2", []),
    ("BEGIN", []),
    ("SHOW application_name", []),
)


@pytest.fixture(scope="module")
def clients(wire: Wire, postgresql: Server) -> Iterator[tuple[Any, Any]]:
    with (
        psycopg.connect(postgresql.address(), autocommit=True) as real,
        wire.connect() as client,
    ):
        yield real.pgconn, client.pgconn


def outcome(result: Any) -> tuple[Any, ...]:
    """What a client sees of one result."""
    fatal = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE)
    if fatal is not None:
        return (result.status, _class(fatal))
    rows = [
        [result.get_value(row, column) for column in range(result.nfields)]
        for row in range(result.ntuples)
    ]
    names = [result.fname(column) for column in range(result.nfields)]
    return result.status, result.command_status, names, rows


def _class(code: bytes) -> bytes:
    """Codes for what is not known differ (syntax, functions, columns): all of them are class 42."""
    return b"42" if code.startswith(b"42") else code


def sent(client: Any, text: str) -> list[Any]:
    """All results of a text in the simple protocol, with the state that they leave."""
    client.send_query(text.encode())
    results = [one if isinstance(one, bytes) else outcome(one) for one in results_of(client)]
    return [*results, client.transaction_status]


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_is_answered_alike(clients: tuple[Any, Any], name: str) -> None:
    real, ours = clients
    for text in SCRIPTS[name]:
        expected, given = sent(real, text), sent(ours, text)
        if text in _SHOWN:
            assert len(expected) == len(given)
        else:
            assert given == expected, text


@pytest.mark.parametrize(("text", "values"), _EXTENDED)
def test_a_prepared_statement_is_answered_alike(
    clients: tuple[Any, Any], text: str, values: list[bytes | None]
) -> None:
    seen = []
    for client in clients:
        client.send_prepare(b"p", text.encode())
        results = list(results_of(client))
        if results[0].status == psycopg.pq.ExecStatus.COMMAND_OK:
            client.send_describe_prepared(b"p")
            results += results_of(client)
            client.send_query_prepared(b"p", values)
            results += results_of(client)
        kinds = [
            (
                [one.ftype(n) for n in range(one.nfields)],
                [one.param_type(n) for n in range(one.nparams)],
            )
            for one in results[1:2]
        ]
        seen.append(([outcome(one) for one in results], kinds, client.transaction_status))
        sent(client, "ROLLBACK")
        sent(client, "DEALLOCATE ALL")
    assert seen[0] == seen[1]
