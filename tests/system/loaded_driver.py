"""The drivers of releases, races and disks, loaded once: each scenario runs in a fork of this.

`python loaded_driver.py` reads lines of JSON (driver, scenario, place, number, and how many seconds
of its own the process may work) and prints for each its status, and figures or a traceback.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import traceback

# Drivers load the rest; these are loaded by the first dataset, which would be that of each fork.
import ibis.backends.sql.compilers  # noqa: F401
import sqlalchemy.dialects.sqlite  # noqa: F401

from tests.system import disk_driver, race_driver, release_driver

DRIVERS = {
    "release": release_driver.SCENARIOS,
    "race": race_driver.SCENARIOS,
    "disk": disk_driver.SCENARIOS,
}


def run(driver: str, scenario: str, place: str, number: int, most: int) -> tuple[int, str]:
    """The status of a fork that runs a scenario, and what it says."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most))
        status = 1
        with os.fdopen(writer, "w") as out:
            try:
                out.write(json.dumps(DRIVERS[driver][scenario](place, number)))
                status = 0
            except BaseException:  # noqa: BLE001 - whoever asked is told
                out.write(traceback.format_exc())
        os._exit(status)
    os.close(writer)
    with os.fdopen(reader) as said:
        text = said.read()
    return os.waitpid(child, 0)[1], text


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run(*json.loads(line))) + "\n")
        sys.stdout.flush()
