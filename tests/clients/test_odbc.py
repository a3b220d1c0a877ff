"""psqlODBC through pyodbc: questions, parameters on both sides, cursors, and the catalogue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pyodbc
import pytest

from tests.clients.places import WITHIN, Both, Place, agree
from tests.clients.questions import (
    BY_KEY,
    BY_SEX,
    CATALOGUE,
    COMPARED,
    EMPTY,
    KEYS,
    OTHER_CODES,
    WRONG,
    counting,
)

MISSING = "the tests need psqlODBC; `make servers` says how to install the package odbc-postgresql"
FOLDERS = ("/usr/lib", "/usr/lib64", "/usr/local/lib", "/opt/homebrew/lib")
# Of SQLColumns: the OID of the table, which is any number.
_TABLE_OID = "table oid"
LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "tables": ("tables", {"schema": "public"}),
    "tables of any schema": ("tables", {"tableType": "TABLE"}),
    "catalogues": ("tables", {"catalog": "%", "schema": "", "table": ""}),
    "schemas": ("tables", {"schema": "%", "catalog": "", "table": ""}),
    "columns": ("columns", {"table": "people"}),
    "columns of a schema": ("columns", {"schema": "public"}),
    "primary keys": ("primaryKeys", {"table": "people"}),
    "foreign keys": ("foreignKeys", {"table": "people"}),
    "foreign keys elsewhere": ("foreignKeys", {"foreignTable": "people"}),
    "statistics": ("statistics", {"table": "people"}),
    "row ids": ("rowIdColumns", {"table": "people"}),
    "row versions": ("rowVerColumns", {"table": "people"}),
    "procedures": ("procedures", {"schema": "public"}),
    "types": ("getTypeInfo", {}),
}


@cache  # the folders hold many thousands of files
def driver() -> str:
    """Where the driver is, for there need be no entry for it among the system's drivers."""
    for folder in FOLDERS:
        for path in sorted(Path(folder).glob("**/psqlodbcw.so")):
            return str(path)
    raise AssertionError(MISSING)


@contextmanager
def connect(place: Place, **more: object) -> Iterator[Any]:
    words = {
        "DRIVER": driver(),
        "SERVER": place.host,
        "PORT": place.port,
        "UID": place.user,
        "PWD": place.password,
        "DATABASE": place.database,
        "SSLMODE": "disable",
        "ConnSettings": f"SET eke.within %3D {WITHIN:g}",
        **more,
    }
    text = ";".join(f"{name}={value}" for name, value in words.items())
    client = pyodbc.connect(text, autocommit=True)
    try:
        yield client
    finally:
        client.close()


def asked(place: Place, text: str, *values: object, **more: object) -> tuple[Any, Any]:
    with connect(place, **more) as client:
        cursor = client.cursor().execute(text, *values)
        return kinds(cursor), plain(cursor)


def kinds(cursor: Any) -> list[tuple[str, type]]:
    return [column[:2] for column in cursor.description]


def plain(cursor: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in cursor.fetchall()]


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_every_type_have_the_values_and_types_of_postgresql(both: Both, key: str) -> None:
    ours, real = asked(both.eke, BY_KEY[key]), asked(both.real, BY_KEY[key])
    assert ours[0] == [real[0][0], ("n", float)]
    agree(ours[1], real[1])


@pytest.mark.parametrize("prepares", [1, 0])
@pytest.mark.parametrize("condition", COMPARED)
def test_parameters_of_every_type(both: Both, condition: str, prepares: int) -> None:
    """Prepared by the server, or written into the statement by the driver."""
    text, value = counting(condition, "?"), COMPARED[condition]
    real = asked(both.real, text, value, UseServerSidePrepare=prepares)
    if (condition, prepares) == ("member = {}", 0):
        # The driver writes member = '1', which is a text here. PostgreSQL reads it as true.
        with pytest.raises(pyodbc.Error, match="compares a truth value with a text"):
            asked(both.eke, text, value, UseServerSidePrepare=prepares)
        return
    agree(asked(both.eke, text, value, UseServerSidePrepare=prepares)[1], real[1])


def test_a_cursor_of_the_server_fetches_in_parts(both: Both) -> None:
    ours, real = (
        asked(place, BY_KEY["age"], UseDeclareFetch=1, Fetch=3) for place in (both.eke, both.real)
    )
    assert len(ours[1]) == 10
    agree(ours[1], real[1])


@pytest.mark.parametrize("text", [EMPTY, CATALOGUE])
def test_what_is_no_question_agrees(both: Both, text: str) -> None:
    both.seen(lambda place: asked(place, text))


@pytest.mark.parametrize("name", LOOKS)
def test_the_functions_for_the_catalogue_agree(both: Both, name: str) -> None:
    function, words = LOOKS[name]

    def look(place: Place) -> Any:
        with connect(place) as client:
            cursor = getattr(client.cursor(), function)(**words)
            columns, rows = kinds(cursor), plain(cursor)
            names = [column for column, _ in columns]
            if _TABLE_OID in names:
                at = names.index(_TABLE_OID)
                rows = [(*row[:at], *row[at + 1 :]) for row in rows]
            return columns, rows

    both.seen(look)


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_has_the_code_of_postgresql_and_the_connection_works_on(
    both: Both, text: str
) -> None:
    codes = []
    for place in (both.real, both.eke):
        with connect(place) as client:
            cursor = client.cursor()
            with pytest.raises(pyodbc.Error) as refusal:
                cursor.execute(text)
            assert plain(cursor.execute("SELECT 1")) == [(1,)]
            codes.append(refusal.value.args[0])
    assert codes == [WRONG[text], OTHER_CODES.get(text, WRONG[text])]


def test_a_transaction_is_rolled_back_and_the_connection_works_on(both: Both) -> None:
    def look(place: Place) -> Any:
        with connect(place) as client:
            client.autocommit = False
            cursor = client.cursor()
            with pytest.raises(pyodbc.Error):
                cursor.execute("SELECT * FROM nobody")
            client.rollback()
            rows = plain(cursor.execute("SELECT 1"))
            client.commit()
            return rows, client.getinfo(pyodbc.SQL_DBMS_NAME), client.getinfo(pyodbc.SQL_USER_NAME)

    assert both.seen(look) == ([(1,)], "PostgreSQL", "ann")


def test_a_question_is_free_the_second_time(both: Both) -> None:
    with connect(both.eke) as client:
        cursor = client.cursor()
        first = plain(cursor.execute(BY_SEX))
        cursor.execute("SET eke.spend = off")
        assert plain(cursor.execute(BY_SEX)) == first
