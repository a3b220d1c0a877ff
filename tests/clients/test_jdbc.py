"""JDBC: queries, prepared statements, cursors, transactions, and what DatabaseMetaData tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from py4j.protocol import Py4JJavaError

from tests.clients.jdbc import Jdbc, kinds, rows, started
from tests.clients.places import Both, Place, agree
from tests.clients.questions import (
    BY_KEY,
    BY_SEX,
    CATALOGUE,
    EMPTY,
    KEYS,
    OTHER_CODES,
    WRONG,
    counting,
)

TABLES = ("TABLE",)
LOOKS: dict[str, tuple[Any, ...]] = {
    "schemas": ("getSchemas",),
    "catalogues": ("getCatalogs",),
    "kinds of tables": ("getTableTypes",),
    "tables": ("getTables", None, "public", "%", TABLES),
    "tables of any schema": ("getTables", None, None, "%", TABLES),
    "one table": ("getTables", None, None, "people", None),
    "columns": ("getColumns", None, "public", "%", "%"),
    "columns of one table": ("getColumns", None, None, "people", "%"),
    "primary keys": ("getPrimaryKeys", None, "public", "people"),
    "imported keys": ("getImportedKeys", None, "public", "people"),
    "exported keys": ("getExportedKeys", None, "public", "people"),
    "keys between": ("getCrossReference", None, "public", "people", None, "public", "schools"),
    "indexes": ("getIndexInfo", None, "public", "people", False, True),
    "types": ("getTypeInfo",),
    "identifiers": ("getBestRowIdentifier", None, None, "people", 0, True),
    "versions": ("getVersionColumns", None, None, "people"),
    "procedures": ("getProcedures", None, "public", "%"),
    "functions": ("getFunctions", None, "public", "%"),
    "arguments": ("getFunctionColumns", None, "public", "%", "%"),
    "privileges": ("getTablePrivileges", None, "public", "people"),
    "privileges of a column": ("getColumnPrivileges", None, "public", "people", "age"),
    "types of users": ("getUDTs", None, "public", "%", None),
    "longest name": ("getMaxNameLength",),
    "most columns": ("getMaxColumnsInTable",),
    "product": ("getDatabaseProductName",),
    "version": ("getDatabaseProductVersion",),
    "isolation": ("getDefaultTransactionIsolation",),
    "user": ("getUserName",),
}
OTHER = {
    "types": "types that nothing here has are not listed, nor the types of rows of tables",
    "privileges": "there are no lists of privileges here",
    "types of users": "a table has no type of its rows here",
    "version": "eke speaks as 15.0",
}
Setting = Callable[[Jdbc, Any], None]
SET: dict[str, tuple[str, Setting]] = {
    "a whole number": ("age >= {}", lambda _, s: s.setLong(1, 23)),
    "a fraction": ("hours < {}", lambda _, s: s.setDouble(1, 1.25)),
    "a truth value": ("member = {}", lambda _, s: s.setBoolean(1, True)),
    "a text": ("sex = {}", lambda _, s: s.setString(1, "Male")),
    "a day": (
        "born >= {}",
        lambda java, s: s.setDate(1, java.jvm.java.sql.Date.valueOf("2002-01-01")),
    ),
    "a local day": (
        "born >= {}",
        lambda java, s: s.setObject(1, java.jvm.java.time.LocalDate.of(2002, 1, 1)),
    ),
    "a moment": (
        "seen <= {}",
        lambda java, s: s.setTimestamp(
            1, java.jvm.java.sql.Timestamp.valueOf("2020-05-01 12:00:00")
        ),
    ),
    "a local moment": (
        "seen <= {}",
        lambda java, s: s.setObject(1, java.jvm.java.time.LocalDateTime.of(2020, 5, 1, 12, 0)),
    ),
}


@pytest.fixture(scope="module")
def java() -> Iterator[Jdbc]:
    with started() as jdbc:
        yield jdbc


def asked(java: Jdbc, place: Place, text: str, **more: object) -> tuple[Any, Any]:
    with java.connect(place, **more) as client:
        result = client.createStatement().executeQuery(text)
        return kinds(result), rows(result)


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_every_type_have_the_values_and_types_of_postgresql(
    both: Both, java: Jdbc, key: str
) -> None:
    ours, real = (asked(java, place, BY_KEY[key]) for place in (both.eke, both.real))
    assert ours[0] == [real[0][0], ("n", "float8", 8, "java.lang.Double")]
    agree(ours[1], real[1])


@pytest.mark.parametrize("mode", ["simple", "extended", "extendedCacheEverything"])
def test_every_way_of_asking_gives_the_same(both: Both, java: Jdbc, mode: str) -> None:
    ours, real = (
        asked(java, place, BY_SEX, preferQueryMode=mode) for place in (both.eke, both.real)
    )
    agree(ours[1], real[1])


@pytest.mark.parametrize("threshold", [5, -1])
@pytest.mark.parametrize("name", SET)
def test_prepared_statements_with_values_of_every_type(
    both: Both, java: Jdbc, name: str, threshold: int
) -> None:
    """With values as texts and, from the first time, in binary."""
    condition, set_value = SET[name]
    seen = []
    for place in (both.eke, both.real):
        with java.connect(place, prepareThreshold=threshold) as client:
            statement = client.prepareStatement(counting(condition, "?"))
            set_value(java, statement)
            first = rows(statement.executeQuery())
            assert rows(statement.executeQuery()) == first
            seen.append(first)
    agree(*seen)


def test_parameters_are_described_alike(both: Both, java: Jdbc) -> None:
    def look(place: Place) -> Any:
        with java.connect(place) as client:
            text = counting("age >= {0} AND born < {0}", "?")
            told = client.prepareStatement(text).getParameterMetaData()
            return [told.getParameterTypeName(n) for n in range(1, told.getParameterCount() + 1)]

    assert both.seen(look) == ["int8", "date"]


def test_a_cursor_fetches_in_parts(both: Both, java: Jdbc) -> None:
    seen = []
    for place in (both.eke, both.real):
        with java.connect(place) as client:
            client.setAutoCommit(False)
            statement = client.createStatement()
            statement.setFetchSize(3)
            seen.append(rows(statement.executeQuery(BY_KEY["age"])))
            client.commit()
    assert len(seen[0]) == 10
    agree(*seen)


@pytest.mark.parametrize("text", [EMPTY, CATALOGUE])
def test_what_is_no_question_agrees(both: Both, java: Jdbc, text: str) -> None:
    both.seen(lambda place: asked(java, place, text))


@pytest.mark.parametrize("name", LOOKS)
def test_what_is_told_of_the_database_agrees(both: Both, java: Jdbc, name: str) -> None:
    method, *words = LOOKS[name]

    def look(place: Place) -> Any:
        with java.connect(place) as client:
            given = [java.texts(*word) if word == TABLES else word for word in words]
            told = getattr(client.getMetaData(), method)(*given)
            return (kinds(told), rows(told)) if hasattr(told, "getMetaData") else told

    ours, real = look(both.eke), look(both.real)
    assert (ours == real) != (name in OTHER), (ours, real)


def test_every_exception_is_of_a_look() -> None:
    assert set(OTHER) <= set(LOOKS)


def test_the_words_of_the_grammar_are_told(both: Both, java: Jdbc) -> None:
    def look(place: Place) -> Any:
        with java.connect(place) as client:
            return client.getMetaData().getSQLKeywords()

    assert "analyze" in both.seen(look)


def test_a_connection_is_valid_and_knows_where_it_is(both: Both, java: Jdbc) -> None:
    def look(place: Place) -> Any:
        with java.connect(place) as client:
            client.setReadOnly(True)
            client.setSchema("public")
            return (
                *(client.isValid(5), client.getCatalog(), client.getSchema()),
                *(client.getTransactionIsolation(), client.isReadOnly(), client.isClosed()),
            )

    assert both.seen(look)[:3] == (True, "people", "public")


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_has_the_code_of_postgresql_and_the_connection_works_on(
    both: Both, java: Jdbc, text: str
) -> None:
    codes = []
    for place in (both.real, both.eke):
        with java.connect(place) as client:
            client.setAutoCommit(False)
            before = client.setSavepoint("before")
            statement = client.createStatement()
            with pytest.raises(Py4JJavaError) as refusal:
                statement.executeQuery(text)
            client.rollback(before)
            assert rows(statement.executeQuery("SELECT 1")) == [(1,)]
            client.rollback()
            assert client.isValid(5)
            codes.append(refusal.value.java_exception.getSQLState())
    assert codes == [WRONG[text], OTHER_CODES.get(text, WRONG[text])]


def test_a_copy_has_the_rows_of_postgresql(both: Both, java: Jdbc) -> None:
    seen = []
    for place in (both.eke, both.real):
        with java.connect(place) as client:
            target = java.jvm.java.io.StringWriter()
            text = f"COPY ({BY_SEX}) TO STDOUT WITH CSV HEADER"
            assert client.getCopyAPI().copyOut(text, target) == 2
            head, *lines = target.toString().splitlines()
            assert head == "sex,n"
            seen.append([(key, float(n)) for key, n in (line.split(",") for line in lines)])
    agree(*seen)


def test_a_question_is_free_the_second_time(both: Both, java: Jdbc) -> None:
    with java.connect(both.eke) as client:
        first = client.createStatement()
        rows_of_first = rows(first.executeQuery(BY_SEX))
        again = client.createStatement()
        assert rows(again.executeQuery(BY_SEX)) == rows_of_first
        assert again.getWarnings().getMessage().startswith("Free")
