"""Going on: what is paid for has a key, so that a command that ends early can be finished.

A server goes on when the connection breaks or somebody presses Ctrl-C, and on this machine what was
charged is kept; the same command with the same key gets the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from eke.cli.screen import errors
from eke.errors import BudgetExceeded, EkeError, ReleaseFailed, Unanswered
from eke.session.single_use import single_use

if TYPE_CHECKING:
    from eke.session import Dataset

_NANO = 10**9


@contextmanager
def going_on(key: str | None, place: Dataset | None = None) -> Iterator[str]:
    """The key of a request; within it, no answer becomes the advice to ask again.

    With a dataset on this machine, the advice says what is charged; it is also given when something
    fails after the charge.
    """
    used_key = key or single_use()
    try:
        yield used_key
    except (ReleaseFailed, BudgetExceeded):  # final, or it says itself what was spent
        raise
    except (Exception, KeyboardInterrupt) as problem:
        charged = _charged(place, used_key)
        stopped = isinstance(problem, (Unanswered, KeyboardInterrupt))
        if not stopped and not charged:
            raise
        reason = "interrupted" if isinstance(problem, KeyboardInterrupt) else _sentence(problem)
        raise Unanswered(f"{reason}. {_advice(charged, used_key)}") from None


def _charged(place: Dataset | None, key: str) -> str | None:
    """What was charged under a key and its steps; empty for nothing, None if it is not known."""
    entries = getattr(place, "ledger_entries", None)
    if place is None or entries is None:
        return None
    costs = [
        int(str(entry.payload["cost"]))
        for entry in entries()
        if entry.kind == "reserve" and _is_part(str(entry.about["key"]), key)
    ]
    return f"{place.budget.measure} {sum(costs) / _NANO:.6g}" if costs else ""


def _is_part(key: str, whole: str) -> bool:
    return key == whole or key.startswith(f"{whole}/")


def _advice(charged: str | None, key: str) -> str:
    if charged == "":
        return f"Nothing was charged; run the same command again, with --key {key} if you like"
    begun = "What was begun may be charged" if charged is None else f"Charged so far: {charged}"
    return (
        f"{begun}: run the same command with --key {key} to get it; what is charged already is not "
        "charged again"
    )


def _sentence(problem: BaseException) -> str:
    """What an error says; of others than eke's own, only their kind: they may quote anything."""
    if isinstance(problem, EkeError):
        return str(problem).rstrip(".")
    return f"it failed ({type(problem).__name__})"


def tell_key(key: str) -> None:
    """Say with which key a command that takes long can be finished."""
    screen = errors()
    screen.print(f"[dim]If this ends early, the same command with --key {key} goes on.[/]")
