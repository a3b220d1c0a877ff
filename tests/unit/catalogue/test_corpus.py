"""What tools send is answered as a real PostgreSQL answers it: columns, types and rows."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest

from eke.catalogue import Catalogue, CatalogueError
from tests.unit.catalogue.corpus import OIDS, Statement, counts, oids_in, statements
from tests.unit.catalogue.exceptions import EMPTY_HERE, OTHER_ROWS, REFUSED

STATEMENTS = statements()
TOOLS = """
datagrip dbeaver functions grafana jdbc metabase npgsql odbc pgadmin psql sqlalchemy standard
superset tableau tools
"""


def from_server(real: psycopg.Connection[Any], text: str) -> tuple[list[Any], list[Any]]:
    """Names and types of columns, and rows as texts."""
    cursor = real.execute(text.encode())
    result = cursor.pgresult
    assert result is not None
    assert cursor.description is not None
    rows = [
        tuple(
            None if value is None else value.decode()
            for value in (result.get_value(row, column) for column in range(result.nfields))
        )
        for row in range(result.ntuples)
    ]
    return [(column.name, column.type_code) for column in cursor.description], rows


def shown(value: object) -> str | None:
    if isinstance(value, bool):
        return "t" if value else "f"
    if isinstance(value, float):
        return repr(value).removesuffix(".0")
    return None if value is None else str(value)


def with_names(rows: list[Any], oids: dict[str, int], statement: Statement) -> list[Any]:
    """Rows with names for the numbers that differ; sorted, where a statement leaves their order."""
    names = {str(oid): name for name, oid in oids.items()}
    named = [tuple(names.get(value, value) for value in row) for row in rows]
    return named if "order by" in statement.text.lower() else sorted(named, key=str)


@pytest.fixture(scope="module")
def oids(catalogue: Catalogue) -> dict[str, int]:
    return oids_in(catalogue)


@pytest.fixture(scope="module")
def real_oids(real: psycopg.Connection[Any]) -> dict[str, int]:
    return dict(real.execute(OIDS).fetchall())


@pytest.mark.parametrize("statement", STATEMENTS, ids=[one.title for one in STATEMENTS])
def test_a_statement_is_answered_as_by_a_server(
    statement: Statement,
    catalogue: Catalogue,
    real: psycopg.Connection[Any],
    real_oids: dict[str, int],
    oids: dict[str, int],
) -> None:
    columns, rows = from_server(real, statement.about(real_oids))
    text = statement.about(oids)
    if statement.title in REFUSED:
        with pytest.raises(CatalogueError):
            catalogue.run(text)
        return
    answer = catalogue.run(text)
    assert [(column.name, column.oid) for column in answer.columns] == columns
    assert catalogue.describe(text) == answer.columns
    mine = [tuple(map(shown, row)) for row in answer.rows]
    assert (not mine and bool(rows)) == (statement.title in EMPTY_HERE), (mine, rows)
    same = with_names(mine, oids, statement) == with_names(rows, real_oids, statement)
    assert same != (statement.title in {**OTHER_ROWS, **EMPTY_HERE}), (mine, rows)


def test_every_exception_is_of_a_statement() -> None:
    titles = {statement.title for statement in STATEMENTS}
    tables = (OTHER_ROWS, EMPTY_HERE, REFUSED)
    assert set().union(*tables) <= titles
    assert len(set().union(*tables)) == sum(map(len, tables))
    assert all(reason for table in tables for reason in table.values())


def test_every_relation_has_the_columns_that_it_has_on_a_server(
    catalogue: Catalogue, real: psycopg.Connection[Any]
) -> None:
    query = (
        "SELECT n.nspname, c.relname, c.relkind, a.attname, a.attnum, a.atttypid::regtype::text "
        "FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 "
        "WHERE n.nspname = 'pg_catalog'"
    )
    _, rows = from_server(real, query)
    mine = {tuple(map(shown, row)) for row in catalogue.run(query).rows}
    assert mine <= set(rows)
    assert len(mine) > 500


def test_every_type_is_as_on_a_server(catalogue: Catalogue, real: psycopg.Connection[Any]) -> None:
    query = "SELECT * FROM pg_type WHERE typtype IN ('b', 'p') AND typnamespace = 11 ORDER BY oid"
    columns, rows = from_server(real, query)
    answer = catalogue.run(query)
    assert [(column.name, column.oid) for column in answer.columns] == columns
    assert {tuple(map(shown, row)) for row in answer.rows} <= set(rows)
    assert len(answer.rows) > 80


def test_the_corpus_is_not_empty() -> None:
    assert len(STATEMENTS) > 750
    assert {re.sub(":.*", "", statement.title) for statement in STATEMENTS} == {*TOOLS.split()}
    assert sum(numbers[0] for numbers in counts().values()) == len(STATEMENTS)
