"""SQLAlchemy with both of its drivers: questions, and all that is reflected."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from tests.clients.places import Both, Place, agree
from tests.clients.questions import BY_KEY, BY_SEX, COMPARED, KEYS, OTHER_CODES, WRONG, counting

DRIVERS = ("psycopg", "psycopg2")
OF_TABLES = (
    *("get_columns", "get_pk_constraint", "get_foreign_keys", "get_indexes"),
    *("get_unique_constraints", "get_check_constraints", "get_table_comment", "get_table_options"),
)
OF_SCHEMAS = (
    *("get_table_names", "get_view_names", "get_materialized_view_names", "get_temp_table_names"),
    *("get_sequence_names", "get_sorted_table_and_fkc_names", "get_enums", "get_domains"),
)
OF_MANY = (
    *("get_multi_columns", "get_multi_pk_constraint", "get_multi_foreign_keys"),
    *("get_multi_indexes", "get_multi_unique_constraints", "get_multi_check_constraints"),
    *("get_multi_table_comment", "get_multi_table_options"),
)
Engines = tuple[sa.Engine, sa.Engine]


def engine_of(place: Place, driver: str) -> sa.Engine:
    return sa.create_engine(place.url.replace("postgresql:", f"postgresql+{driver}:"))


@pytest.fixture(scope="module", params=DRIVERS)
def engines(both: Both, request: pytest.FixtureRequest) -> Iterator[Engines]:
    """Of eke and of PostgreSQL."""
    made = engine_of(both.eke, request.param), engine_of(both.real, request.param)
    yield made
    for engine in made:
        engine.dispose()


def plain(told: Any) -> Any:
    """What was reflected, with types as they are written."""
    if isinstance(told, dict):
        return {name: plain(value) for name, value in told.items()}
    if isinstance(told, list):
        return [plain(value) for value in told]
    return repr(told) if isinstance(told, sa.types.TypeEngine) else told


@pytest.mark.parametrize("look", OF_TABLES)
def test_a_table_is_reflected_alike(engines: Engines, look: str) -> None:
    for name in ("people", "schools"):
        seen = [
            [plain(getattr(sa.inspect(engine), look)(name, schema=schema)) for engine in engines]
            for schema in (None, "public")
        ]
        assert [pair[0] for pair in seen] == [pair[1] for pair in seen]


@pytest.mark.parametrize("look", OF_SCHEMAS)
def test_a_schema_is_reflected_alike(engines: Engines, look: str) -> None:
    ours, real = (plain(getattr(sa.inspect(engine), look)()) for engine in engines)
    assert ours == real


@pytest.mark.parametrize("look", OF_MANY)
def test_all_tables_at_once_are_reflected_alike(engines: Engines, look: str) -> None:
    ours, real = (plain(getattr(sa.inspect(engine), look)()) for engine in engines)
    assert ours == real
    assert set(ours) == {(None, "people"), (None, "schools")}


def test_names_are_found_alike(engines: Engines) -> None:
    seen = []
    for engine in engines:
        inspector = sa.inspect(engine)
        tables = [inspector.has_table(name) for name in ("people", "nobody", "pg_class")]
        with pytest.raises(sa.exc.NoSuchTableError):
            inspector.get_columns("nobody")
        seen.append(
            (
                tables,
                inspector.has_schema("public"),
                inspector.get_schema_names(),
                inspector.default_schema_name,
                (engine.dialect.server_version_info or ())[:1],
            )
        )
    assert seen[0] == seen[1]


def test_a_database_is_reflected_and_its_tables_are_asked(engines: Engines) -> None:
    seen = []
    for engine in engines:
        metadata = sa.MetaData()
        metadata.reflect(engine)
        assert sorted(metadata.tables) == ["people", "schools"]
        people, schools = metadata.tables["people"], metadata.tables["schools"]
        with engine.connect() as client:
            question = (
                sa.select(people.c.sex, sa.func.count().label("n"))
                .where(people.c.age > 20, people.c.member.is_(True))
                .group_by(people.c.sex)
                .order_by(people.c.sex)
            )
            rows = client.execute(question).all()
            joined = (
                sa.select(schools.c.size, sa.func.count().label("n"))
                .select_from(people.join(schools, people.c.sex == schools.c.sex))
                .group_by(schools.c.size)
                .order_by(schools.c.size)
            )
            seen.append([tuple(row) for row in (*rows, *client.execute(joined))])
    agree(*seen)


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_every_type_have_the_values_of_postgresql(engines: Engines, key: str) -> None:
    seen = []
    for engine in engines:
        with engine.connect() as client:
            result = client.execute(sa.text(BY_KEY[key]))
            assert list(result.keys()) == ["key", "n"]
            seen.append([tuple(row) for row in result])
    agree(*seen)


@pytest.mark.parametrize("condition", COMPARED)
def test_parameters_of_every_type(engines: Engines, condition: str) -> None:
    seen = []
    for engine in engines:
        with engine.connect() as client:
            text = sa.text(counting(condition, ":value"))
            seen.append(
                [tuple(row) for row in client.execute(text, {"value": COMPARED[condition]})]
            )
    agree(*seen)


def test_rows_are_streamed_from_a_cursor_of_the_server(engines: Engines) -> None:
    seen = []
    for engine in engines:
        with engine.connect().execution_options(yield_per=3) as client:
            parts = client.execute(sa.text(BY_KEY["age"])).partitions()
            seen.append([tuple(row) for part in parts for row in part])
    assert len(seen[0]) == 10
    agree(*seen)


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_has_the_code_of_postgresql_and_the_connection_works_on(
    engines: Engines, text: str
) -> None:
    codes = []
    for engine in engines:
        with engine.connect() as client:
            with pytest.raises(sa.exc.DBAPIError) as refusal:
                client.execute(sa.text(text))
            client.rollback()
            assert client.execute(sa.text("SELECT 1")).scalar() == 1
            original: Any = refusal.value.orig
            codes.append(getattr(original, "sqlstate", None) or original.pgcode)
    assert codes == [OTHER_CODES.get(text, WRONG[text]), WRONG[text]]


def test_a_question_is_free_the_second_time(engines: Engines) -> None:
    with engines[0].connect() as client:
        first = client.execute(sa.text(BY_SEX)).all()
        client.execute(sa.text("SET eke.spend = off"))
        assert client.execute(sa.text(BY_SEX)).all() == first
        assert client.execute(sa.text("SHOW eke.last_cost")).scalar() == "0"
