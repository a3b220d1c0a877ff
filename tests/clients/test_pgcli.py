"""pgcli: what it asks to complete words, its commands with a backslash, questions and errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from pgcli.completion_refresher import CompletionRefresher
from pgcli.pgcompleter import PGCompleter
from pgcli.pgexecute import PGExecute
from pgspecial.main import PGSpecial

from tests.clients.places import Both, Place, agree
from tests.clients.questions import BY_SEX, CATALOGUE, OTHER_CODES, WRONG

LOOKS = (
    *("search_path", "schemata", "tables", "views", "table_columns", "view_columns", "databases"),
    *("foreignkeys", "datatypes", "get_timezone"),
)
COMMANDS = (
    *(r"\d", r"\d people", r"\d+ people", r"\d schools", r"\dt", r"\dt+", r"\dn", r"\l", r"\du"),
    *(r"\df", r"\dv", r"\dT", r"\di", r"\ds", r"\dx", r"\db", r"\dp", r"\dD", r"\dm", r"\ddp"),
    *(r"\dE", r"\d nobody"),
)
OTHER = {
    "databases": "there are no template databases here",
    r"\dt+": "sizes are not told",
    r"\dn": "the schema public belongs to eke here",
    r"\l": "there are no template databases here",
    r"\du": "there are no roles here but the account and the owner of the tables",
    r"\dx": "there are no extensions here",
    r"\dp": "there are no lists of privileges here",
}


@contextmanager
def connect(place: Place) -> Iterator[PGExecute]:
    executor = PGExecute(
        place.database,
        place.user,
        place.password,
        place.host,
        place.port,
        options=place.options,
    )
    try:
        yield executor
    finally:
        executor.conn.close()


def answered(place: Place, text: str) -> Any:
    """Rows, headers and the last line of what it shows."""
    with connect(place) as executor:
        ((_, rows, headers, status, *_),) = executor.run(text, pgspecial=PGSpecial())
        return list(rows or ()), headers, status


def of_public(rows: Any) -> Any:
    """What is said of our tables: a server has more relations and functions of its own."""
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], tuple):
        return [name for name in rows if name != "pg_toast"] if isinstance(rows, list) else rows
    return [row for row in rows if row[0] == "public"]


@pytest.mark.parametrize("name", LOOKS)
def test_what_it_reads_to_complete_words_agrees(both: Both, name: str) -> None:
    def look(place: Place) -> Any:
        with connect(place) as executor:
            told = getattr(executor, name)()
            return of_public(list(told) if hasattr(told, "__next__") else told)

    ours, real = look(both.eke), look(both.real)
    assert (ours == real) != (name in OTHER), (ours, real)


def test_the_functions_that_are_listed_are_as_on_a_server(both: Both) -> None:
    """Only those that types name are."""
    listed = []
    for place in (both.eke, both.real):
        with connect(place) as executor:
            listed.append(set(executor.functions()))
    assert len(listed[0]) > 100
    assert listed[0] <= listed[1]


def test_its_completer_learns_the_same_words(both: Both) -> None:
    def look(place: Place) -> Any:
        with connect(place) as executor:
            completer = PGCompleter(pgspecial=PGSpecial())
            for refresh in CompletionRefresher.refreshers.values():
                refresh(completer, executor)
            tables = completer.dbmetadata["tables"]["public"]
            return {
                table: [(column.name, column.datatype) for column in columns.values()]
                for table, columns in tables.items()
            }, completer.search_path

    tables, path = both.seen(look)
    assert list(tables) == ["people", "schools"]
    assert path == ["pg_catalog", "public"]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_show_what_they_show_of_postgresql(both: Both, command: str) -> None:
    ours, real = answered(both.eke, command), answered(both.real, command)
    assert ours[1] == real[1]
    assert (ours == real) != (command in OTHER), (ours, real)


def test_every_exception_is_of_something() -> None:
    assert set(OTHER) <= {*LOOKS, *COMMANDS}


def test_a_question_has_the_names_and_keys_of_postgresql_and_is_free_again(both: Both) -> None:
    ours, real = answered(both.eke, BY_SEX), answered(both.real, BY_SEX)
    assert ours[1:] == real[1:]
    agree(ours[0], real[0])
    assert answered(both.eke, BY_SEX) == ours
    both.seen(lambda place: answered(place, CATALOGUE))


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_has_the_code_of_postgresql_and_the_connection_works_on(
    both: Both, text: str
) -> None:
    codes = []
    for place in (both.real, both.eke):
        with connect(place) as executor:
            with pytest.raises(psycopg.Error) as refusal:
                list(executor.run(text))
            ((_, rows, *_),) = executor.run("SELECT 1")
            assert list(rows) == [(1,)]
            codes.append(refusal.value.sqlstate)
    assert codes == [WRONG[text], OTHER_CODES.get(text, WRONG[text])]
