"""Many processes on one ledger, and processes that die on it, on every back end.

See `ledger_driver.py`.

The folder is in memory where possible: what `kill -9` and races can do does not depend on the
disk, and syncing thousands of times to a real one would only take time.
"""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.postgresql_server import Server
from tests.system.driving import drive_ledger


@pytest.fixture(params=["sqlite", "postgresql"])
def drive(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[..., dict]]:
    """The figures of a scenario, on a back end."""
    with ExitStack() as stack:
        if request.param == "postgresql":
            server: Server = request.getfixturevalue("postgresql")
            place = server.address(f"t_{secrets.token_hex(8)}")
        else:
            disk = Path("/dev/shm") if Path("/dev/shm").is_dir() else tmp_path
            place = stack.enter_context(tempfile.TemporaryDirectory(dir=disk))

        def run(scenario: str, number: int, most: int = 300) -> dict:
            return drive_ledger(place, scenario, number, most)

        run.claims_file = request.param == "sqlite"  # type: ignore[attr-defined]
        yield run


def check_race(figures: dict) -> None:
    assert figures["problems"] == []
    assert figures["spent"] <= figures["limit"]
    assert figures["spent"] == figures["log"] == figures["released"]
    assert figures["commits"] == figures["reserves"]
    assert figures["limit"] - figures["spent"] < 5, "the limit was the thing that stopped them"
    assert figures["refused"] > 0


def test_eight_processes_at_the_limit_never_overspend(drive):
    """N = 8 processes × 40 attempts of 1 to 5 units against a limit of 320."""
    check_race(drive("race", 40))


def test_reading_checking_and_writing_would_overspend(drive):
    """The positive control of the race: N = 8 × 100 attempts of 1 unit against a limit of 266."""
    figures = drive("naive_race", 100)
    assert figures["released"] > figures["limit"]


def test_one_key_asked_by_all_at_once_is_charged_and_answered_once(drive):
    """N = 8 processes × 10 keys, each key asked by every process."""
    figures = drive("same_key", 10)
    assert figures == {
        "answers": 1,
        "distinct": 10,
        "spent": figures["limit"],
        "limit": 30,
        "problems": [],
    }


def test_killed_at_random_instants(drive):
    """N = 30 kills: nothing released without a record, every retry completes exactly once."""
    figures = drive("random_kills", 30)
    assert figures["problems"] == []
    assert figures["killed"] == 30
    before, between = figures["found"]["nothing"], figures["found"]["reserved"]
    assert min(before, between) >= 1, "the kills fell into both halves of a release"


def test_killed_at_every_failpoint(drive):
    figures = drive("failpoints", 2)
    assert figures["problems"] == []
    per_transaction = [name for name in figures["names"] if ".create." not in name]
    # A server has no file to claim before its transaction begins.
    creating = {"ledger.create.written", *(["ledger.create.claimed"] if drive.claims_file else [])}
    twice = {f"{name}@{number}" for name in per_transaction for number in (1, 2)}
    assert set(figures["died"]) == creating | twice, "each failpoint was reached"
    # What is found is decided by the one moment when COMMIT returns.
    for name in per_transaction:
        after = name == "ledger.after_commit"
        assert figures["found"][f"{name}@1"] == ("reserved" if after else "nothing")
        assert figures["found"][f"{name}@2"] == ("committed" if after else "reserved")


def test_releasing_before_the_commit_would_be_caught(drive):
    """The positive control of the crash tests."""
    problems = drive("careless", 3)["problems"]
    assert sum("without a record" in problem for problem in problems) == 3


@pytest.mark.long
def test_sixty_four_processes_at_the_limit_never_overspend(drive):
    """N = 64 processes × 200 attempts."""
    check_race(drive("race64", 200, most=3000))


@pytest.mark.long
def test_killed_at_a_thousand_random_instants(drive):
    """N = 1,000 kills."""
    figures = drive("random_kills", 1000, most=3000)
    assert figures["problems"] == []
    assert figures["killed"] == 1000
