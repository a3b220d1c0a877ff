r"""Patterns: regular expressions that never go back, so that none of them is slow.

What DuckDB's library understands and people write: letters, ., [a-z], [^a-z], \d \w \s, | and
( ), ^ $, and * + ? {m,n}. The expression becomes a machine of states (K. Thompson, Programming
Techniques: Regular expression search algorithm, CACM 11(6), 1968); a text is read once, letter by
letter, with the set of states it may be in. The work is at most states × letters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

MOST_STATES = 400
_MOST_TIMES = 100
_MOST_LEVELS = 20

Letters = Callable[[str], bool]


class BadPattern(Exception):
    """A regular expression that cannot be read, or is not supported."""


@dataclass(slots=True)
class MatchState:
    """One state: for a letter that fits on to `after`, or without any letter to all of `ways`."""

    letters: Letters | None = None
    anchor: str = ""  # "^" or "$": passed at an end of the text only
    after: int = -1
    ways: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """A machine that tells which texts fit."""

    states: tuple[MatchState, ...]
    start: int
    end: int
    whole: bool  # the whole text must fit, not a part of it
    any_case: bool

    @property
    def size(self) -> int:
        """The number of states."""
        return len(self.states)

    @staticmethod
    def read(text: str, *, whole: bool, any_case: bool = False) -> Pattern:
        """The machine of a regular expression; `BadPattern` if it is none, or too large."""
        reader = _Reader(text)
        start, end = reader.choice(0)
        if reader.at < len(text):
            raise BadPattern("the regular expression has a ) without a (")
        return Pattern(tuple(reader.states), start, end, whole, any_case)

    def matches(self, text: str) -> bool:
        """True when the text, or a part of it, fits."""
        now = self._reached({self.start}, 0, len(text))
        for place, letter in enumerate(text, 1):
            if self.end in now and not self.whole:
                return True
            forms = {letter, letter.lower(), letter.upper()} if self.any_case else {letter}
            after = {
                state.after
                for state in (self.states[one] for one in now)
                if state.letters is not None and any(state.letters(form) for form in forms)
            }
            if not self.whole:
                after.add(self.start)
            now = self._reached(after, place, len(text))
        return self.end in now

    def _reached(self, states: set[int], place: int, length: int) -> set[int]:
        """The states that are reached from some without reading a letter."""
        reached: set[int] = set()
        waiting = list(states)
        while waiting:
            number = waiting.pop()
            if number in reached:
                continue
            reached.add(number)
            state = self.states[number]
            at_end = {"^": place == 0, "$": place == length}.get(state.anchor, True)
            if at_end:
                waiting += state.ways
        return reached


class _Reader:
    """Reads an expression from left to right; every part is a pair of states, first and last."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.states: list[MatchState] = []

    def choice(self, level: int) -> tuple[int, int]:
        """Parts with | between them."""
        if level > _MOST_LEVELS:
            raise BadPattern(f"more than {_MOST_LEVELS} levels of parentheses")
        parts = [self._row(level)]
        while self._next("|"):
            parts.append(self._row(level))
        if len(parts) == 1:
            return parts[0]
        first, last = self._state(), self._state()
        for start, end in parts:
            self.states[first].ways.append(start)
            self.states[end].ways.append(last)
        return first, last

    def _row(self, level: int) -> tuple[int, int]:
        first = last = self._state()
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            begin = self.at
            start, end = self._atom(level)
            start, end = self._repeated(start, end, begin, level)
            self.states[last].ways.append(start)
            last = end
        return first, last

    def _repeated(self, start: int, end: int, begin: int, level: int) -> tuple[int, int]:
        """The part with *, +, ? or {m,n} behind it, if there is one."""
        sign = self.text[self.at : self.at + 1]
        if sign == "{":
            least, most = self._times()
        elif sign in ("*", "+", "?") and sign:
            self.at += 1
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        else:
            return start, end
        if self._next("?"):
            pass  # as few as possible: the same texts fit
        after = self.at
        if self.text[self.at : self.at + 1] in ("*", "+", "?", "{") and self.at < len(self.text):
            raise BadPattern("the regular expression repeats a repetition")

        def another() -> tuple[int, int]:
            self.at = begin
            return self._atom(level)

        copies = [(start, end), *(another() for _ in range(max(least, most or 1, 1) - 1))]
        self.at = after
        return self._chained(copies, least, endless=most is None)

    def _chained(
        self, copies: list[tuple[int, int]], least: int, *, endless: bool
    ) -> tuple[int, int]:
        first = last = self._state()
        done = self._state()
        for place, (start, end) in enumerate(copies):
            if place >= least:
                self.states[last].ways.append(done)
            self.states[last].ways.append(start)
            last = end
        if endless:
            self.states[last].ways.append(copies[-1][0])
        self.states[last].ways.append(done)
        return first, done

    def _times(self) -> tuple[int, int | None]:
        """{m}, {m,} or {m,n}."""
        closing = self.text.find("}", self.at)
        inner = self.text[self.at + 1 : closing] if closing >= 0 else ""
        least, comma, most = inner.partition(",")
        if not _is_short_number(least) or not (most == "" or _is_short_number(most)):
            raise BadPattern("a { in a regular expression begins {m}, {m,} or {m,n}")
        self.at = closing + 1
        low = int(least)
        high = int(most) if most else (None if comma else low)
        if max(low, high or 0) > _MOST_TIMES or (high is not None and high < max(low, 1)):
            raise BadPattern(f"a part is repeated 1 to {_MOST_TIMES} times at most")
        return low, high

    def _atom(self, level: int) -> tuple[int, int]:
        letter = self._taken()
        if letter == "(":
            if self.text[self.at : self.at + 1] == "?":
                if self.text[self.at : self.at + 2] != "?:":
                    raise BadPattern("groups with ( ? are not supported")
                self.at += 2
            pair = self.choice(level + 1)
            if not self._next(")"):
                raise BadPattern("the regular expression has a ( that is not closed")
            return pair
        if letter in "^$":
            first, last = self._state(), self._state()
            self.states[first].anchor = letter
            self.states[first].ways.append(last)
            return first, last
        if letter in "*+?{":
            raise BadPattern(f"the regular expression has nothing before {letter}")
        if letter == ".":
            return self._letter(_any_letter)
        if letter == "[":
            return self._letter(self._set())
        return self._letter(self._escaped() if letter == "\\" else _equals(letter))

    def _set(self) -> Letters:
        """[a-z] or [^a-z]."""
        is_opposite = self._next("^")
        chosen: list[Letters] = []
        is_first = True
        while is_first or self.text[self.at : self.at + 1] != "]":
            is_first = False
            letter = self._taken()
            if letter == "[" and self.text[self.at : self.at + 1] == ":":
                raise BadPattern("[:names:] of letters are not supported")
            if letter == "\\":
                chosen.append(self._escaped())
                continue
            if self.text[self.at : self.at + 1] == "-" and self.text[self.at + 1 :][:1] != "]":
                self.at += 1
                last = self._taken()
                if last in "\\[" or last < letter:
                    raise BadPattern(f"{letter}-{last} is not a range of letters")
                chosen.append(_between(letter, last))
            else:
                chosen.append(_equals(letter))
        self.at += 1
        return _any_of(tuple(chosen), opposite=is_opposite)

    def _escaped(self) -> Letters:
        letter = self._taken()
        kinds = {"d": _is_digit, "w": _is_word, "s": _is_space}
        if letter in kinds:
            return kinds[letter]
        if letter.lower() in kinds:
            return _any_of((kinds[letter.lower()],), opposite=True)
        if letter in "nrt":
            return _equals({"n": "\n", "r": "\r", "t": "\t"}[letter])
        if letter.isalnum():
            raise BadPattern(f"\\{letter} is not supported in a regular expression")
        return _equals(letter)

    def _letter(self, letters: Letters) -> tuple[int, int]:
        first, last = self._state(), self._state()
        self.states[first].letters = letters
        self.states[first].after = last
        return first, last

    def _state(self) -> int:
        if len(self.states) >= MOST_STATES:
            raise BadPattern("the regular expression is too long")
        self.states.append(MatchState())
        return len(self.states) - 1

    def _taken(self) -> str:
        if self.at >= len(self.text):
            raise BadPattern("the regular expression ends too early")
        self.at += 1
        return self.text[self.at - 1]

    def _next(self, letter: str) -> bool:
        is_next = self.text[self.at : self.at + 1] == letter
        self.at += is_next
        return is_next


def _is_short_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 4


def _any_letter(letter: str) -> bool:
    return letter != "\n"


def _is_digit(letter: str) -> bool:
    return "0" <= letter <= "9"


def _is_word(letter: str) -> bool:
    return letter.isascii() and (letter.isalnum() or letter == "_")


def _is_space(letter: str) -> bool:
    return letter in " \t\n\r\f"


def _equals(wanted: str) -> Letters:
    return lambda letter: letter == wanted


def _between(first: str, last: str) -> Letters:
    return lambda letter: first <= letter <= last


def _any_of(kinds: tuple[Letters, ...], *, opposite: bool) -> Letters:
    return lambda letter: any(kind(letter) for kind in kinds) != opposite
