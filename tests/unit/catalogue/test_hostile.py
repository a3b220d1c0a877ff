"""Hostile statements: no files, no settings, no growth without end, and no error but ours."""

from __future__ import annotations

import resource

import pytest

from eke.catalogue import Catalogue, CatalogueError, engine

ATTRIBUTES = "pg_attribute a, pg_attribute b, pg_attribute c, pg_attribute d"
ARRAY = "SELECT array_agg(a.attname) AS x FROM pg_attribute a, pg_class"
TEXT = "SELECT string_agg(attname, '') AS x FROM pg_attribute"
OUTSIDE = [
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM '/etc/passwd'",
    'SELECT * FROM "/etc/passwd"',
    "SELECT * FROM glob('/*')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT * FROM duckdb_settings()",
    "SELECT * FROM duckdb_tables",
    "SELECT * FROM duckdb_tables()",
    "SELECT * FROM calls.pg_get_keywords",
    "SELECT * FROM pg_get_keywords",
    "SELECT * FROM pg_authid",
    "SELECT * FROM pg_ls_dir('/')",
    "SELECT * FROM pg_read_file('/etc/passwd')",
    "SELECT py_letter(65)",
    "SELECT row_to_json(c) FROM pg_class c",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM system.main.duckdb_columns",
    "SELECT * FROM names.pg_class",
    "SELECT * FROM memory.names.pg_class",
    "SELECT getenv('HOME')",
    "SELECT py_now()",
    "SELECT eke_version()",
    "SELECT query('SELECT 1')",
    "SELECT * FROM query('SELECT 1')",
    "SELECT pg_sleep(1000)",
    "COPY pg_class TO '/tmp/x'",
    "ATTACH '/tmp/x'",
    "INSTALL httpfs",
    "LOAD httpfs",
    "PRAGMA version",
    "SET memory_limit = '9GB'",
    "EXPLAIN SELECT 1",
    "CREATE TABLE x (a int)",
    "DROP TABLE names.pg_class",
    "WITH x AS (DELETE FROM pg_class RETURNING *) SELECT * FROM x",
    "SELECT * EXCLUDE (oid) FROM pg_class",
    "SELECT 1 FROM pg_class GROUP BY ALL",
    "SELECT COLUMNS('a') FROM pg_class",
    "SELECT {'a': 1}",
    "SELECT repeat('x', 1000000000)",
    "SELECT lpad('x', 1000000000)",
]
ENDLESS = [
    f"SELECT count(*) FROM {ATTRIBUTES} WHERE a.attnum + b.attnum + c.attnum = d.attnum",
    "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t",
]
LARGE = [
    "SELECT * FROM generate_series(1, 1000000000)",
    "SELECT generate_series(1, 1000000000)",
    "SELECT a.attname FROM pg_attribute a, pg_attribute b",
    f"SELECT string_agg(a.attname, '') FROM {ATTRIBUTES}",
    f"SELECT array_agg(a.attname || b.attname) FROM {ATTRIBUTES}",
    f"SELECT array_to_string(x, ',') FROM ({ARRAY}) y, pg_class, pg_class z",
    f"SELECT json_build_object('a', x) FROM ({TEXT}) y, pg_class, pg_class z",
    "SELECT length(a) FROM "
    + "(SELECT a || a AS a FROM " * 25
    + "(SELECT 'aaaaaaaa' AS a) x"
    + ") x" * 25,
    "SELECT a FROM " + "(SELECT a || a AS a FROM " * 25 + "(SELECT ARRAY['a'] AS a) x" + ") x" * 25,
    "SELECT '" + "x" * 30_000 + "' FROM generate_series(1, 5000) a, generate_series(1, 4) b",
    "SELECT " + "||".join(["'a'"] * 2000),
    f"SELECT row_to_json(y) FROM (SELECT x, x || x AS z FROM ({TEXT} WHERE attnum < 8) w) y",
    "SELECT replace(a, 'a', '" + "a" * 1000 + "') FROM (SELECT '" + "a" * 1000 + "' AS a) x",
]
DEEP = [
    "SELECT " + "(" * 20_000 + "1" + ")" * 20_000,
    "SELECT " + "NOT " * 16_000 + "true",
    "SELECT " + "1+" * 6000 + "1",
    "SELECT " + "- " * 30_000 + "1",
    "SELECT " + "CASE WHEN true THEN " * 2000 + "1" + " END" * 2000,
    "SELECT 1 FROM " + "(SELECT 1 FROM " * 3000 + "pg_class" + ") x" * 3000,
    "SELECT 1" + "::int" * 6000,
    "SELECT 'a'" + "::text" * 1500,
    "SELECT '{" + " " * 60_000 + "{}'::text[]",
    "SELECT '{" + "a " * 30_000 + "\"}'::text[]",
    "SELECT x" + "[1]" * 15_000,
    "SELECT x" + "[1:2]" * 400,
    "SELECT " + "text(" * 25 + "'a'" + ")" * 25,
    "SELECT " + "lower(name(" * 25 + "'a'" + "))" * 25,
    "SELECT 1::" + "int(" * 25 + "1" + ")" * 25,
    "SELECT 1 FROM pg_class a" + " JOIN pg_class" * 40,
    "SELECT " + "(SELECT 'a' UNION SELECT " * 12 + "'b'" + ")" * 12,
    "SELECT " + " AS select, ".join(["1"] * 5_500) + " AS select",
    "SELECT * FROM " + " NATURAL JOIN ".join(f"pg_class c{number}" for number in range(61)),
    "SELECT chr(0)",
    "SELECT substring('a' FROM '((a{1000}){1000}){1000}')",
    "SELECT lower(" * 4000,
    "SELECT 1 FROM " + ", ".join(f"pg_class c{number}" for number in range(100)),
    "SELECT 1 FROM " + ", ".join(f"pg_class c{number}" for number in range(61)),
    " UNION ".join(["SELECT 1 FROM pg_class a, pg_class b"] * 61),
    "SELECT " + ", ".join(["1"] * 10_500),
    "SELECT " + "array_upper(ARRAY(SELECT " * 20 + "1" + "), 1)" * 20,
    "SELECT " + "ARRAY[" * 25 + "1" + "]" * 25,
    "SELECT " + "array_to_string(ARRAY[" * 25 + "'a'" + "], ',')" * 25,
    "SELECT " + "ARRAY(SELECT " * 30 + "1" + ")" * 30,
    "/**/" * 16_000 + "x",
    "/*" * 30_000,
    "(" * 60_000,
    " " * 60_000,
    "SELECT '" + "a" * 70_000 + "'",
    "SELECT $x$" + "a" * 60_000,
    "SELECT 'a\0b'",
    "\0",
    "SELECT '\ud800'",
    "SELECT \u202e 1",
]


@pytest.mark.parametrize("text", OUTSIDE)
def test_nothing_outside_the_catalogue_is_reached(catalogue: Catalogue, text: str) -> None:
    with pytest.raises(CatalogueError):
        catalogue.run(text)
    with pytest.raises(CatalogueError):
        catalogue.describe(text)


@pytest.mark.parametrize("text", ENDLESS)
def test_a_statement_without_end_is_stopped(
    catalogue: Catalogue, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "MOST_SECONDS", 0.2)
    with pytest.raises(CatalogueError) as raised:
        catalogue.run(text)
    assert raised.value.sqlstate == "57014"
    monkeypatch.undo()
    assert catalogue.run("SELECT 1").rows == ((1,),)


@pytest.mark.parametrize("text", LARGE)
def test_what_would_fill_the_memory_is_refused(catalogue: Catalogue, text: str) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CatalogueError) as raised:
        catalogue.run(text)
    assert raised.value.sqlstate in ("54000", "53200", "0A000", "57014")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # kilobytes


@pytest.mark.parametrize("text", DEEP, ids=range(len(DEEP)))
def test_a_long_or_deep_text_is_refused(catalogue: Catalogue, text: str) -> None:
    with pytest.raises(CatalogueError):
        catalogue.run(text)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("nullif(", ", 'x')"),
        ("nullif('x', ", ")"),
        ("coalesce(", ", 'x')"),
        ("((", ") IS DISTINCT FROM 'x')::text"),
        ("concat('x', ", ")"),
        ("'x' || (", ")"),
        ("CASE WHEN true THEN ", " END"),
        ("replace(", ", 'x', 'y')"),
        ("(", ")::text::name"),
        ("translate(", ", 'x', 'y')"),
        ("substring(", " FROM '.*')"),
    ],
)
def test_a_nested_call_does_not_double_at_every_level(
    catalogue: Catalogue, start: str, end: str
) -> None:
    sizes = []
    for levels in (9, 18):
        text = "SELECT " + start * levels + "relname" + end * levels + " FROM pg_class"
        assert len(catalogue.run(text).rows) > 50
        sizes.append(len(catalogue._plan(text, None, describing=False).sql))
    assert sizes[1] < 4 * sizes[0]


def test_the_engine_itself_is_sealed(catalogue: Catalogue) -> None:
    for text in (
        "SELECT * FROM read_text('/etc/passwd')",
        "SET memory_limit = '9GB'",
        "ATTACH '/tmp/x'",
        "INSTALL httpfs",
    ):
        with pytest.raises(CatalogueError):
            catalogue._engine.run(text)
