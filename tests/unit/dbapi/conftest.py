"""A connection to a small dataset."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import eke.dbapi
from tests.command_line import write_people


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dbapi")
    table, domain = write_people(folder)
    eke.create(folder / "people.eke", table, domain, epsilon=5.0)
    return folder / "people.eke"


@pytest.fixture(scope="module")
def connection(path: Path) -> Iterator[eke.dbapi.Connection]:
    with eke.dbapi.connect(path, within=60, analyst="ana") as opened:
        yield opened
