"""Several servers that share one limit in PostgreSQL; see `race_driver.py`.

A server is a process of its own with its own session; its clients are threads.
"""

from __future__ import annotations

import pytest


def check_pair(figures: dict) -> None:
    assert figures["failed"] == [], "nobody gets an error other than a refusal"
    assert figures["problems"] == []
    assert figures["open"] == 0
    assert figures["spent"] == figures["log"] <= figures["limit"]
    assert figures["refused"] > 0, "the limit was the thing that stopped them"
    assert figures["released"] > 5


def test_two_servers_at_the_limit_never_overspend(drive_shared):
    """N = 2 servers, 16 clients, two questions each, of which about 20 fit into the limit."""
    check_pair(drive_shared("two_servers", 16))


def test_a_server_killed_at_a_random_instant_leaves_no_key_without_its_one_answer(drive_shared):
    """N = 4 kills of one of two servers with two clients each."""
    figures = drive_shared("two_servers_killed", 4)
    assert figures["problems"] == []
    assert figures["failed"] == []
    assert figures["killed"] > 0


def test_releases_on_a_server_are_killed_at_every_failpoint(drive_shared):
    figures = drive_shared("failpoints", 1)
    assert figures["problems"] == []
    died = {place.partition("@")[0] for place in figures["died"]}
    assert died == set(figures["names"]) - {"ledger.create.claimed"}, "there is no file to claim"


def test_releasing_before_the_answer_is_stored_would_be_caught(drive_shared):
    """Positive control, N = 1 death."""
    problems = drive_shared("careless", 1)["problems"]
    assert sum("without a record" in problem for problem in problems) == 1


@pytest.mark.long
def test_two_servers_with_sixty_four_clients_never_overspend(drive_shared):
    """N = 2 servers, 64 clients, two questions each."""
    check_pair(drive_shared("two_servers", 64, most=3000))


@pytest.mark.long
def test_killed_at_two_hundred_random_instants(drive_shared):
    """N = 200 kills."""
    figures = drive_shared("two_servers_killed", 200, most=3000)
    assert figures["problems"] == []
    assert figures["failed"] == []
    assert figures["killed"] > 150
    assert figures["unfinished"] > 20, "many deaths fell between the charge and the answer"
