"""Places and sentences: every refusal says where in the text it happened and what to write."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from sqlglot import exp

from eke.errors import SqlError

_MOST_CANDIDATES = 500
_SHOWN = 6
_LONGEST_ECHO = 40


@dataclass(frozen=True, slots=True)
class SqlText:
    """The text of a statement, and the errors that point into it."""

    characters: str

    def error(self, at: int | exp.Expr, message: str) -> SqlError:
        """The error with this message at an offset, or at the first place a node is seen."""
        offset = at if isinstance(at, int) else offset_of(at)
        before = self.characters[:offset]
        line = before.count("\n") + 1
        return SqlError(message, line, offset - (before.rfind("\n") + 1) + 1)


def offset_of(node: exp.Expr) -> int:
    """Where a node, or what is nearest to it in the tree, begins in the text."""
    around: exp.Expr | None = node
    while around is not None:
        # The tree keeps places of names, literals and functions only, so the first of them counts.
        starts = [one.meta["start"] for one in around.walk() if "start" in one.meta]
        if starts:
            return int(min(starts))
        around = around.parent
    return 0


def echo(text: str) -> str:
    """A piece of the asker's text, short enough to be quoted in a sentence."""
    return _cut(" ".join(text.split()))


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_ECHO else f"{text[:_LONGEST_ECHO]}…"


def listing(values: Iterable[object]) -> str:
    """Some values, named one by one, and how many more there are."""
    known = list(values)
    more = len(known) - _SHOWN
    shown = ", ".join(repr(_cut(v)) if isinstance(v, str) else str(v) for v in known[:_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def suggestion(wanted: str, known: Iterable[str]) -> str:
    """A question "did you mean …?" with the nearest known names, or a list of what there is."""
    names = list(known)
    alike = [name for name in names if name.casefold() == wanted.casefold()]
    near = alike or difflib.get_close_matches(
        wanted[:60], list(islice(names, _MOST_CANDIDATES)), n=2, cutoff=0.6
    )
    if near:
        return f"did you mean {' or '.join(repr(name) for name in near[:2])}?"
    return f"there is {listing(names)}"


def strange_letters(name: str) -> str:
    """A remark about letters that only look like those of the Latin alphabet; often empty."""
    names = [unicodedata.name(letter, "a letter without a name") for letter in name]
    foreign = [n for n, letter in zip(names, name, strict=True) if not letter.isascii()]
    return f" (it contains {foreign[0]})" if foreign else ""


def number_of_rows(spelled: str, most: int) -> int | None:
    """The whole number that a text spells; None if it is another text, or beyond the most.

    Python refuses to read thousands of digits, zeros at the front included.
    """
    digits = spelled.lstrip("0") or spelled[:1]
    if not (spelled.isdecimal() and spelled.isascii()) or len(digits) > len(str(most)):
        return None
    number = int(digits)
    return number if number <= most else None
