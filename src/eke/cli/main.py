"""The entry of the command line: light commands are answered at once (`quick.py`).

All others, and whatever is unusual about these, go to the program (`program.py`).
"""

from __future__ import annotations

import gc
import os
import sys

from eke.cli.quick import answered

_NEW_OBJECTS = 200_000
# Commands that multiply many small matrices: threads of BLAS would mostly wait for each other.
_SMALL_MATRICES = (["ask"], ["preview"], ["explain"])


def main() -> None:
    """Run the command line."""
    try:
        done = answered(sys.argv[1:])
    except BrokenPipeError:  # the reader has seen enough; nothing is left to be flushed to it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    if not done:
        if sys.argv[1:2] != ["serve"]:  # a server lives long enough to make garbage
            # A history is read into many small lists, none of them garbage. Looking for some among
            # them, as often as Python does it by itself, takes a sixth of a command's time.
            gc.set_threshold(_NEW_OBJECTS)
        if sys.argv[1:2] in _SMALL_MATRICES:
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        from eke.cli.program import app  # noqa: PLC0415 - Typer, Pydantic and all commands

        app()
