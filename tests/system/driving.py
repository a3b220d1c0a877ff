"""Scenarios of the drivers in this folder, run in interpreters of their own."""

from __future__ import annotations

import json
import logging
import os
import resource
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
LEDGER_ONLY = HERE.parent / "ledger_only.py"


def drive_ledger(place: str, scenario: str, number: int, most: int = 300) -> dict[str, Any]:
    """The figures of a scenario of `ledger_driver.py`; the interpreter loads the ledger alone."""
    driver = HERE / "ledger_driver.py"
    return _driven([str(LEDGER_ONLY), str(driver)], place, scenario, number, most)


def drive_releases(place: str, scenario: str, number: int, most: int = 600) -> dict[str, Any]:
    """The figures of a scenario of `release_driver.py`, or of `race_driver.py`."""
    racing = scenario.startswith(("race", "same_key", "two_servers"))
    driver = HERE / ("race_driver.py" if racing else "release_driver.py")
    return _driven([str(driver)], place, scenario, number, most)


def drive_disk(place: str, scenario: str, passes: int, most: int = 600) -> dict[str, Any]:
    """The figures of a scenario of `disk_driver.py`."""
    return _driven([str(HERE / "disk_driver.py")], place, scenario, passes, most)


def _driven(script: list[str], place: str, scenario: str, number: int, most: int) -> dict[str, Any]:
    """The figures; no process may work longer than so many seconds of its own.

    How long it has to wait for a processor meanwhile is not looked at.
    """
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("EKE_FAILPOINT", None)
    # A process with threads is a poor place to fork.
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    result = subprocess.run(
        [sys.executable, *script, scenario, place, str(number)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_CPU, (most, most)),
    )
    assert result.returncode == 0, result.stderr
    figures: dict[str, Any] = json.loads(result.stdout)
    logging.getLogger("eke.figures").info("%s %d: %s", scenario, number, figures)
    return figures
