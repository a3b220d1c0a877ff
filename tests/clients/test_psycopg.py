"""psycopg 3: both protocols, parameters, results in binary, named cursors, pipelines, copies."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.clients.places import Both, Place, agree
from tests.clients.questions import (
    BY_KEY,
    BY_SEX,
    CATALOGUE,
    COMPARED,
    EMPTY,
    JOINED,
    KEYS,
    OTHER_CODES,
    TOTALS,
    WRONG,
    counting,
)

_FLOAT8 = 701


def connect(place: Place) -> Any:
    return psycopg.connect(**place.words, autocommit=True)


def kinds(cursor: Any) -> list[tuple[str, int]]:
    """Names and types of columns."""
    return [(column.name, column.type_code) for column in cursor.description]


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("key", KEYS)
def test_keys_of_every_type_have_the_values_and_types_of_postgresql(
    both: Both, key: str, binary: bool
) -> None:
    seen = []
    for place in (both.eke, both.real):
        with connect(place) as client:
            cursor = client.execute(BY_KEY[key], binary=binary)
            seen.append((kinds(cursor), cursor.fetchall(), cursor.rowcount, cursor.statusmessage))
    ours, real = seen
    assert ours[0] == [real[0][0], ("n", _FLOAT8)]
    assert ours[2:] == real[2:]
    agree(ours[1], real[1])


@pytest.mark.parametrize("question", [JOINED, TOTALS])
def test_joins_and_totals_have_the_names_of_postgresql(both: Both, question: str) -> None:
    seen = []
    for place in (both.eke, both.real):
        with connect(place) as client:
            cursor = client.execute(question)
            seen.append(([name for name, _ in kinds(cursor)], cursor.fetchall()))
    assert seen[0][0] == seen[1][0]
    agree(seen[0][1], seen[1][1], keys=1 if question == JOINED else 0)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("condition", COMPARED)
def test_parameters_of_every_type(both: Both, condition: str, binary: bool) -> None:
    text = counting(condition, "%b" if binary else "%s")
    seen = []
    for place in (both.eke, both.real):
        with connect(place) as client:
            rows = [
                client.execute(text, (COMPARED[condition],), prepare=prepare).fetchall()
                for prepare in (False, True, True)
            ]
        assert rows[0] == rows[1] == rows[2]
        seen.append(rows[0])
    agree(*seen)


def test_the_table_itself_is_described_without_a_row(both: Both) -> None:
    def look(place: Place) -> Any:
        with connect(place) as client:
            cursor = client.execute(EMPTY)
            return kinds(cursor), cursor.fetchall(), cursor.statusmessage

    assert both.seen(look)[1] == []


@pytest.mark.parametrize("binary", [False, True])
def test_the_catalogue_agrees(both: Both, binary: bool) -> None:
    def look(place: Place) -> Any:
        with connect(place) as client:
            cursor = client.execute(CATALOGUE, binary=binary)
            return kinds(cursor), cursor.fetchall()

    assert len(both.seen(look)[1]) == 9


def test_a_named_cursor_fetches_in_parts(both: Both) -> None:
    seen = []
    for place in (both.eke, both.real):
        with connect(place) as client, client.transaction(), client.cursor("ages") as cursor:
            cursor.itersize = 3
            cursor.execute(BY_KEY["age"])
            first = cursor.fetchmany(4)
            cursor.scroll(1)
            rest = list(cursor)
            assert (len(first), len(rest)) == (4, 5)
            seen.append([*first, *rest])
    agree(*seen)


def test_a_pipeline_goes_on_after_an_error(both: Both) -> None:
    seen = []
    for place in (both.eke, both.real):
        with connect(place) as client:
            with client.pipeline() as pipeline:
                first = client.execute(BY_SEX)
                second = client.execute("SELECT %s::int + 1", (41,))
                pipeline.sync()
                with pytest.raises(psycopg.errors.UndefinedTable):
                    client.execute("SELECT * FROM nobody").fetchall()
                pipeline.sync()
                third = client.execute("SELECT 3")
            assert (second.fetchall(), third.fetchall()) == ([(42,)], [(3,)])
            seen.append(first.fetchall())
    agree(*seen)


def test_many_at_once_and_several_in_one_text(both: Both) -> None:
    seen = []
    for place in (both.eke, both.real):
        with connect(place) as client:
            cursor = client.cursor()
            cursor.executemany(counting("age = {}", "%s"), [(20,), (21,)], returning=True)
            rows = cursor.fetchall()
            assert cursor.nextset()
            rows += cursor.fetchall()
            cursor.execute(f"{BY_SEX}; {JOINED}")
            rows += cursor.fetchall()
            assert cursor.nextset()
            seen.append([*rows, *cursor.fetchall()])
            assert not cursor.nextset()
    agree(*seen)


@pytest.mark.parametrize("form", ["", "WITH (FORMAT csv, HEADER)", "WITH (FORMAT binary)"])
def test_a_copy_has_the_rows_of_postgresql(both: Both, form: str) -> None:
    seen = []
    for place in (both.eke, both.real):
        with (
            connect(place) as client,
            client.cursor().copy(f"COPY ({BY_KEY['age']}) TO STDOUT {form}") as copy,
        ):
            if "csv" in form:
                lines = b"".join(copy).decode().splitlines()
                assert lines[0] == "key,n"
                rows = [tuple(line.split(",")) for line in lines[1:]]
            else:
                kind = "float8" if place.is_eke else "int8"
                copy.set_types(["int8", kind])
                rows = list(copy.rows())
        seen.append([(int(key), float(value)) for key, value in rows])
    agree(*seen)


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_has_the_code_of_postgresql_and_the_connection_works_on(
    both: Both, text: str
) -> None:
    codes = []
    for place in (both.real, both.eke):
        with connect(place) as client:
            with pytest.raises(psycopg.Error) as refusal:
                client.execute(text)
            assert client.execute("SELECT 1").fetchall() == [(1,)]
            codes.append(refusal.value.sqlstate)
    assert codes == [WRONG[text], OTHER_CODES.get(text, WRONG[text])]


def test_a_failed_transaction_ends_and_the_connection_works_on(both: Both) -> None:
    def look(place: Place) -> Any:
        with psycopg.connect(**place.words) as client:
            states = [client.info.transaction_status]
            with pytest.raises(psycopg.Error):
                client.execute("SELECT * FROM nobody")
            states.append(client.info.transaction_status)
            with pytest.raises(psycopg.errors.InFailedSqlTransaction):
                client.execute("SELECT 1")
            client.rollback()
            states.append(client.info.transaction_status)
            with client.transaction(), client.transaction():
                client.execute("SELECT 1")
            return states, client.info.dbname, client.info.user, client.info.encoding

    both.seen(look)


def test_a_question_is_free_the_second_time(both: Both) -> None:
    with connect(both.eke) as client:
        said: list[str] = []
        client.add_notice_handler(lambda told: said.append(told.message_primary))
        first = client.execute(BY_SEX).fetchall()
        assert client.execute(BY_SEX).fetchall() == first
        cost = client.execute("SHOW eke.last_cost").fetchone()
        client.execute("SET eke.spend = off")
        assert client.execute(BY_SEX).fetchall() == first
    assert cost == ("0",)
    assert sum(text.startswith("Free") for text in said) >= 2
