"""Many processes that spend one budget; see `race_driver.py`."""

from __future__ import annotations

import pytest

from tests.parts import in_long


def check_race(figures: dict) -> None:
    assert figures["errors"] == [], "nobody gets an error other than a refusal"
    assert figures["problems"] == [], "a fresh accountant, from the log alone, finds the same"
    assert figures["spent"] <= figures["limit"]
    assert figures["spent"] == figures["cost"], "the sum of what everybody was charged"
    assert figures["reserves"] == figures["commits"] == figures["released"]
    assert figures["refused"] > figures["released"] > 5
    assert figures["spent"] > 0.9 * figures["limit"], "the limit was the thing that stopped them"


@pytest.mark.parametrize("measure", ["epsilon", in_long("rho")])
def test_eight_processes_at_the_limit_never_overspend(drive_releases, measure):
    """N = 8 processes × 12 questions, of which about 20 fit into the limit."""
    check_race(drive_releases(f"race_{measure}", 12))


def test_one_key_asked_by_all_at_once_is_charged_and_answered_once(drive_releases):
    """N = 8 processes × 8 keys, each key asked by every process."""
    figures = drive_releases("same_key", 8)
    assert figures["problems"] == []
    assert figures["answers"] == 1, "all processes got the same eight answers"
    assert figures["keys"] == figures["requests"] == 8
    assert figures["reserves"] == figures["commits"]


@pytest.mark.long
@pytest.mark.parametrize("measure", ["epsilon", "rho"])
def test_long_races_never_overspend(drive_releases, measure):
    """N = 8 processes × 200 questions."""
    check_race(drive_releases(f"race_{measure}", 200, most=3000))
