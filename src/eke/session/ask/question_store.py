"""QuestionStore: questions in SQL that were read before, by their texts.

Reading a text takes milliseconds and depends on nothing but the domain and the unit; servers see
each one often.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from eke.domain import Domain
from eke.privacy.unit import Unit
from eke.question import Question
from eke.question.posed import Asked, of_unit, question_of
from eke.sql import parse

MOST_CHARACTERS = 2**18
"""Of the texts kept in all: a few thousand questions; a long text may take hundreds of bytes a
character once it is read."""


class QuestionStore:
    """The questions used last, as many as have short texts or as few as have long ones.

    Threads may share it.
    """

    def __init__(self, domain: Domain, unit: Unit | None = None) -> None:
        """`unit` is what is protected, if not the single record."""
        self._domain = domain
        self._unit = unit
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Question] = OrderedDict()
        self._characters = 0

    def of(self, asked: Asked) -> Question:
        """The question that somebody asks, in SQL or as an expression."""
        if isinstance(asked, str):
            return self.read(asked)
        return of_unit(question_of(asked, self._domain), self._unit)

    def read(self, text: str) -> Question:
        """The question that a text stands for; a text with a mistake is read again each time."""
        with self._lock:
            known = self._kept.get(text)
            if known is not None:
                self._kept.move_to_end(text)
                return known
        fresh = parse(text, self._domain, unit=self._unit)
        with self._lock:
            if text not in self._kept:
                self._kept[text] = fresh
                self._characters += len(text)
            while self._characters > MOST_CHARACTERS:
                oldest, _ = self._kept.popitem(last=False)
                self._characters -= len(oldest)
        return fresh

    def __len__(self) -> int:
        return len(self._kept)
