"""psycopg2: questions, values, cursors with a name, copies, errors and transactions."""

from __future__ import annotations

import io
from contextlib import closing
from typing import Any

import psycopg2
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

_FLOAT8 = 701


def connect(place: Place) -> Any:
    return closing(psycopg2.connect(**place.words))


def kinds(cursor: Any) -> list[tuple[str, int]]:
    """Names and types of columns."""
    return [(column.name, column.type_code) for column in cursor.description]


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_every_type_have_the_values_and_types_of_postgresql(both: Both, key: str) -> None:
    seen = []
    for place in (both.eke, both.real):
        with connect(place) as client, client.cursor() as cursor:
            cursor.execute(BY_KEY[key])
            seen.append((kinds(cursor), cursor.fetchall(), cursor.rowcount))
    ours, real = seen
    assert ours[0] == [real[0][0], ("n", _FLOAT8)]
    assert ours[2] == real[2]
    agree(ours[1], real[1])


@pytest.mark.parametrize("condition", COMPARED)
def test_values_of_every_type(both: Both, condition: str) -> None:
    seen = []
    for place in (both.eke, both.real):
        with connect(place) as client, client.cursor() as cursor:
            cursor.execute(counting(condition, "%s"), (COMPARED[condition],))
            seen.append(cursor.fetchall())
    agree(*seen)


@pytest.mark.parametrize("text", [EMPTY, CATALOGUE, "SHOW server_encoding"])
def test_what_is_no_question_agrees(both: Both, text: str) -> None:
    def look(place: Place) -> Any:
        with connect(place) as client, client.cursor() as cursor:
            cursor.execute(text)
            return kinds(cursor), cursor.fetchall(), cursor.statusmessage

    both.seen(look)


def test_a_named_cursor_fetches_in_parts(both: Both) -> None:
    seen = []
    for place in (both.eke, both.real):
        with connect(place) as client, client, client.cursor("ages") as cursor:
            cursor.itersize = 3
            cursor.execute(BY_KEY["age"])
            first = cursor.fetchmany(4)
            rest = list(cursor)
            assert (len(first), len(rest)) == (4, 6)
            seen.append([*first, *rest])
    agree(*seen)


def test_a_copy_has_the_rows_of_postgresql(both: Both) -> None:
    seen = []
    for place in (both.eke, both.real):
        with connect(place) as client, client.cursor() as cursor:
            target = io.StringIO()
            cursor.copy_expert(f"COPY ({BY_SEX}) TO STDOUT WITH CSV HEADER", target)
            head, *lines = target.getvalue().splitlines()
            assert head == "sex,n"
            rows = [line.split(",") for line in lines]
            seen.append([(key, float(value)) for key, value in rows])
    agree(*seen)


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_has_the_code_of_postgresql_and_the_connection_works_on(
    both: Both, text: str
) -> None:
    codes = []
    for place in (both.real, both.eke):
        with connect(place) as client, client.cursor() as cursor:
            with pytest.raises(psycopg2.Error) as refusal:
                cursor.execute(text)
            with pytest.raises(psycopg2.errors.InFailedSqlTransaction):
                cursor.execute("SELECT 1")
            client.rollback()
            cursor.execute("SELECT 1")
            assert cursor.fetchall() == [(1,)]
            codes.append(refusal.value.pgcode)
    assert codes == [WRONG[text], OTHER_CODES.get(text, WRONG[text])]


def test_a_question_is_free_the_second_time(both: Both) -> None:
    with connect(both.eke) as client, client.cursor() as cursor:
        cursor.execute(BY_SEX)
        first = cursor.fetchall()
        client.notices.clear()
        cursor.execute(BY_SEX)
        assert cursor.fetchall() == first
        assert client.notices[0].startswith("NOTICE:  Free")
