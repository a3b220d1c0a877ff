"""asyncpg, which prepares everything and takes and gives binary values only."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
import pytest

from tests.clients.places import WITHIN, Both, Place, agree
from tests.clients.questions import (
    BY_KEY,
    BY_SEX,
    CATALOGUE,
    COMPARED,
    EMPTY,
    KEYS,
    OTHER_CODES,
    WRONG,
    counting,
)


def with_client(place: Place, run: Callable[[Any], Awaitable[Any]]) -> Any:
    """What comes of a connection."""

    async def whole() -> Any:
        client = await asyncpg.connect(
            host=place.host,
            port=place.port,
            user=place.user,
            password=place.password,
            database=place.database,
            ssl=False,
            server_settings={"eke.within": f"{WITHIN:g}"},
        )
        try:
            return await run(client)
        finally:
            await client.close()

    return asyncio.run(whole())


def plain(records: Any) -> list[tuple[Any, ...]]:
    return [tuple(record) for record in records]


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_every_type_have_the_values_and_types_of_postgresql(both: Both, key: str) -> None:
    async def run(client: Any) -> Any:
        statement = await client.prepare(BY_KEY[key])
        columns = [(column.name, column.type.name) for column in statement.get_attributes()]
        return columns, plain(await statement.fetch()), statement.get_statusmsg()

    ours, real = with_client(both.eke, run), with_client(both.real, run)
    assert ours[0] == [real[0][0], ("n", "float8")]
    assert ours[2] == real[2]
    agree(ours[1], real[1])


@pytest.mark.parametrize("condition", COMPARED)
def test_parameters_of_every_type(both: Both, condition: str) -> None:
    async def run(client: Any) -> Any:
        statement = await client.prepare(counting(condition, "$1"))
        rows = plain(await statement.fetch(COMPARED[condition]))
        return [kind.name for kind in statement.get_parameters()], rows

    ours, real = with_client(both.eke, run), with_client(both.real, run)
    assert ours[0] == real[0]
    agree(ours[1], real[1])


@pytest.mark.parametrize("text", [EMPTY, CATALOGUE])
def test_what_is_no_question_agrees(both: Both, text: str) -> None:
    async def run(client: Any) -> Any:
        statement = await client.prepare(text)
        columns = [(column.name, column.type.name) for column in statement.get_attributes()]
        return columns, plain(await statement.fetch())

    both.seen(lambda place: with_client(place, run))


def test_a_cursor_fetches_in_parts(both: Both) -> None:
    async def run(client: Any) -> Any:
        async with client.transaction():
            cursor = await client.cursor(BY_KEY["age"])
            first = await cursor.fetch(4)
            await cursor.forward(1)
            rest = await cursor.fetch(50)
            assert (len(first), len(rest)) == (4, 5)
            looped = [record async for record in client.cursor(BY_KEY["age"], prefetch=3)]
        return plain([*first, *rest, *looped])

    agree(with_client(both.eke, run), with_client(both.real, run))


def test_a_copy_has_the_rows_of_postgresql(both: Both) -> None:
    async def run(client: Any) -> Any:
        pieces: list[bytes] = []

        async def take(piece: bytes) -> None:
            pieces.append(piece)

        said = await client.copy_from_query(BY_SEX, output=take, format="csv", header=True)
        head, *lines = b"".join(pieces).decode().splitlines()
        rows = [line.split(",") for line in lines]
        return said, head, [(key, float(value)) for key, value in rows]

    ours, real = with_client(both.eke, run), with_client(both.real, run)
    assert ours[:2] == real[:2]
    agree(ours[2], real[2])


def test_types_are_looked_up_alike(both: Both) -> None:
    """For a type that it does not know asyncpg reads the catalogue, recursively."""

    async def run(client: Any) -> Any:
        arrays = plain(await client.fetch("SELECT ARRAY['a', 'b'] AS letters"))
        await client.set_type_codec(
            "json", encoder=str, decoder=str, schema="pg_catalog", format="text"
        )
        await client.reload_schema_state()
        return (
            arrays,
            client.get_settings().server_encoding,
            await client.fetchval("SELECT $1::int", 4),
        )

    both.seen(lambda place: with_client(place, run))


@pytest.mark.parametrize("text", WRONG)
def test_what_is_wrong_has_the_code_of_postgresql_and_the_connection_works_on(
    both: Both, text: str
) -> None:
    async def run(client: Any) -> Any:
        with pytest.raises(asyncpg.PostgresError) as refusal:
            await client.fetch(text)
        with pytest.raises(asyncpg.PostgresError):
            async with client.transaction():
                await client.fetch(text)
        assert await client.fetchval("SELECT 1") == 1
        return refusal.value.sqlstate

    codes = [with_client(place, run) for place in (both.real, both.eke)]
    assert codes == [WRONG[text], OTHER_CODES.get(text, WRONG[text])]


def test_a_connection_is_reset_as_a_pool_resets_it(both: Both) -> None:
    async def run(client: Any) -> Any:
        await client.execute("SET application_name = 'x'")
        await client.reset()
        return await client.fetchval("SHOW application_name")

    both.seen(lambda place: with_client(place, run))


def test_a_question_is_free_the_second_time(both: Both) -> None:
    async def run(client: Any) -> Any:
        said: list[str] = []
        client.add_log_listener(lambda _, told: said.append(told.message))
        first = plain(await client.fetch(BY_SEX))
        again = plain(await client.fetch(BY_SEX))
        return first == again, said

    same, said = with_client(both.eke, run)
    assert same
    assert sum(text.startswith("Free") for text in said) >= 1
