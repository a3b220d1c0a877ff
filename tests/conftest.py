"""Settings and servers shared by all tests."""

from __future__ import annotations

import gc
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.postgresql_server import Server, running_server

# Workers share the cores with each other and with the compiler, so wall-clock deadlines would only
# measure the load of the machine.
settings.register_profile("eke", deadline=None)
settings.load_profile("eke")

# Twelve thousand tests and the libraries they load are three quarters of a million objects that
# live to the end: looking for garbage among them takes longer than collecting the tests.
gc.disable()


def pytest_collection_finish() -> None:
    """From here on only what tests make is looked through."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    """Libraries look for what is left over when the interpreter ends."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A PostgreSQL server, started when the first test asks for it."""
    with running_server() as server:
        yield server


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder on the fastest disk there is."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as name:
        yield Path(name)
