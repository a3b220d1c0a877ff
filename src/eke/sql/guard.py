"""Guard: what is looked at before any parser sees the text.

Length, number of tokens and nesting are capped by this small scanner, comments are blanked out,
and characters that no supported question needs are refused, so that hostile text is answered in
milliseconds. The text keeps its length: places in the cleaned text are places in the original.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from eke.sql.place import SqlText, echo

MOST_CHARACTERS = 20_000
MOST_TOKENS = 4_000
MOST_DEPTH = 24
"""sqlglot uses about 25 frames a level and Python allows 1000 by default."""

Kind = Literal["blank", "comment", "text", "name", "number", "word", "symbol"]

# Possessive quantifiers: an unclosed quotation mark must not be closed by giving a pair back.
_SCANNER = re.compile(
    r"""(?P<blank>[ \t\r\n]+)
      | (?P<comment>--[^\n]*|/\*(?:[^*]|\*(?!/))*+\*/)
      | (?P<text>'[^']*+(?:''[^']*+)*+')
      | (?P<name>"[^"]*+(?:""[^"]*+)*+")
      | (?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)
      | (?P<word>[^\W\d]\w*)
      | (?P<symbol><>|<=|>=|!=|::|\|\||/(?!\*)|[(),.*+\-<>=;%])""",
    re.VERBOSE,
)

_ADVICE = {
    "'": "a text is not closed; write a quotation mark inside a text twice: 'it''s'",
    '"': "a quoted name is not closed; close it with another double quote",
    "/": "a comment is not closed; close it with */",
    "?": "parameters are not filled in here; write the value itself",
    ":": "parameters (:name) are not filled in here; write the value itself",
    "$": "parameters and dollar quotes are not supported; write the value in single quotes",
    "^": "^ is not supported; write POWER(age, 2) for a square",
    "|": "| is not supported; write OR, and || to join texts",
    "`": 'names are quoted with double quotes: write "name"',
    "[": 'lists and [names] are not supported; use IN (…) for lists and "name" for names',
    "{": "{ is not supported; write plain SQL",
    "#": "comments start with -- or /*; remove the #",
    "\\": "a backslash means nothing outside of texts; remove it",
    "&": "& is not supported; write AND",
    "~": "~ is not supported; write LIKE or list the values with IN",
    "!": "write NOT, or <> for 'is not equal'",
    "@": "@ is not supported; write the plain column or value",
}


@dataclass(frozen=True, slots=True)
class SqlToken:
    """A piece of the text with its offset."""

    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    def says(self, *words: str) -> bool:
        """True when this is one of these keywords, in any case, or one of these symbols."""
        return self.kind in ("word", "symbol") and self.text.upper() in words


def scanned(text: SqlText) -> tuple[SqlToken, ...]:
    """The tokens of a text that is short, flat and free of surprises; else an error."""
    characters = text.characters
    if len(characters) > MOST_CHARACTERS:
        raise text.error(
            0,
            f"the text has {len(characters):,} characters; at most {MOST_CHARACTERS:,} are read, "
            "ask a shorter question",
        )
    tokens = []
    at = 0
    while at < len(characters):
        match = _SCANNER.match(characters, at)
        if match is None:
            raise text.error(at, _unreadable(characters[at]))
        kind: Kind = match.lastgroup  # type: ignore[assignment]
        if kind not in ("blank", "comment"):
            tokens.append(SqlToken(kind, match[0], at))
        _check_token(text, kind, match[0], at)
        at = match.end()
    if len(tokens) > MOST_TOKENS:
        raise text.error(
            tokens[MOST_TOKENS].start,
            f"the text has more than {MOST_TOKENS:,} words and signs; ask a shorter question",
        )
    if not tokens:
        raise text.error(0, "the text is empty; write SELECT COUNT(*) FROM …")
    _check_depth(text, tokens)
    return tuple(tokens)


DESCRIBING = ("DESCRIBE", "DESC", "SHOW")
"""Words with which a statement asks for the columns themselves."""


def asks_for_columns(statement: str) -> bool:
    """True for DESCRIBE people, SHOW COLUMNS FROM people, and the like: front ends answer these."""
    words = statement.replace(";", " ").upper().split()
    shown = words[:2] in (["SHOW", "COLUMNS"], ["SHOW", "TABLES"]) and len(words) <= 4
    return shown or (words[:1] in (["DESCRIBE"], ["DESC"]) and len(words) <= 2)


def single_statement(text: SqlText, tokens: tuple[SqlToken, ...]) -> tuple[SqlToken, ...]:
    """The tokens without semicolons at the end; a second statement is an error."""
    statement = list(tokens)
    while statement and statement[-1].says(";"):
        statement.pop()
    for token in statement:
        if token.says(";"):
            raise text.error(
                token.start, "one statement at a time; remove the semicolon and what follows it"
            )
    if not statement or not statement[0].says("SELECT", "WITH", "("):
        first = statement[0] if statement else tokens[0]
        columns = "; `eke schema` lists the columns" if first.says(*DESCRIBING) else ""
        raise text.error(
            first.start,
            f"{echo(first.text)!r} does not begin a question; "
            f"a question starts with SELECT or WITH, nothing else is carried out{columns}",
        )
    return tuple(statement)


def cleaned(text: SqlText, tokens: tuple[SqlToken, ...]) -> str:
    """The text with blanks wherever there is none of these tokens; places stay the same."""
    letters = ["\n" if letter == "\n" else " " for letter in text.characters]
    for token in tokens:
        letters[token.start : token.end] = token.text
    return "".join(letters)


def _unreadable(letter: str) -> str:
    if letter in _ADVICE:
        return _ADVICE[letter]
    shown = repr(letter) if letter.isprintable() else f"U+{ord(letter):04X}"
    return f"the character {shown} is not part of a question; remove it or put the name in quotes"


def _check_token(text: SqlText, kind: Kind, written: str, at: int) -> None:
    characters = text.characters
    if "\0" in written:
        raise text.error(at + written.index("\0"), "the text holds a NUL character; remove it")
    after = characters[at + len(written) : at + len(written) + 1]
    if kind == "comment" and written.startswith("/*") and "/*" in written[2:]:
        raise text.error(at, "comments within comments are not supported; remove the inner one")
    if kind == "number" and (after.isalnum() or after in ("_", ".")):
        raise text.error(
            at,
            f"{echo(written + after)!r} is neither a number nor a name; write numbers such as 1.5",
        )
    if kind == "word" and after == "'":
        raise text.error(
            at, f"texts with a prefix ({echo(written)}'…') are not supported; write a plain '…'"
        )
    # Some letters (the long s, for one) become plain in upper case: a parser may see a keyword.
    if kind == "word" and not written.isascii() and written.upper().isascii():
        raise text.error(at, f"{echo(written)!r} is written with letters that only look plain")


def _check_depth(text: SqlText, tokens: list[SqlToken]) -> None:
    """Raise where parentheses, CASE … END and signs before a value are nested too deeply."""
    opened: list[SqlToken] = []
    prefixes = 0
    for token in tokens:
        prefixes = prefixes + 1 if token.says("NOT", "-", "+") else 0
        if token.says("(", "CASE"):
            opened.append(token)
        elif token.says(")", "END") and opened:
            if token.says(")") != opened[-1].says("("):
                raise text.error(
                    token.start,
                    f"{token.text} does not match the {opened[-1].text} before it; "
                    "close parentheses with ) and CASE with END",
                )
            opened.pop()
        elif token.says(")"):
            raise text.error(token.start, ") without a ( before it; remove it")
        if len(opened) + prefixes > MOST_DEPTH:
            raise text.error(
                token.start,
                f"more than {MOST_DEPTH} levels of parentheses, CASE, NOT or signs; "
                "write the question flatter",
            )
    if opened:
        closing = ")" if opened[-1].says("(") else "END"
        raise text.error(
            opened[-1].start, f"{opened[-1].text} is not closed; add the missing {closing}"
        )
