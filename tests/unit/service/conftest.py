from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service import Server, serving


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    with serving(folder) as made:
        yield made
