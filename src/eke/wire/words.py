"""Words: a text of SQL in its smallest pieces, so that statements can be told apart.

Only as much as that needs: what is within quotes and comments, where a statement ends, which
parameters it has. What a statement means is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from eke.wire.report import Trouble

MOST_LETTERS = 65_536
MOST_PARAMETERS = 1_000
WordKind: TypeAlias = Literal["space", "name", "quoted", "string", "number", "parameter", "mark"]
_READS = frozenset({"select", "with", "values", "(", "table"})
_PIECE = re.compile(
    r"""
    (?P<space> \s+ | --[^\n]* )
  | (?P<string> [eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*'
              | \$(?P<tag>[A-Za-z_]\w*)\$.*?\$(?P=tag)\$ | \$\$.*?\$\$ )
  | (?P<quoted> "(?:[^"]|"")+" )
  | (?P<parameter> \$[0-9]{1,5} )
  | (?P<number> (?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)? )
  | (?P<name> [^\W0-9]\w* )
  | (?P<mark> ::|<=|>=|<>|!=|[^\w\s'"$] )
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Word:
    """A piece of a text with its place."""

    kind: WordKind
    text: str
    start: int

    @property
    def lower(self) -> str:
        """The word as keywords and names are compared; in quotes, as it is."""
        if self.kind == "quoted":
            return self.text[1:-1].replace('""', '"')
        return self.text.lower()

    @property
    def value(self) -> str:
        """What a string or a name stands for."""
        if self.kind == "string" and self.text.startswith("'"):
            return self.text[1:-1].replace("''", "'")
        return self.lower if self.kind == "quoted" else self.text


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a text: its own text and its words, without spaces and comments."""

    text: str
    words: tuple[Word, ...]

    @property
    def reads(self) -> bool:
        """Whether rows come of it: a SELECT, however it begins."""
        return bool(self.words) and self.words[0].lower in _READS

    def begins(self, *names: str) -> bool:
        """Whether these are its first words."""
        return [word.lower for word in self.words[: len(names)]] == list(names)

    def after(self, count: int) -> str:
        """The text behind the first words."""
        return self.text[self.words[count].start :] if len(self.words) > count else ""


def words_of(sql: str) -> list[Word]:
    """All pieces of a text."""
    words: list[Word] = []
    place = 0
    while place < len(sql):
        if sql.startswith("/*", place):
            end = _comment_end(sql, place)
            words.append(Word("space", sql[place:end], place))
            place = end
            continue
        piece = _PIECE.match(sql, place)
        if piece is None:
            raise Trouble("42601", "a quoted text has no end, or a character has no meaning here")
        words.append(Word(piece.lastgroup, piece[0], place))  # type: ignore[arg-type]
        place = piece.end()
    return words


def statements(sql: str) -> list[Statement]:
    """The statements of a text, those that are empty left out."""
    every: list[Statement] = []
    words = words_of(sql)
    start = 0
    part: list[Word] = []
    for word in [*words, Word("mark", ";", len(sql))]:
        if word.text == ";" and word.kind == "mark":
            if part:
                text = sql[start : word.start]
                moved = tuple(Word(one.kind, one.text, one.start - start) for one in part)
                every.append(Statement(text, moved))
            part, start = [], word.start + 1
        elif word.kind != "space":
            part.append(word)
    return every


def parameters_in(words: Sequence[Word]) -> int:
    """The largest number of a parameter."""
    most = max((int(word.text[1:]) for word in words if word.kind == "parameter"), default=0)
    if most > MOST_PARAMETERS:
        raise Trouble("54000", f"a statement has at most {MOST_PARAMETERS:,} parameters")
    return most


def filled(statement: Statement, values: Sequence[str]) -> str:
    """The text of a statement with values for its parameters."""
    parts: list[str] = []
    place = size = 0
    for word in statement.words:
        if word.kind == "parameter":
            number = int(word.text[1:])
            if not 1 <= number <= len(values):
                raise Trouble("42P02", f"there is no value for the parameter {word.text}")
            parts += [statement.text[place : word.start], f" {values[number - 1]} "]
            place = word.start + len(word.text)
            size += len(values[number - 1])
            if size > MOST_LETTERS:
                raise Trouble("54000", f"with its values a statement has {MOST_LETTERS:,} letters")
    return "".join([*parts, statement.text[place:]])


def _comment_end(sql: str, place: int) -> int:
    depth = 0
    for mark in re.compile(r"/\*|\*/").finditer(sql, place):
        depth += 1 if mark[0] == "/*" else -1
        if not depth:
            return mark.end()
    raise Trouble("42601", "a comment has no end")
