"""pg8000, which is written in Python alone."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pg8000.dbapi
import pg8000.native
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

_FLOAT8 = 701


def words(place: Place) -> dict[str, Any]:
    return {
        "user": place.user,
        "host": place.host,
        "port": place.port,
        "password": place.password,
        "database": place.database,
        "startup_params": {"eke.within": f"{WITHIN:g}"},
    }


def connect(place: Place) -> Any:
    return closing(pg8000.dbapi.connect(**words(place)))


def kinds(cursor: Any) -> list[tuple[str, int]]:
    """Names and types of columns."""
    return [(column[0], column[1]) for column in cursor.description]


def plain(rows: Any) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in rows]


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_every_type_have_the_values_and_types_of_postgresql(both: Both, key: str) -> None:
    seen = []
    for place in (both.eke, both.real):
        with connect(place) as client:
            cursor = client.cursor()
            cursor.execute(BY_KEY[key])
            seen.append((kinds(cursor), plain(cursor.fetchall()), cursor.rowcount))
    ours, real = seen
    assert ours[0] == [real[0][0], ("n", _FLOAT8)]
    assert ours[2] == real[2]
    agree(ours[1], real[1])


@pytest.mark.parametrize("condition", COMPARED)
def test_parameters_of_every_type(both: Both, condition: str) -> None:
    seen = []
    for place in (both.eke, both.real):
        with connect(place) as client:
            cursor = client.cursor()
            cursor.execute(counting(condition, "%s"), (COMPARED[condition],))
            seen.append(plain(cursor.fetchall()))
    agree(*seen)


def test_named_parameters_and_prepared_statements(both: Both) -> None:
    seen = []
    for place in (both.eke, both.real):
        with closing(pg8000.native.Connection(**words(place))) as client:
            rows = client.run(counting("age >= {}", ":least"), least=23)
            prepared = client.prepare(counting("sex = {}", ":sex"))
            rows += prepared.run(sex="Male")
            assert prepared.run(sex="Male") == rows[2:]
            prepared.close()
            assert [column["name"] for column in client.columns or ()] == ["sex", "n"]
            seen.append(plain(rows))
    agree(*seen)


@pytest.mark.parametrize("text", [EMPTY, CATALOGUE])
def test_what_is_no_question_agrees(both: Both, text: str) -> None:
    def look(place: Place) -> Any:
        with connect(place) as client:
            cursor = client.cursor()
            cursor.execute(text)
            return kinds(cursor), plain(cursor.fetchall())

    both.seen(look)


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_has_the_code_of_postgresql_and_the_connection_works_on(
    both: Both, text: str
) -> None:
    codes = []
    for place in (both.real, both.eke):
        with connect(place) as client:
            cursor = client.cursor()
            with pytest.raises(pg8000.dbapi.DatabaseError) as refusal:
                cursor.execute(text)
            client.rollback()
            cursor.execute("SELECT 1")
            assert plain(cursor.fetchall()) == [(1,)]
            codes.append(refusal.value.args[0]["C"])
    assert codes == [WRONG[text], OTHER_CODES.get(text, WRONG[text])]


def test_a_question_is_free_the_second_time(both: Both) -> None:
    with closing(pg8000.native.Connection(**words(both.eke))) as client:
        first = client.run(BY_SEX)
        client.notices.clear()
        assert client.run(BY_SEX) == first
        assert client.notices[0][b"M"].startswith(b"Free")
