"""Relations with rows: read when they are wanted, and never instead of the catalogue's own."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from eke.catalogue import Catalogue, CatalogueColumn, CatalogueError, Relation
from eke.errors import QueryError

COLUMNS = (
    CatalogueColumn("age", 20),
    CatalogueColumn('odd "name', 25),
    CatalogueColumn("day", 1082),
)
ROWS = {"age": [3, 1, None], 'odd "name': ["a", "b", None], "day": [None, None, None]}


class Shown:
    """A catalogue with one relation that can be read, and how often its rows were fetched."""

    def __init__(self) -> None:
        self.fetched = 0
        relations = [
            Relation("hidden", COLUMNS),
            Relation("shown", COLUMNS, "v", rows=self._rows),
            Relation("pg_class", COLUMNS, "v", rows=self._rows),
            Relation("broken", COLUMNS, "v", rows=self._broken),
        ]
        self.catalogue = Catalogue(
            databases=["base"], database="base", user="ana", relations=relations
        )

    def _rows(self) -> pa.Table:
        self.fetched += 1
        return pa.table(ROWS)

    def _broken(self) -> pa.Table:
        raise QueryError("the rows are not kept")


@pytest.fixture(scope="module")
def shown() -> Iterator[Shown]:
    made = Shown()
    yield made
    made.catalogue.close()


def test_describing_fetches_nothing_and_reading_fetches_once(shown: Shown) -> None:
    assert shown.catalogue.describe("SELECT * FROM shown") == COLUMNS
    assert shown.fetched == 0
    for _ in range(3):
        result = shown.catalogue.run("SELECT * FROM base.public.shown")
        assert result.columns == COLUMNS
        assert result.rows == ((3, "a", None), (1, "b", None), (None, None, None))
    assert shown.fetched == 1


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("SELECT age FROM shown ORDER BY age", ((1,), (3,), (None,))),
        ("SELECT count(*), sum(s.age) FROM public.shown s WHERE s.age > 1", ((1, "3"),)),
        ('SELECT "odd ""name" FROM shown WHERE age = 1', (("b",),)),
        ("WITH shown AS (SELECT 7 AS age) SELECT age FROM shown", ((7,),)),
        (
            "SELECT c.relkind, s.age FROM pg_class c, shown s WHERE relname = 'shown' AND age = 3",
            (("v", 3),),
        ),
    ],
)
def test_rows_are_read_with_the_whole_of_sql(
    shown: Shown, text: str, rows: tuple[tuple[object, ...], ...]
) -> None:
    assert shown.catalogue.run(text).rows == rows


def test_names_of_the_catalogue_stay_its_own(shown: Shown) -> None:
    (kinds,) = shown.catalogue.run("SELECT count(*) FROM pg_class").rows
    assert kinds > (4,)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("SELECT * FROM hidden", "42P01"),
        ("SELECT * FROM other.public.shown", "42P01"),
        ("SELECT * FROM pg_catalog.shown", "42P01"),
        ("SELECT rowid FROM shown", "42703"),
        ("SELECT public.upper('a')", "42883"),
    ],
)
def test_nothing_else_is_read(shown: Shown, text: str, code: str) -> None:
    with pytest.raises(CatalogueError) as refused:
        shown.catalogue.run(text)
    assert refused.value.sqlstate == code


def test_rows_that_cannot_be_had_are_an_error_that_says_so(shown: Shown) -> None:
    for _ in range(2):
        with pytest.raises(QueryError, match="not kept"):
            shown.catalogue.run("SELECT * FROM broken")
    assert shown.catalogue.run("SELECT 1").rows == ((1,),)
