"""Forked children; the cases are in `fork_driver.py`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

DRIVER = Path(__file__).with_name("fork_driver.py")
LEDGER_ONLY = Path(__file__).parents[2] / "ledger_only.py"


def test_a_child_never_ends_its_parents_transaction(folder):
    """Parent and child share a ledger between transactions; within one, the child gets errors.

    The positive control leaves the parent's connection unprotected: then the end of the child
    truncates the journal under the parent, whose check fails.
    """
    result = subprocess.run(
        [sys.executable, str(LEDGER_ONLY), str(DRIVER), str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    codes = json.loads(result.stdout)
    failed = codes.pop("unprotected")
    assert codes == {"between": 0, "exit": 0, "normal": 0}, result.stderr
    assert failed == 6
    assert "the child removed the parent's journal" in result.stderr
