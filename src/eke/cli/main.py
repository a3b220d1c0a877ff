"""The entry of the command line: light commands are answered at once (`quick.py`).

All others, and whatever is unusual about these, go to the program (`program.py`).
"""

from __future__ import annotations

import errno
import gc
import os
import sys
from typing import NoReturn

from eke.cli.quick import answered

_NEW_OBJECTS = 200_000
# Commands that multiply many small matrices: threads of BLAS would mostly wait for each other.
_SMALL_MATRICES = (["ask"], ["preview"], ["explain"], ["serve"])
_OF_WRITING = {errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def main() -> None:
    """Run the command line."""
    try:
        _run()
    except OSError as problem:
        if problem.filename is not None or problem.errno not in _OF_WRITING:
            raise
        # What is left to be printed must not be tried again while Python ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        if problem.errno == errno.EPIPE:  # the reader has seen enough
            sys.exit(1)
        sys.exit(
            f"error: the output cannot be written: {problem.strerror}. What was answered is kept "
            "in the dataset; asking again is free"
        )


def _run() -> None:
    gc.disable()  # a light command makes no garbage, and ends before it could matter
    if answered(sys.argv[1:]):
        _leave()
    gc.enable()
    if sys.argv[1:2] != ["serve"]:  # a server lives long enough to make garbage
        # A history is read into many small lists, none of them garbage. Looking for some among
        # them, as often as Python does it by itself, takes a sixth of a command's time.
        gc.set_threshold(_NEW_OBJECTS)
    if sys.argv[1:2] in _SMALL_MATRICES:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from eke.cli.program import app  # noqa: PLC0415 - Typer, Pydantic and all commands

    app()


def _leave() -> NoReturn:
    """End at once: all is written, and Python would need long to take everything apart."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # it is when it was closed before the start
            stream.flush()
    os._exit(0)
