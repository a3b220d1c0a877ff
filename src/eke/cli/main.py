"""The entry of the command line: light commands are answered at once (`quick.py`).

All others, and whatever is unusual about these, go to the program (`program.py`).
"""

from __future__ import annotations

import os
import sys

from eke.cli.quick import answered


def main() -> None:
    """Run the command line."""
    try:
        done = answered(sys.argv[1:])
    except BrokenPipeError:  # the reader has seen enough; nothing is left to be flushed to it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    if not done:
        from eke.cli.program import app  # noqa: PLC0415 - Typer, Pydantic and all commands

        app()
