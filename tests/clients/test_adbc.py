"""ADBC, which reads everything as binary COPY into Arrow."""

from __future__ import annotations

from typing import Any

import adbc_driver_postgresql.dbapi as adbc
import pytest

from tests.clients.places import Both, Place, agree
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


def asked(place: Place, text: str, values: Any = None) -> tuple[list[tuple[str, str]], Any]:
    """Names and types of the columns of an Arrow table, and its rows."""
    with adbc.connect(place.url) as client, client.cursor() as cursor:
        cursor.execute(text, values)
        table = cursor.fetch_arrow_table()
    return [(field.name, str(field.type)) for field in table.schema], [
        tuple(row.values()) for row in table.to_pylist()
    ]


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_every_type_have_the_values_and_types_of_postgresql(both: Both, key: str) -> None:
    ours, real = asked(both.eke, BY_KEY[key]), asked(both.real, BY_KEY[key])
    assert ours[0] == [real[0][0], ("n", "double")]
    agree(ours[1], real[1])


@pytest.mark.parametrize("condition", COMPARED)
def test_parameters_of_every_type(both: Both, condition: str) -> None:
    text, values = counting(condition, "$1"), (COMPARED[condition],)
    agree(asked(both.eke, text, values)[1], asked(both.real, text, values)[1])


@pytest.mark.parametrize("text", [EMPTY, CATALOGUE])
def test_what_is_no_question_agrees(both: Both, text: str) -> None:
    both.seen(lambda place: asked(place, text))


def test_a_statement_is_described_without_being_asked(both: Both) -> None:
    def look(place: Place) -> Any:
        with adbc.connect(place.url) as client, client.cursor() as cursor:
            parameters = cursor.adbc_prepare(counting("born >= {}", "$1"))
            return cursor.adbc_execute_schema(EMPTY), parameters

    both.seen(look)


def test_the_objects_of_the_database_agree(both: Both) -> None:
    """The driver asks for columns in no order; a server's is theirs, and here it is any."""

    def look(place: Place) -> Any:
        with adbc.connect(place.url) as client:
            reader = client.adbc_get_objects(catalog_filter=place.database)
            objects = reader.read_all().to_pylist()
            for schema in objects[0]["catalog_db_schemas"]:
                schema["db_schema_tables"].sort(key=lambda table: str(table["table_name"]))
                for table in schema["db_schema_tables"]:
                    table["table_columns"].sort(key=lambda column: int(column["ordinal_position"]))
            return (
                [schema for schema in objects[0]["catalog_db_schemas"] if _is_public(schema)],
                client.adbc_get_table_types(),
                client.adbc_get_table_schema("people"),
                client.adbc_get_table_schema("schools", db_schema_filter="public"),
                client.adbc_current_catalog,
                client.adbc_current_db_schema,
            )

    ((public,), *_) = both.seen(look)
    assert [table["table_name"] for table in public["db_schema_tables"]] == ["people", "schools"]


def _is_public(schema: Any) -> bool:
    return bool(schema["db_schema_name"] == "public")


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_has_the_code_of_postgresql_and_the_connection_works_on(
    both: Both, text: str
) -> None:
    codes = []
    for place in (both.real, both.eke):
        with adbc.connect(place.url) as client, client.cursor() as cursor:
            with pytest.raises(adbc.Error) as refusal:
                cursor.execute(text)
            client.rollback()
            cursor.execute("SELECT 1")
            assert cursor.fetchall() == [(1,)]
            codes.append(refusal.value.sqlstate)
    assert codes == [WRONG[text], OTHER_CODES.get(text, WRONG[text])]


def test_a_question_is_free_the_second_time(both: Both) -> None:
    first = asked(both.eke, BY_SEX)[1]
    assert asked(both.eke, BY_SEX)[1] == first
    with adbc.connect(both.eke.url) as client, client.cursor() as cursor:
        cursor.execute("SET eke.spend = off")
        cursor.execute(BY_SEX)
        assert cursor.fetchall() == first
