"""Drivers in interpreters of their own, on the fastest disk there is.

What `kill -9` and races can do does not depend on the disk, and syncing thousands of times to a
real one would only take time. Figures are logged: `--log-cli-level=INFO` prints them.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.postgresql_server import Server
from tests.system import driving


@pytest.fixture(scope="session")
def loaded() -> Iterator[driving.Loaded]:
    """Drivers in an interpreter that forks for each scenario."""
    with driving.loaded() as started:
        yield started


@pytest.fixture
def drive_releases(loaded: driving.Loaded, tmp_path: Path) -> Iterator[Callable[..., dict]]:
    """The figures of a scenario of `release_driver.py`, on SQLite."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as folder:
        yield partial(loaded.releases, folder)


@pytest.fixture
def drive_shared(loaded: driving.Loaded, postgresql: Server) -> Callable[..., dict]:
    """The figures of a scenario of `release_driver.py`, on PostgreSQL."""
    return partial(loaded.releases, postgresql.address(f"t_{secrets.token_hex(8)}"))
