"""pandas over SQLAlchemy, over ADBC, and over psycopg: frames with the columns of PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import adbc_driver_postgresql.dbapi as adbc
import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa

from tests.clients.places import Both, Place, agree
from tests.clients.questions import BY_KEY, BY_SEX, CATALOGUE, COMPARED, EMPTY, KEYS, counting


@contextmanager
def over_sqlalchemy(place: Place) -> Iterator[Any]:
    engine = sa.create_engine(place.url.replace("postgresql:", "postgresql+psycopg:"))
    try:
        yield engine
    finally:
        engine.dispose()


WAYS: dict[str, Callable[[Place], Any]] = {
    "SQLAlchemy": over_sqlalchemy,
    "ADBC": lambda place: adbc.connect(place.url),
    "psycopg": lambda place: psycopg.connect(**place.words),
}
pytestmark = pytest.mark.filterwarnings(
    "ignore:pandas only supports SQLAlchemy connectable:UserWarning"  # of a plain connection
)


def read(way: str, place: Place, text: str, **more: Any) -> pd.DataFrame:
    with WAYS[way](place) as client:
        frame: pd.DataFrame = pd.read_sql_query(text, client, **more)
        return frame


def values(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    return list(frame.itertuples(index=False, name=None))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("way", WAYS)
def test_frames_have_the_keys_and_types_of_postgresql(both: Both, way: str, key: str) -> None:
    ours, real = (read(way, place, BY_KEY[key]) for place in (both.eke, both.real))
    assert ours.dtypes["key"] == real.dtypes["key"]
    assert ours.dtypes["n"] == "float64"
    agree(values(ours), values(real))


@pytest.mark.parametrize("way", WAYS)
def test_an_index_and_days_are_read_alike(both: Both, way: str) -> None:
    ours, real = (
        read(way, place, BY_KEY["born"], index_col="key", parse_dates=["key"])
        for place in (both.eke, both.real)
    )
    assert ours.index.equals(real.index)
    assert ours.index.dtype == real.index.dtype


@pytest.mark.parametrize("text", [EMPTY, CATALOGUE])
@pytest.mark.parametrize("way", WAYS)
def test_what_is_no_question_agrees(both: Both, way: str, text: str) -> None:
    ours, real = (read(way, place, text) for place in (both.eke, both.real))
    pd.testing.assert_frame_equal(ours, real)


@pytest.mark.parametrize("condition", COMPARED)
def test_parameters_of_every_type(both: Both, condition: str) -> None:
    text, given = counting(condition, "%(value)s"), {"value": COMPARED[condition]}
    ours, real = (read("psycopg", place, text, params=given) for place in (both.eke, both.real))
    agree(values(ours), values(real))


def test_a_table_is_found_but_its_rows_are_not_shown_and_the_engine_works_on(both: Both) -> None:
    with over_sqlalchemy(both.real) as engine:
        assert len(pd.read_sql_table("people", engine, columns=["age"])) == 600
    with over_sqlalchemy(both.eke) as engine:
        with pytest.raises(pd.errors.DatabaseError, match="records are never shown"):
            pd.read_sql_table("people", engine)
        with pytest.raises(ValueError, match="nobody"):
            pd.read_sql_table("nobody", engine)
        first = pd.read_sql_query(BY_SEX, engine)
        pd.testing.assert_frame_equal(pd.read_sql_query(BY_SEX, engine), first)
