"""Peers: rows of other people's packages, asked of the interpreters that have them installed.

`benchmarks/synthetic.py --peers` names these; `benchmarks/peer_rows.py` finds out what they have.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
SCRIPT = Path(__file__).with_name("peer_rows.py")
_ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
)
_ONE_THREAD["XLA_FLAGS"] = (
    "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"  # of JAX
)


@dataclass(frozen=True, slots=True)
class Peer:
    """A mechanism of a package that an interpreter has."""

    python: Path
    name: str

    def rows(
        self, sizes: Sequence[int], codes: Codes, budget: tuple[float, float], seed: int, most: int
    ) -> tuple[Codes, float] | None:
        """Rows for (ε, δ), and processor seconds; None if it was ended after the most seconds.

        Raises `RuntimeError` with the last line of what it said if it fails.
        """
        epsilon, delta = budget
        with tempfile.TemporaryDirectory() as folder:
            asked, made = Path(folder) / "asked.npz", Path(folder) / "made.npz"
            np.savez(asked, codes=codes, sizes=sizes, epsilon=epsilon, delta=delta, seed=seed)
            ended = _run(self.python, self.name, str(asked), str(made), "--seconds", str(most))
            if ended.returncode in {-signal.SIGXCPU, -signal.SIGKILL}:
                return None
            if ended.returncode:
                last = ended.stderr.strip().splitlines()[-1:] or ["it said nothing"]
                raise RuntimeError(f"{self.name}: {last[0]}")
            found = np.load(made)
            return found["codes"], float(found["seconds"])


def peers(pythons: Sequence[Path]) -> list[Peer]:
    """What these interpreters can run."""
    found = []
    for python in pythons:
        ended = _run(python, "--list")
        if ended.returncode:
            raise RuntimeError(f"{python} does not run {SCRIPT.name}: {ended.stderr.strip()}")
        found += [Peer(python, name) for name in json.loads(ended.stdout)]
    return found


def _run(python: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    surroundings = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}  # theirs is their own
    return subprocess.run(
        [str(python), str(SCRIPT), *arguments],
        env=surroundings | _ONE_THREAD,
        capture_output=True,
        text=True,
        check=False,
    )
