"""One sealed engine for the tables in memory of all tests here: a start takes longer than they do.

Each table has a connection of its own, as it has an engine of its own elsewhere, and connections do
not see each other's tables. Engines that may read files, and those of tests elsewhere, are started
as they are for users.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import duckdb
import pytest

from eke.data import sealed

_start = sealed._locked_connection


@pytest.fixture(scope="session")
def common_engine() -> Iterator[duckdb.DuckDBPyConnection]:
    with _start(()) as started:
        yield started


@pytest.fixture(scope="module", autouse=True)
def engines(common_engine: duckdb.DuckDBPyConnection) -> Iterator[None]:
    """A connection to the common engine, or an engine that may read some files."""

    def connected(allowed_paths: Sequence[str]) -> duckdb.DuckDBPyConnection:
        return _start(allowed_paths) if allowed_paths else common_engine.cursor()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sealed, "_locked_connection", connected)
        yield
