"""SQLAlchemy and pandas: a dataset is reflected as PostgreSQL reflects the same table."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import psycopg
import pytest
import sqlalchemy as sa

from tests.postgresql_server import Server
from tests.wire import Wire

LOOKS = (
    *("get_columns", "get_pk_constraint", "get_foreign_keys", "get_indexes"),
    *("get_unique_constraints", "get_check_constraints"),
)


@pytest.fixture(scope="module")
def ours(wire: Wire) -> Iterator[sa.Engine]:
    engine = sa.create_engine("postgresql+psycopg://", creator=wire.connect)
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def theirs(postgresql: Server) -> Iterator[sa.Engine]:
    with psycopg.connect(postgresql.address(), autocommit=True) as real:
        real.execute("DROP DATABASE IF EXISTS people")
        real.execute("CREATE DATABASE people")
    address = postgresql.address().replace("/postgres?", "/people?")
    with psycopg.connect(address, autocommit=True) as real:
        real.execute("CREATE TABLE people (sex text, age bigint, city text)")
    engine = sa.create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(address))
    yield engine
    engine.dispose()
    with psycopg.connect(postgresql.address(), autocommit=True) as real:
        real.execute("DROP DATABASE people")


def test_the_table_is_reflected_alike(ours: sa.Engine, theirs: sa.Engine) -> None:
    seen = []
    for engine in (ours, theirs):
        inspector = sa.inspect(engine)
        names = (
            inspector.get_table_names(),
            inspector.get_view_names(),
            inspector.get_schema_names(),
        )
        looks = {look: getattr(inspector, look)("people") for look in LOOKS}
        for column in looks["get_columns"]:
            column["type"] = repr(column["type"])
        seen.append((names, looks, inspector.has_table("people"), inspector.has_table("nobody")))
    assert seen[0] == seen[1]


def test_a_reflected_table_is_asked(ours: sa.Engine) -> None:
    people = sa.Table("people", sa.MetaData(), autoload_with=ours)
    question = (
        sa.select(people.c.sex, sa.func.count().label("n"))
        .where(people.c.age > 20)
        .group_by(people.c.sex)
    )
    with ours.connect() as client:
        rows = client.execute(question).all()
    assert [row.sex for row in rows] == ["Female", "Male"]
    frame = pd.read_sql(question, ours)
    assert frame["n"].tolist() == [row.n for row in rows]
