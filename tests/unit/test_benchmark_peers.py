"""Peers of benchmarks/synthetic.py: how their interpreters are asked, by a script instead."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import peers
from benchmarks.peers import Peer

SCRIPT = """
import json, os, signal, sys
if sys.argv[1] == "--list":
    print(json.dumps(["copies", "is too slow", "fails"]))
elif sys.argv[1] == "copies":
    import numpy
    asked = numpy.load(sys.argv[2])
    assert float(asked["epsilon"]) == 0.5 and "PYTHONPATH" not in os.environ
    numpy.savez(sys.argv[3], codes=asked["codes"], seconds=int(asked["seed"]))
elif sys.argv[1] == "is too slow":
    os.kill(os.getpid(), signal.SIGXCPU)
else:
    sys.exit("no such mechanism")
"""
CODES = np.array([[0, 1], [1, 0], [1, 1]])


def rows(peer: Peer) -> tuple[np.ndarray, float] | None:
    return peer.rows((2, 2), CODES, (0.5, 1e-9), seed=7, most=60)


def test_peers_are_asked_in_their_own_interpreter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    monkeypatch.setattr(peers, "SCRIPT", script)
    copies, slow, failing = peers.peers([Path(sys.executable)])
    made = rows(copies)
    assert made is not None
    assert made[0].tolist() == CODES.tolist()
    assert made[1] == 7.0
    assert rows(slow) is None
    with pytest.raises(RuntimeError, match="fails: no such mechanism"):
        rows(failing)


def test_an_interpreter_that_cannot_be_asked_is_named(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho no numpy here >&2\nexit 1\n")
    python.chmod(0o755)
    with pytest.raises(RuntimeError, match="no numpy here"):
        peers.peers([python])
