"""PEP 249, read from top to bottom."""

from __future__ import annotations

import builtins
import datetime as dt
import inspect
from pathlib import Path

import pytest

import eke.dbapi
from eke.dbapi import Connection

COUNT = "SELECT COUNT(*) AS n FROM people"
BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


# -- module interface ----------------------------------------------------------------------------


def test_globals() -> None:
    assert eke.dbapi.apilevel == "2.0"
    assert eke.dbapi.threadsafety in (0, 1, 2, 3)
    assert eke.dbapi.paramstyle in ("qmark", "numeric", "named", "format", "pyformat")


def test_connect_is_a_constructor(path: Path) -> None:
    assert isinstance(eke.dbapi.connect(path), Connection)


EXCEPTIONS = {
    "Warning": builtins.Exception,
    "Error": builtins.Exception,
    "InterfaceError": eke.dbapi.Error,
    "DatabaseError": eke.dbapi.Error,
    "DataError": eke.dbapi.DatabaseError,
    "OperationalError": eke.dbapi.DatabaseError,
    "IntegrityError": eke.dbapi.DatabaseError,
    "InternalError": eke.dbapi.DatabaseError,
    "ProgrammingError": eke.dbapi.DatabaseError,
    "NotSupportedError": eke.dbapi.DatabaseError,
}


@pytest.mark.parametrize("name", EXCEPTIONS)
def test_exceptions_form_the_tree(name: str, connection: Connection) -> None:
    kind = getattr(eke.dbapi, name)
    assert issubclass(kind, EXCEPTIONS[name])
    assert getattr(connection, name) is kind, "an optional extension: also on connections"
    assert not issubclass(eke.dbapi.Error, eke.dbapi.Warning)


def test_errors_are_errors_of_eke() -> None:
    assert issubclass(eke.dbapi.Error, eke.EkeError)


# -- connection objects --------------------------------------------------------------------------


def test_a_connection_has_its_methods(connection: Connection) -> None:
    for name in ("close", "commit", "rollback", "cursor"):
        assert callable(getattr(connection, name))
    connection.commit()
    connection.rollback()


def test_nothing_works_after_close(path: Path) -> None:
    connection = eke.dbapi.connect(path, within=60)
    cursor = connection.cursor()
    cursor.execute(COUNT)
    connection.close()
    connection.close()
    for call in (connection.commit, connection.rollback, connection.cursor, cursor.fetchone):
        with pytest.raises(eke.dbapi.Error):
            call()
    with pytest.raises(eke.dbapi.Error):
        cursor.execute(COUNT)


# -- cursor objects ------------------------------------------------------------------------------


def test_a_cursor_has_its_attributes_and_methods(connection: Connection) -> None:
    cursor = connection.cursor()
    assert cursor.description is None
    assert cursor.rowcount == -1
    assert cursor.arraysize == 1
    assert cursor.connection is connection
    for name in (
        *("execute", "executemany", "fetchone", "fetchmany", "fetchall", "close"),
        *("setinputsizes", "setoutputsize"),
    ):
        assert callable(getattr(cursor, name))
    assert list(inspect.signature(cursor.execute).parameters) == ["operation", "parameters"]
    cursor.setinputsizes([eke.dbapi.NUMBER])
    cursor.setoutputsize(100)
    cursor.setoutputsize(100, 0)


def test_no_two_columns_have_one_name(connection: Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("SELECT sex AS n_low, COUNT(*) AS n FROM people GROUP BY sex")
    assert cursor.description is not None
    assert [column[0] for column in cursor.description] == ["n_low", "n", "n_low_2", "n_high"]


def test_description_has_seven_items_a_column(connection: Connection) -> None:
    cursor = connection.cursor()
    cursor.execute(BY_SEX)
    assert cursor.description is not None
    assert [column[0] for column in cursor.description] == ["sex", "n", "n_low", "n_high"]
    assert all(len(column) == 7 for column in cursor.description)
    kinds = [column[1] for column in cursor.description]
    assert kinds == [eke.dbapi.STRING, *[eke.dbapi.NUMBER] * 3]
    assert cursor.rowcount == 2


def test_a_key_of_numbers_is_a_number(connection: Connection) -> None:
    cursor = connection.cursor()
    cursor.execute("SELECT age, COUNT(*) FROM people GROUP BY age ORDER BY age LIMIT 2")
    assert cursor.description is not None
    assert cursor.description[0][1] == eke.dbapi.NUMBER
    assert [row[0] for row in cursor] == [17, 18]


def test_rows_are_fetched_one_by_one_some_or_all(connection: Connection) -> None:
    cursor = connection.cursor()
    cursor.execute(BY_SEX)
    rows = cursor.fetchall()
    assert [row[0] for row in rows] == ["Female", "Male"]
    assert cursor.fetchall() == []
    assert cursor.fetchmany() == []
    assert cursor.fetchone() is None
    cursor.execute(BY_SEX)
    assert cursor.rownumber == 0
    assert cursor.fetchone() == rows[0]
    assert cursor.fetchmany() == [rows[1]]
    assert cursor.rownumber == 2
    cursor.execute(BY_SEX)
    cursor.arraysize = 5
    assert cursor.fetchmany() == rows
    cursor.execute(BY_SEX)
    assert cursor.fetchmany(1) == rows[:1]
    cursor.execute(BY_SEX)
    assert list(cursor) == rows
    assert all(isinstance(row, tuple) for row in rows)


def test_each_value_has_its_interval(connection: Connection) -> None:
    cursor = connection.cursor()
    for _, value, low, high in cursor.execute(BY_SEX):
        assert low < value < high
        assert (high - low) / 2 <= 60


def test_fetching_needs_a_question(connection: Connection) -> None:
    cursor = connection.cursor()
    for call in (cursor.fetchone, cursor.fetchmany, cursor.fetchall):
        with pytest.raises(eke.dbapi.Error):
            call()
    cursor.execute(COUNT)
    with pytest.raises(eke.dbapi.ProgrammingError):
        cursor.execute("SELECT nothing")
    with pytest.raises(eke.dbapi.Error):
        cursor.fetchone()  # the rows of the question before are gone
    assert cursor.description is None


def test_cursors_have_their_own_rows(connection: Connection) -> None:
    one, two = connection.cursor(), connection.cursor()
    one.execute(BY_SEX)
    two.execute(COUNT)
    assert len(one.fetchall()) == 2
    assert len(two.fetchall()) == 1
    one.close()
    with pytest.raises(eke.dbapi.Error):
        one.fetchall()
    two.execute(COUNT)


def test_executemany_is_not_supported(connection: Connection) -> None:
    spent = connection.session.budget.spent
    with pytest.raises(eke.dbapi.NotSupportedError):
        connection.cursor().executemany("SELECT COUNT(*) FROM p WHERE age = ?", [[20], [21]])
    assert connection.session.budget.spent == spent


def test_connections_and_cursors_are_contexts(path: Path) -> None:
    with eke.dbapi.connect(path, within=60) as connection, connection.cursor() as cursor:
        cursor.execute(COUNT)
    with pytest.raises(eke.dbapi.Error):
        cursor.fetchone()
    with pytest.raises(eke.dbapi.Error):
        connection.cursor()


# -- type objects and constructors ---------------------------------------------------------------


def test_constructors() -> None:
    assert eke.dbapi.Date(2002, 12, 25) == dt.date(2002, 12, 25)
    assert eke.dbapi.Time(13, 45, 30) == dt.time(13, 45, 30)
    assert eke.dbapi.Timestamp(2002, 12, 25, 13, 45, 30).year == 2002
    assert eke.dbapi.DateFromTicks(86_400) == dt.date(1970, 1, 2)
    assert eke.dbapi.TimeFromTicks(3_600) == dt.time(1)
    assert eke.dbapi.TimestampFromTicks(0).year == 1970
    assert eke.dbapi.Binary(b"x") == b"x"


def test_type_objects_differ() -> None:
    kinds = [getattr(eke.dbapi, n) for n in ("STRING", "BINARY", "NUMBER", "DATETIME", "ROWID")]
    assert len(set(kinds)) == 5
    assert all(repr(kind).isupper() for kind in kinds)
