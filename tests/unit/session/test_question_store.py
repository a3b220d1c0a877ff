"""Statements are read once, and the store stays small."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

import eke
from eke.errors import SqlError
from eke.session.ask import question_store
from eke.session.ask.question_store import QuestionStore
from eke.sql import parse

DOMAIN = eke.Domain(age=eke.Integer(0, 99))


def text(age: int) -> str:
    return f"SELECT COUNT(*) FROM t WHERE age = {age:02d}"


def test_a_text_is_read_once() -> None:
    store = QuestionStore(DOMAIN)
    first = store.read(text(1))
    assert first == parse(text(1), DOMAIN)
    assert store.read(text(1)) is first
    assert store.read(text(2)) is not first


def test_those_used_last_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_store, "MOST_CHARACTERS", 2 * len(text(1)))
    store = QuestionStore(DOMAIN)
    first, second = store.read(text(1)), store.read(text(2))
    assert store.read(text(1)) is first  # the second is now the oldest
    store.read(text(3))
    assert len(store) == 2
    assert store.read(text(1)) is first
    assert store.read(text(2)) is not second


def test_a_text_longer_than_the_store_is_read_and_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(question_store, "MOST_CHARACTERS", 10)
    store = QuestionStore(DOMAIN)
    assert store.read(text(1)) == parse(text(1), DOMAIN)
    assert len(store) == 0


def test_mistakes_are_not_kept() -> None:
    store = QuestionStore(DOMAIN)
    for _ in range(2):
        with pytest.raises(SqlError):
            store.read("SELECT COUNT(*) FROM t WHERE size = 1")
    assert len(store) == 0


def test_threads_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each text is counted once, however many threads read it at the same time."""
    monkeypatch.setattr(question_store, "MOST_CHARACTERS", 5 * len(text(1)))
    store = QuestionStore(DOMAIN)
    asked = [number * 7 % 9 for number in range(400)]
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(lambda age: store.read(text(age)), asked))
    assert all(one.text == text(age) for one, age in zip(found, asked, strict=True))
    assert store._characters == sum(map(len, store._kept)) <= 5 * len(text(1))
