"""Drivers in interpreters of their own, on the fastest disk there is.

What `kill -9` and races can do does not depend on the disk, and syncing thousands of times to a
real one would only take time. Figures are logged: `--log-cli-level=INFO` prints them.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.postgresql_server import Server

DRIVER = Path(__file__).with_name("release_driver.py")


@pytest.fixture
def drive_releases(tmp_path: Path) -> Iterator[Callable[..., dict]]:
    """The figures of a scenario of `release_driver.py`, on SQLite."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else tmp_path) as folder:
        yield partial(_run, folder)


@pytest.fixture
def drive_shared(postgresql: Server) -> Callable[..., dict]:
    """The figures of a scenario of `release_driver.py`, on PostgreSQL."""
    return partial(_run, postgresql.address(f"t_{secrets.token_hex(8)}"))


def _run(place: str, scenario: str, number: int, timeout: float = 600) -> dict:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("EKE_FAILPOINT", None)
    # A process with threads is a poor place to fork.
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, str(DRIVER), scenario, place, str(number)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
    )
    assert result.returncode == 0, result.stderr
    figures: dict = json.loads(result.stdout)
    logging.getLogger("eke.figures").info("%s %d: %s", scenario, number, figures)
    return figures
