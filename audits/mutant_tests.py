"""What mutmut's runs of pytest have besides: a plugin, copied to where they find it.

The quickest tests come first, and no more of them than fit in a few seconds: most mutants die at
once, and one that lives must not cost minutes. Hypothesis draws the same examples for every mutant
and does not shrink what fails, for nobody reads it.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import Phase, settings

STATS = Path("mutmut-stats.json")  # where mutmut has written how long each test takes
SECONDS = 10.0
"""Tests of one mutant beyond this, the slowest, are left out; it can only make survivors."""
PATIENCE = 60.0
"""Seconds of processor time after which a mutant is taken to hang, however busy the machine is."""
_HANGS = 36  # mutmut's code for it


def pytest_configure() -> None:
    """Give mutmut 3.8 a name of tests that pytest 9 has taken away."""
    if not hasattr(pytest.Item, "_nodeid"):
        name = property(lambda item: item.nodeid)
        pytest.Item._nodeid = name  # type: ignore[attr-defined]


def pytest_sessionstart() -> None:
    """Settings on top of those that the tests load."""
    settings.register_profile(
        "mutants",
        settings.default,
        phases=(Phase.explicit, Phase.generate),
        database=None,
        derandomize=True,
    )
    settings.load_profile("mutants")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """For a mutant quick tests first, and slow ones not at all."""
    if "__mutmut_" not in os.environ.get("MUTANT_UNDER_TEST", ""):
        return
    seconds: Mapping[str, float] = json.loads(STATS.read_text("utf-8"))["duration_by_test"]
    names = within({item.nodeid: seconds.get(item.nodeid, 0.0) for item in items}, SECONDS)
    by_name = {item.nodeid: item for item in items}
    items[:] = [by_name[name] for name in names]
    stop_after(PATIENCE)


def stop_after(seconds: float) -> None:
    """End this process, as one that hangs, once it has worked so long; waiting does not count."""
    signal.signal(signal.SIGPROF, lambda *_: os._exit(_HANGS))
    signal.setitimer(signal.ITIMER_PROF, seconds)


def within(seconds: Mapping[str, float], most: float) -> list[str]:
    """The quickest tests that take no longer together, and one at least."""
    found: list[str] = []
    total = 0.0
    for name in sorted(seconds, key=lambda one: seconds[one]):
        total += seconds[name]
        if found and total > most:
            break
        found.append(name)
    return found
