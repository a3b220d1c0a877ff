from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service import Server, serving


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder on the fastest disk there is."""
    memory = Path("/dev/shm")
    if not memory.is_dir():
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=memory) as name:
        yield Path(name)


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    with serving(folder) as made:
        yield made
