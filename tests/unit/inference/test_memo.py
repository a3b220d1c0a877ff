"""What was made of one state of the history is made once, and there is an end to what is kept."""

from __future__ import annotations

from functools import partial

import numpy as np

from eke.inference import ComposedNoise, FormulaPosterior, Joint, halfwidth, memo
from eke.inference.memo import Memo
from eke.question import Aggregate, Operation


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


def test_few_are_kept_beside_each_other():
    """A hostile asker chooses another confidence each time; what is kept for them is bounded."""
    noise = ComposedNoise(np.array([1.0, 2.0]))
    joint = Joint(np.array([5e3, 1e2]), np.eye(2), *map(np.array, ([3, 2], [0, 0], [0, 0], [1, 1])))
    ratio = FormulaPosterior(Operation("/", Aggregate(0), Aggregate(1)), joint, 1)
    for confidence in np.linspace(0.5, 0.9, 40).tolist():
        width, interval = halfwidth(noise, confidence), ratio.interval(confidence)
        assert halfwidth(noise, confidence) == width
        assert ratio.interval(confidence) == interval
        assert len(noise.widths) <= memo.MOST_KEPT_FEW
        assert len(ratio.ends) <= memo.MOST_KEPT_FEW
