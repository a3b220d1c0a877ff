"""Draws in forked processes, in an interpreter of its own so that the forks themselves are clean.

`python forked_draws.py NUMBER` forks so many children by `os.fork` and runs as many tasks in pools
of multiprocessing; each draws three numbers after the parent's generator was used. NumPy's global
generator, whose state a fork copies, is the positive control.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import sys

import numpy as np

from eke.mechanism import draw
from eke.privacy.law import DiscreteLaplace

LAW = DiscreteLaplace(2**50, 0)
Draws = tuple[list[int], int]


def draws(_task: int = 0) -> Draws:
    """Three numbers of eke, whose noise is so wide that chance never repeats one, and NumPy's."""
    return draw(LAW, 3).tolist(), int(np.random.randint(0, 2**62))  # noqa: NPY002 - the control


def in_child() -> Draws:
    """What a forked child draws."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.write(writer, json.dumps(draws()).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as said:
        found: Draws = json.loads(said.read())
    os.waitpid(child, 0)
    return found


def main(number: int) -> None:
    """Print how many numbers were drawn, and how many of them more than once."""
    draws()
    found = [in_child() for _ in range(number)]
    # A new worker for every task: each begins with the state of the parent.
    with multiprocessing.get_context("fork").Pool(2, maxtasksperchild=1) as pool:
        found += pool.map(draws, range(number), chunksize=1)
    found.append(draws())
    drawn = [value for values, _ in found for value in values]
    copied = [value for _, value in found]
    figures = {
        "draws": len(drawn),
        "repeated": len(drawn) - len(set(drawn)),
        "numpy_repeated": len(copied) - len(set(copied)),
    }
    sys.stdout.write(json.dumps(figures))


if __name__ == "__main__":
    main(int(sys.argv[1]))
