"""Light commands, answered without Typer and without a session: help, budget, history, schema.

A small parser knows the plain forms of these commands. Anything else is left to the program, which
then says what is wrong: unknown options, help of one command, servers, addresses, missing files,
ledgers that are not intact, analysts with a cap. So both print the same, and only one can fail.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eke.errors import EkeError


@dataclass(frozen=True, slots=True)
class Words:
    """A light command as it was typed."""

    command: str
    path: Path
    last: int | None = None
    as_json: bool = False


def answered(words: Sequence[str]) -> bool:
    """True when these words were a light command, and what it prints was printed."""
    if "_EKE_COMPLETE" in os.environ:  # a shell asks for completions
        return False
    if list(words) in (["--help"], ["-h"]):
        from eke.cli.help_picture import show_help  # noqa: PLC0415 - each loads its own only

        show_help()
        return True
    typed = None if os.environ.get("EKE_SERVER") else read_words(words)
    if typed is None:
        return False
    return _SHOWN[typed.command](typed)


def read_words(words: Sequence[str]) -> Words | None:
    """The words of a light command in one of its plain forms, else None."""
    if not words or words[0] not in _SHOWN:
        return None
    paths: list[str] = []
    last, as_json = None, False
    rest = iter(words[1:])
    for word in rest:
        if word == "--json":
            as_json = True
        elif word in ("-n", "--last") and words[0] == "history":
            number = next(rest, "")
            if not number.isascii() or not number.isdecimal() or int(number) < 1:
                return None
            last = int(number)
        elif word.startswith("-"):
            return None
        else:
            paths.append(word)
    if len(paths) != 1 or "://" in paths[0] or not paths[0]:
        return None
    return Words(words[0], Path(paths[0]), last, as_json)


def _show_budget(typed: Words) -> bool:
    from eke.session.glance import glance  # noqa: PLC0415
    from eke.session.settings import user_name  # noqa: PLC0415

    try:
        seen = glance(typed.path)
        caps, found = seen.caps, seen.budget
    except (EkeError, OSError, LookupError):
        return False
    if caps and user_name() in caps:
        return False
    from eke.cli.budget_picture import present_budget  # noqa: PLC0415

    present_budget(found, found.remaining, None, as_json=typed.as_json)
    return True


def _show_history(typed: Words) -> bool:
    from eke.session.glance import glance  # noqa: PLC0415
    from eke.session.records import records  # noqa: PLC0415

    try:
        shown, earlier = records(glance(typed.path), typed.last)
    # Documents that only the program can read, or can say what is wrong with.
    except (EkeError, OSError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        return False
    from eke.cli.history_picture import present_history  # noqa: PLC0415

    present_history(shown, earlier, as_json=typed.as_json)
    return True


def _show_schema(typed: Words) -> bool:
    from eke.session.glance import glance  # noqa: PLC0415
    from eke.session.settings import domain_of  # noqa: PLC0415

    try:
        domain = domain_of(glance(typed.path).settings)
    except (EkeError, OSError, LookupError, TypeError, ValueError):
        return False
    from eke.cli.schema_picture import present_schema  # noqa: PLC0415

    present_schema(domain, as_json=typed.as_json)
    return True


_SHOWN = {"budget": _show_budget, "history": _show_history, "schema": _show_schema}
