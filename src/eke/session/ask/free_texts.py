"""Free texts: answers that cost nothing, as they were told, until the ledger moves on.

A dashboard asks the same for everyone who looks at it. As long as nothing was charged, released or
changed in between, the answer is the same to the byte.
"""

from __future__ import annotations

from eke.engine import Snapshot
from eke.session.ask.request import Request

_MOST_CHARACTERS = 2**23


class FreeTexts:
    """The stored texts of free answers in one state of the ledger. Threads may share it."""

    def __init__(self) -> None:
        self._told: tuple[int, dict[tuple[str, str], str]] = (-1, {})
        self._characters = 0

    def find(self, request: Request, now: Snapshot) -> str | None:
        """The text that the same request got in this state; None when nobody asked yet."""
        sequence, texts = self._told
        return texts.get(_key(request)) if sequence == now.sequence else None

    def put(self, request: Request, now: Snapshot, text: str) -> str:
        """Keep the text of a free answer; older states, or too many texts, are forgotten."""
        sequence, texts = self._told
        if now.sequence > sequence or self._characters + len(text) > _MOST_CHARACTERS:
            self._told, self._characters = (now.sequence, texts := {}), 0
        elif now.sequence < sequence:
            return text
        texts[_key(request)] = text
        self._characters += len(text)
        return text


def _key(request: Request) -> tuple[str, str]:
    """Equal for requests with one answer; the text of a question is in its receipt."""
    return request.digest, request.question.text
