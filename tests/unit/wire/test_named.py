"""Which tables a statement names, and that the page tells the limits that hold."""

from __future__ import annotations

from pathlib import Path

import pytest

from eke.catalogue import engine
from eke.wire import door, shelf, words
from eke.wire.named import common_names, is_here, tables_of
from eke.wire.portal import one_statement

PAGE = Path(__file__).parents[3] / "docs/reference/postgresql.md"


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        ("SELECT 1", []),
        ("SELECT COUNT(*) FROM people", [("people",)]),
        ('SELECT 1 FROM d."public"."People" AS p', [("d", "public", "people")]),
        ("SELECT 1 FROM a JOIN b USING (x) LEFT JOIN c.d ON 1 = 1", [("a",), ("b",), ("c", "d")]),
        ("SELECT EXTRACT(month FROM d), TRIM(BOTH FROM t) FROM people", [("people",)]),
        ("SELECT 1 FROM (SELECT 1 FROM people) q", [("people",)]),
        ("WITH x AS (SELECT 1 FROM people) SELECT 1 FROM x", [("people",), ("x",)]),
        ("SELECT 'FROM people', \"from\" -- FROM nobody\n FROM a", [("a",)]),
        ("SELECT 1 FROM ONLY people", [("people",)]),
        ("SELECT 1 FROM", []),
    ],
)
def test_tables_after_from_and_join(text: str, tables: list[tuple[str, ...]]) -> None:
    assert tables_of(one_statement(text).words) == tables


def test_names_of_with_and_of_schemas() -> None:
    statement = one_statement("WITH x AS (SELECT 1), y AS (SELECT 2) SELECT COUNT(*) AS n FROM x")
    assert common_names(statement.words) == {"x", "y"}
    assert is_here(("people",))
    assert is_here(("public", "people"))
    assert is_here(("people", "public", "people"), "People")
    assert not is_here(("other", "public", "people"), "people")
    assert not is_here(("pg_catalog", "people"))


def test_the_page_tells_the_limits() -> None:
    page = " ".join(PAGE.read_text("utf-8").split())
    for limit in (
        f"at most {door.MOST_CONNECTIONS} connections and an account {door.MOST_OF_AN_ACCOUNT}",
        f"{door.MOST_AT_ONCE} statements at a time",
        f"a statement {words.MOST_LETTERS // 1024} KiB",
        f"{words.MOST_PARAMETERS:,} parameters",
        f"{shelf.MOST} prepared statements and {shelf.MOST} cursors of {shelf.MOST_LETTERS:,}",
        f"{shelf.MOST_ROWS:,} rows in cursors",
        f"{engine.MOST_ROWS:,} rows and {engine.MOST_LETTERS:,} letters",
    ):
        assert limit in page, limit
