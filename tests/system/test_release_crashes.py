"""Processes that die while they release an answer; see `release_driver.py`.

After each death: the ledger verifies, nothing was committed without a charge, the loss is that of
the last charge, whatever was released is stored, and a retry with the same key gives exactly one
answer and charges once.
"""

from __future__ import annotations

import pytest

from eke.ledger.failpoint import FAILPOINTS


def test_killed_at_random_instants(drive_releases):
    """N = 30 kills; 1,000 in `make test-long` and in `make audit`."""
    figures = drive_releases("random_kills", 30)
    assert figures["problems"] == []
    assert figures["killed"] == 30
    before, between = figures["found"]["nothing"], figures["found"]["reserved"]
    assert min(before, between) >= 1, "the kills fell into both halves of a release"


def test_killed_at_every_failpoint(drive_releases):
    """Each failpoint of the ledger in the reservation, when the draw is stored, in the commit."""
    figures = drive_releases("failpoints", 3)
    assert figures["problems"] == []
    assert {place.partition("@")[0] for place in figures["died"]} == set(FAILPOINTS)
    found = figures["found"]
    for name in FAILPOINTS:
        if name.startswith("engine."):
            # What is found is decided by the one moment when COMMIT returns.
            state = "committed" if name == "engine.committed" else "reserved"
            assert found[f"{name}@1"] == state
        elif ".create." not in name:
            after = name == "ledger.after_commit"
            assert found[f"{name}@1"] == ("reserved" if after else "nothing")
            assert found[f"{name}@2"] == "reserved"
            # Draws are no requests: only two requests are recorded, and the child comes through.
            last = "committed" if after or name == "ledger.recorded" else "reserved"
            assert found[f"{name}@3"] == last


def test_a_choice_that_is_killed_is_charged_and_drawn_once(drive_releases):
    """Each failpoint, up to three times: in the reservation, the draw and the commit."""
    figures = drive_releases("choices", 3)
    assert figures["problems"] == []
    assert figures["died"] >= len([name for name in FAILPOINTS if ".create." not in name])


def test_broken_releases_would_be_caught(drive_releases):
    """Positive controls, N = 2 each: released before it is stored, drawn twice, charged too little.

    The second is a retry that does not look for what was drawn before; the third is that of the
    fresh accountant.
    """
    problems = drive_releases("controls", 2)["problems"]
    assert sum("without a record" in problem for problem in problems["careless"]) == 2
    assert sum("drawn twice" in problem for problem in problems["forgetful"]) == 2
    assert any("something else than the loss" in problem for problem in problems["uncharged"])


@pytest.mark.long
def test_killed_at_a_thousand_random_instants(drive_releases):
    """N = 1,000 kills."""
    figures = drive_releases("random_kills", 1000, most=3000)
    assert figures["problems"] == []
    assert figures["killed"] == 1000
