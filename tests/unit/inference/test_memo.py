"""What was made of one state of the history is made once, and there is an end to what is kept."""

from __future__ import annotations

from functools import partial

from eke.inference import memo
from eke.inference.memo import Memo


def test_the_same_is_made_once_and_another_key_is_another():
    made: list[str] = []

    def make(text: str) -> str:
        made.append(text)
        return text

    kept = Memo()
    for text in ("a", "b", "a", "b"):
        assert kept.get(("text", text), partial(make, text), len) == text
    assert made == ["a", "b"]


def test_nothing_known_is_remembered_as_well():
    made: list[int] = []
    kept = Memo()
    for _ in range(3):
        assert kept.get("key", lambda: made.append(1), lambda _: 0) is None
    assert made == [1]


def test_there_is_an_end_to_what_is_kept(monkeypatch):
    monkeypatch.setattr(memo, "MOST_NUMBERS", 1000)
    kept = Memo()
    made: list[int] = []
    for number in [*range(20), 19, 0]:
        kept.get(number, partial(made.append, number), lambda _: 100)
    assert made == [*range(20), 0]  # the last one was kept, the first one was not
    for number in range(3):
        kept.get(("too large", number), lambda: None, lambda _: 10**9)
    assert len(kept._made) == 1
