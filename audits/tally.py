"""A plugin of pytest that writes down what became of each test: `-p audits.tally`.

A test is a control when the first line of its docstring says so ("Positive control"), or its name
(`test_the_check_catches_...`).
Figures that a test records (`record_property`) are kept, so that the scoreboard can show them.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

VARIABLE = "EKE_TALLY"
_controls: set[str] = set()
_found: list[dict[str, Any]] = []


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Remember which tests are controls."""
    for item in items:
        text = getattr(getattr(item, "function", None), "__doc__", None) or ""
        first = text.strip().partition("\n")[0].lower()
        if "positive control" in first or "the_check_catches" in item.name:
            _controls.add(item.nodeid)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember the end of each test, and every failure on the way there."""
    if report.when == "call" or report.outcome != "passed":
        _found.append(
            {
                "name": report.nodeid,
                "passed": report.outcome == "passed",
                "control": report.nodeid in _controls,
                "figures": dict(report.user_properties),
            }
        )


def pytest_sessionfinish() -> None:
    """Write all of it to the file that the environment names."""
    Path(os.environ[VARIABLE]).write_text(json.dumps(_found), "utf-8")
