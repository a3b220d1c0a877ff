"""A real PostgreSQL and eke, side by side, for every client."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.places import Both, real_people, served_people
from tests.postgresql_server import running_server


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """The same table in both, each in processes of its own."""
    with (
        running_server(listens=True) as server,
        real_people(server) as real,
        served_people(tmp_path_factory.mktemp("clients")) as ours,
    ):
        yield Both(real, ours)
