"""One door for the tests of a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.wire import Wire, open_door


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    folder: Path = tmp_path_factory.mktemp("wire")
    with open_door(folder, requests_per_minute=1_000_000, failures_per_minute=1_000_000) as opened:
        yield opened
