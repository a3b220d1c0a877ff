"""A catalogue, and a real server with the same relations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from eke.catalogue import Catalogue
from tests.postgresql_server import Server
from tests.unit.catalogue.corpus import TABLES, make_catalogue


@pytest.fixture(scope="session")
def catalogue() -> Iterator[Catalogue]:
    made = make_catalogue()
    yield made
    made.close()


@pytest.fixture(scope="session")
def real(postgresql: Server) -> Iterator[psycopg.Connection[Any]]:
    """A connection as the user `ana` to a database `people` of the real server."""
    with psycopg.connect(postgresql.address(), autocommit=True) as owner:
        owner.execute("CREATE ROLE ana LOGIN")
        owner.execute("CREATE DATABASE people")
    address = postgresql.address().replace("/postgres?", "/people?")
    with psycopg.connect(address, autocommit=True) as owner:
        for text in TABLES:
            owner.execute(text.encode())
    with psycopg.connect(address.replace("eke@", "ana@"), autocommit=True) as connection:
        yield connection
    with psycopg.connect(postgresql.address(), autocommit=True) as owner:
        owner.execute("DROP DATABASE people")
        owner.execute("DROP ROLE ana")
