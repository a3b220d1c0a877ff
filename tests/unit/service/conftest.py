from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgresql_server import Server as PostgreSQL
from tests.service import Server, serving


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    with serving(folder) as made:
        yield made


@pytest.fixture
def address(postgresql: PostgreSQL) -> str:
    """The address of accounts that are still to be made, and that nobody else uses."""
    return postgresql.address(f"test_{secrets.token_hex(8)}")


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, folder: Path) -> str:
    """Where accounts and jobs can be kept: a test that asks for it runs on each."""
    if request.param == "sqlite":
        return str(folder / "access.db")
    address: str = request.getfixturevalue("address")
    return address
