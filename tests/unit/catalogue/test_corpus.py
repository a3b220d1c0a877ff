"""What tools send is answered as a real PostgreSQL answers it: columns, types and rows."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest

from eke.catalogue import Catalogue
from tests.unit.catalogue.corpus import NAMES, Statement, oids_in, statements

STATEMENTS = statements()
OTHER_ROWS = {
    "psql: psql \\dn": "the schema public belongs to eke here",
    "psql: psql \\dn+": "the schema public belongs to eke here, and nobody commented on it",
    "psql: psql \\l": "there are no template databases here",
    "psql: psql \\l+": "there are no template databases here, and sizes are not told",
    "psql: psql \\du": "the role eke has no rights of its own here",
    "psql: psql \\dt+": "sizes are not told",
    "psql: psql \\d+ adults 3": "the text of a view is not told",
    "psql: psql \\dp": "there are no lists of privileges here",
    "psql: psql \\dx": "there are no extensions here",
    "psql: psql \\dt *.*": "only relations that can be asked for are listed",
    "sqlalchemy: SQLAlchemy ix 2": "there are no indexes, so no operator classes",
    "sqlalchemy: SQLAlchemy viewdef": "the text of a view is not told",
    "standard: tables, all columns": "no table can be written to",
    "standard: columns, all columns": "no column can be written to",
    "functions: definitions": "nobody commented on template1, which is not here",
}


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
    return None if value is None else str(value)


def with_names(rows: list[Any], oids: dict[str, int]) -> list[Any]:
    """Rows with names for the numbers of our relations, which differ."""
    names = {str(oid): name for name, oid in oids.items()}
    return [tuple(names.get(value, value) for value in row) for row in rows]


@pytest.fixture(scope="module")
def oids(catalogue: Catalogue) -> dict[str, int]:
    return oids_in(catalogue)


@pytest.fixture(scope="module")
def real_oids(real: psycopg.Connection[Any]) -> dict[str, int]:
    query = "SELECT relname, oid FROM pg_class WHERE relname = ANY(%s)"
    return dict(real.execute(query, [list(NAMES)]).fetchall())


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
    answer = catalogue.run(text)
    assert [(column.name, column.oid) for column in answer.columns] == columns
    assert catalogue.describe(text) == answer.columns
    mine = [tuple(map(shown, row)) for row in answer.rows]
    same = with_names(mine, oids) == with_names(rows, real_oids)
    assert same != (statement.title in OTHER_ROWS), (mine, rows)


def test_every_exception_is_of_a_statement() -> None:
    assert set(OTHER_ROWS) <= {statement.title for statement in STATEMENTS}


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
    assert len(STATEMENTS) > 150
    kinds = {re.sub(":.*", "", statement.title) for statement in STATEMENTS}
    assert kinds == {"functions", "jdbc", "psql", "sqlalchemy", "standard", "tools"}
