"""Light commands, without Typer and without a session: help, budget, history, schema, free answers.

A small parser knows the plain forms of these commands. Anything else is left to the program, which
then says what is wrong: unknown options, help of one command, servers, addresses, missing files,
ledgers that are not intact, analysts with a cap. So both print the same, and only one can fail, and
only one can spend: a question that history does not answer is left to the program as well.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eke.errors import EkeError


@dataclass(frozen=True, slots=True)
class Words:
    """A light command as it was typed."""

    command: str
    path: Path
    last: int | None = None
    as_json: bool = False
    as_csv: bool = False
    sql: str = ""
    within: float | None = None
    confidence: float | None = None


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
    asks = words[0] == "ask"
    plain: list[str] = []
    options: dict[str, Any] = {}
    rest = iter(words[1:])
    for word in rest:
        if word == "--json":
            options["as_json"] = True
        elif word == "--csv" and asks:
            options["as_csv"] = True
        elif word in ("-n", "--last") and words[0] == "history":
            number = next(rest, "")
            if not number.isascii() or not number.isdecimal() or int(number) < 1:
                return None
            options["last"] = int(number)
        elif word in _NUMBERS and asks and _NUMBERS[word] not in options:
            number = next(rest, "")
            if not _PLAIN_NUMBER.fullmatch(number):
                return None
            options[_NUMBERS[word]] = float(number)
        elif word.startswith("-"):
            return None
        else:
            plain.append(word)
    twice = "as_json" in options and "as_csv" in options
    if len(plain) != 1 + asks or "://" in plain[0] or not all(plain) or twice:
        return None
    return Words(words[0], Path(plain[0]), sql=plain[-1] if asks else "", **options)


def _show_budget(typed: Words) -> bool:
    from eke.session.glance import glance  # noqa: PLC0415
    from eke.session.settings import user_name  # noqa: PLC0415

    try:
        seen = glance(typed.path)
        caps, budget = seen.caps, seen.budget
    except (EkeError, OSError, LookupError):
        return False
    if caps and user_name() in caps:
        return False
    from eke.cli.budget_picture import present_budget  # noqa: PLC0415

    present_budget(budget, budget.remaining, None, as_json=typed.as_json)
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


def _show_answer(typed: Words) -> bool:
    # Many small matrices: threads of BLAS would mostly wait for each other.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from eke.session.ask.aim import Aim  # noqa: PLC0415
    from eke.session.free_answer import free_answer  # noqa: PLC0415

    try:
        answer = free_answer(typed.path, typed.sql, Aim(typed.within, typed.confidence))
    except (EkeError, OSError, LookupError, TypeError, ValueError, ArithmeticError, AttributeError):
        return False
    if answer is None:
        return False
    from eke.cli.answer_picture import present_answer  # noqa: PLC0415

    present_answer(answer, as_json=typed.as_json, as_csv=typed.as_csv)
    return True


_NUMBERS = {"-w": "within", "--within": "within", "-c": "confidence", "--confidence": "confidence"}
_PLAIN_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?")
_SHOWN = {
    "ask": _show_answer,
    "budget": _show_budget,
    "history": _show_history,
    "schema": _show_schema,
}
