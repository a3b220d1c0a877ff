"""The catalogue by itself: settings, parameters, kinds of values, routing by names of tables."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta

import pytest

from eke.catalogue import Catalogue, CatalogueColumn, CatalogueError


def test_the_version_is_eke_s(catalogue: Catalogue) -> None:
    answer = catalogue.run("SELECT version()")
    assert str(answer.rows[0][0]).startswith("PostgreSQL 15.0 (eke)")
    assert answer.columns == (CatalogueColumn("version", 25),)


def test_settings_are_those_of_the_connection(catalogue: Catalogue) -> None:
    listed = "SELECT setting FROM pg_settings WHERE name = 'timezone'"
    text = f"SELECT current_setting('timezone'), ({listed})"
    assert catalogue.run(text, {"TimeZone": "Europe/Vienna"}).rows == (("Europe/Vienna",) * 2,)
    assert catalogue.run(text).rows == (("UTC", "UTC"),)
    assert catalogue.run("SELECT set_config('search_path', '', false)").rows == (("",),)


def test_a_statement_with_parameters_can_be_described(catalogue: Catalogue) -> None:
    text = "SELECT relname, oid, $2::int4 FROM pg_class WHERE relname = $1 AND oid = ANY($3)"
    assert [column.oid for column in catalogue.describe(text)] == [19, 26, 23]
    with pytest.raises(CatalogueError):
        catalogue.run(text)


def test_values_are_plain(catalogue: Catalogue) -> None:
    text = (
        "SELECT 1, 1.5, 1.5::float8, true, 'a', NULL, date '2020-02-03', ARRAY['a b', NULL], now()"
    )
    *values, now = catalogue.run(text).rows[0]
    assert values == [1, "1.5", 1.5, True, "a", None, date(2020, 2, 3), '{"a b",NULL}']
    assert isinstance(now, datetime)
    assert abs(datetime.now(UTC) - now) < timedelta(minutes=1)


def test_several_threads_may_ask(catalogue: Catalogue) -> None:
    def ask(number: int) -> object:
        return catalogue.run(f"SELECT {number}, current_setting('x')", {"x": str(number)}).rows[0]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(20))) == [(n, str(n)) for n in range(20)]


def test_a_closed_catalogue_says_so() -> None:
    closed = Catalogue(databases=[], database="d", user="eke", relations=[])
    assert closed.run("SELECT current_user, current_database()").rows == (("eke", "d"),)
    closed.close()
    with pytest.raises(CatalogueError):
        closed.run("SELECT 1")
