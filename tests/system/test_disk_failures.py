"""A full, broken, read-only or locked disk at each write of a release; see `disk_driver.py`."""

from __future__ import annotations

import secrets
from pathlib import Path

import pytest

from tests.parts import in_long
from tests.postgresql_server import Server

MOST_WRITES = 60


@pytest.fixture(params=["sqlite", in_long("postgresql")])
def place(request: pytest.FixtureRequest, folder: Path) -> str:
    if request.param == "sqlite":
        return str(folder)
    server: Server = request.getfixturevalue("postgresql")
    return server.address(f"t_{secrets.token_hex(8)}")


def test_a_failing_disk_never_lets_anything_out_unrecorded(loaded, place):
    """Four kinds of failure at every write, and after every COMMIT."""
    figures = loaded.disk(place, "failures", MOST_WRITES)
    assert figures["problems"] == []
    assert set(figures["injected"]) == {
        f"{kind}{late}"
        for kind in ("ENOSPC", "EIO", "read-only", "locked")
        for late in ("", " after COMMIT")
    }
    assert min(figures["injected"].values()) >= 2, "one COMMIT to charge, and one to answer"


def test_ignoring_a_failed_write_is_caught(loaded, place):
    """Positive control."""
    problems = loaded.disk(place, "swallowed", MOST_WRITES)["problems"]
    assert any("without a record" in problem for problem in problems)
