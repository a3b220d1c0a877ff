"""What the catalogue does not know is an error with PostgreSQL's code, never an empty answer."""

from __future__ import annotations

import pickle
from typing import Any

import psycopg
import pytest

from eke.catalogue import Catalogue, CatalogueColumn, CatalogueError, Relation
from eke.errors import EkeError

SAME_CODE = [
    ("SELECT * FROM nosuch", "42P01"),
    ("SELECT * FROM pg_catalog.nosuch", "42P01"),
    ("SELECT * FROM information_schema.nosuch", "42P01"),
    ("SELECT nosuch.relname FROM pg_class", "42P01"),
    ("SELECT 'nosuch'::regclass", "42P01"),
    ("SELECT ('no' || 'such')::regclass", "42P01"),
    ("SELECT has_table_privilege('nosuch', 'SELECT')", "42P01"),
    ("SELECT pg_relation_size('nosuch')", "42P01"),
    ("SELECT nosuch FROM pg_class", "42703"),
    ("SELECT c.nosuch FROM pg_class c", "42703"),
    ("SELECT rowid FROM pg_class", "42703"),
    ('SELECT "user" FROM pg_class', "42703"),
    ("SELECT nosuch()", "42883"),
    ("SELECT pg_catalog.nosuch(1)", "42883"),
    ("SELECT lower('a', 'b')", "42883"),
    ("SELECT version(1)", "42883"),
    ("SELECT 'a' OPERATOR(pg_catalog.@@@@) 'b'", "42883"),
    ("SELECT 'nosuch'::regproc", "42883"),
    ("SELECT 'nosuch'::regtype", "42704"),
    ("SELECT 'nosuch'::regrole", "42704"),
    ("SELECT 1::nosuch", "42704"),
    ("SELECT current_setting('nosuch.nosuch')", "42704"),
    ("SELECT 'nosuch'::regnamespace", "3F000"),
    ("SELECT has_database_privilege('nosuch', 'CONNECT')", "3D000"),
    ("SELECT oid FROM pg_class, pg_namespace", "42702"),
    ("SELECT relname, count(*) FROM pg_class", "42803"),
    ("SELECT 'x'::int", "22P02"),
    ("SELECT 'x'::int[]", "22P02"),
    ("SELECT 1 / 0", "22012"),
    ("SELECT FROM WHERE", "42601"),
    ("SELEC 1", "42601"),
    ("SELECT 'not closed", "42601"),
    ("SELECT (1", "42601"),
    ("SELECT 1; SELECT 2", "42601"),
    ("SELECT $1::text", "42P02"),
]
HERE_ONLY = [
    ("", "42601"),
    ("SELECT * FROM pg_statistic", "42P01"),
    ("SELECT * FROM pg_authid", "42P01"),
    ("SELECT pg_get_keywords()", "42883"),
    ("SELECT encode('a', 'hex')", "0A000"),
    ("SELECT pg_describe_object(1259, 1259, 0)", "0A000"),
    ("SELECT now() AT TIME ZONE 'CET'", "0A000"),
    ("SELECT ctid FROM pg_class", "42703"),
    ("SELECT xmin FROM pg_settings", "42703"),
    ("SELECT to_char(now(), 'YYYY')", "0A000"),
    ("SELECT nosuch_function(1)", "42883"),
    ("INSERT INTO pg_class (relname) VALUES ('x')", "0A000"),
    ("SHOW server_version", "0A000"),
    ("SELECT * FROM pg_class FOR UPDATE", "0A000"),
    ("SELECT 1 INTO x", "0A000"),
    ("SELECT c FROM pg_class c", "0A000"),
    ("SELECT c::text FROM pg_class c", "0A000"),
    ("SELECT x::text FROM (SELECT ARRAY[1] AS x) y", "0A000"),
    ("SELECT interval '1 day'", "0A000"),
    ("SELECT * FROM pg_class TABLESAMPLE SYSTEM (1)", "0A000"),
    ("SELECT array_agg(relname) OVER () FROM pg_class", "0A000"),
    ("SELECT current_setting('memory_limit')", "42704"),
]


@pytest.mark.parametrize(("text", "code"), SAME_CODE + HERE_ONLY)
def test_the_code_says_what_is_wrong(catalogue: Catalogue, text: str, code: str) -> None:
    with pytest.raises(CatalogueError) as raised:
        catalogue.run(text)
    assert raised.value.sqlstate == code
    assert "duckdb" not in str(raised.value).lower()
    assert "eke_" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize(("text", "code"), [pair for pair in SAME_CODE if "; " not in pair[0]])
def test_a_server_gives_the_same_code(real: psycopg.Connection[Any], text: str, code: str) -> None:
    with pytest.raises(psycopg.Error) as raised:
        real.execute(text.encode())
    assert raised.value.sqlstate == code


def test_an_error_is_one_of_ours_and_can_be_sent_on() -> None:
    problem = CatalogueError("no such thing", "42P01")
    assert isinstance(problem, EkeError)
    again = pickle.loads(pickle.dumps(problem))
    assert (str(again), again.sqlstate) == ("no such thing", "42P01")


def test_a_relation_of_an_unknown_type_or_schema_is_refused() -> None:
    for relation in (
        Relation("t", (CatalogueColumn("a", 99_999),)),
        Relation("t", (), schema="nosuch"),
    ):
        with pytest.raises(CatalogueError):
            Catalogue(databases=[], database="d", user="u", relations=[relation])
