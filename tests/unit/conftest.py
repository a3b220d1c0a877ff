"""One sealed engine for the tables in memory of all tests here: a start takes longer than they do.

Each table has a connection of its own, as it has an engine of its own elsewhere, and connections do
not see each other's tables. Engines that may read files, and those of tests elsewhere, are started
as they are for users.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import duckdb
import pytest

from eke.data import sealed

_start = sealed._locked_connection


@cache
def _started() -> duckdb.DuckDBPyConnection:
    return _start(())


def _connected(allowed_paths: Sequence[str]) -> duckdb.DuckDBPyConnection:
    """A connection to the common engine, or an engine that may read these files."""
    return _start(allowed_paths) if allowed_paths else _started().cursor()


@pytest.fixture(scope="module", autouse=True)
def engines() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sealed, "_locked_connection", _connected)
        yield
