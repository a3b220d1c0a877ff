"""Scenarios of the drivers in this folder, run in interpreters of their own."""

from __future__ import annotations

import json
import logging
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
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
    driver = HERE / f"{_driver_of(scenario)}_driver.py"
    return _driven([str(driver)], place, scenario, number, most)


def _driver_of(scenario: str) -> str:
    return "race" if scenario.startswith(("race", "same_key", "two_servers")) else "release"


def drive_disk(place: str, scenario: str, passes: int, most: int = 600) -> dict[str, Any]:
    """The figures of a scenario of `disk_driver.py`."""
    return _driven([str(HERE / "disk_driver.py")], place, scenario, passes, most)


@dataclass(frozen=True)
class Loaded:
    """An interpreter that has loaded what drivers need, and forks for each scenario."""

    process: subprocess.Popen[str]

    def releases(self, place: str, scenario: str, number: int, most: int = 600) -> dict[str, Any]:
        """What `drive_releases` gives."""
        return self._driven(_driver_of(scenario), scenario, place, number, most)

    def disk(self, place: str, scenario: str, passes: int, most: int = 600) -> dict[str, Any]:
        """What `drive_disk` gives."""
        return self._driven("disk", scenario, place, passes, most)

    def _driven(self, *words: str | int) -> dict[str, Any]:
        sending, saying = self.process.stdin, self.process.stdout
        assert sending is not None
        assert saying is not None
        sending.write(json.dumps(words) + "\n")
        sending.flush()
        status, text = json.loads(saying.readline())
        assert status == 0, text
        figures: dict[str, Any] = json.loads(text)
        logging.getLogger("eke.figures").info("%s: %s", words, figures)
        return figures


@contextmanager
def loaded() -> Iterator[Loaded]:
    """The interpreter, for one block."""
    with subprocess.Popen(
        [sys.executable, str(HERE / "loaded_driver.py")],
        env=_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Loaded(process)
        assert process.stdin is not None
        process.stdin.close()


def _environment() -> dict[str, str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    environment.pop("EKE_FAILPOINT", None)
    # A process with threads is a poor place to fork.
    return environment | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def _driven(script: list[str], place: str, scenario: str, number: int, most: int) -> dict[str, Any]:
    """The figures; no process may work longer than so many seconds of its own.

    How long it has to wait for a processor meanwhile is not looked at.
    """
    result = subprocess.run(
        [sys.executable, *script, scenario, place, str(number)],
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_CPU, (most, most)),
    )
    assert result.returncode == 0, result.stderr
    figures: dict[str, Any] = json.loads(result.stdout)
    logging.getLogger("eke.figures").info("%s %d: %s", scenario, number, figures)
    return figures
