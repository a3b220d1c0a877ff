"""Going on: what is paid for has a key, so that a command that ends early can be finished.

A server goes on when the connection breaks or somebody presses Ctrl-C, and on this machine what was
charged is kept; the same command with the same key gets the result.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from eke.cli.screen import errors
from eke.errors import Unanswered


@contextmanager
def going_on(key: str | None) -> Iterator[str]:
    """The key of a request; within it, no answer becomes the advice to ask again."""
    own = key or f"once-{secrets.token_hex(8)}"
    try:
        yield own
    except (Unanswered, KeyboardInterrupt) as problem:
        reason = "interrupted" if isinstance(problem, KeyboardInterrupt) else str(problem)
        raise Unanswered(
            f"{reason}. What was begun may be charged: run the same command with --key {own} to "
            "get it; what is charged already is not charged again"
        ) from None


def tell_key(key: str) -> None:
    """Say with which key a command that takes long can be finished."""
    screen = errors()
    screen.print(f"[dim]If this ends early, the same command with --key {key} goes on.[/]")
