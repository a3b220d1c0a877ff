"""The truth of the question as written lies in the interval, or the answer says why it may not.

8 questions over one real table, in the long part 200 over five, under domains that cut, clamp,
round, replace and drop. The noise is next to nothing, so that whatever else is wrong shows.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import eke
from eke.session.answer import qualified as qualifying
from tests import raw_questions
from tests.parts import in_long
from tests.raw_questions import TABLES, asked_and_true, hostile_domain, raw_question, raw_table

FEW, MANY = 8, 40


def wrong_answers(name: str, folder: Path, questions: int) -> tuple[list[str], int, int]:
    """(wrong answers without a reason, values compared, values without a reason to be wrong)."""
    rng = random.Random(name)
    frame = raw_table(name)
    wrong: list[str] = []
    compared, plain = 0, 0
    for place in range(4):
        domain = hostile_domain(frame, rng, hostile=place / 4)
        session = eke.create(folder / f"{place}.eke", frame, domain, epsilon=1e9)
        for _ in range(questions // 4):
            found = asked_and_true(session, frame, raw_question(frame, domain, rng))
            if found is None:
                continue
            answer, values = found
            compared += len(values)
            excused = any(raw_questions.ALLOWED not in text for text in answer.caveats)
            plain += 0 if excused else len(values)
            wrong += raw_questions.unexcused(answer, values)
    return wrong, compared, plain


def test_the_truth_is_in_the_interval_or_the_answer_says_why(folder: Path) -> None:
    wrong, compared, plain = wrong_answers("adult", folder, FEW)
    assert wrong == []
    assert compared >= 10
    assert plain >= 2


@pytest.mark.long
@pytest.mark.parametrize("name", TABLES)
def test_the_truth_of_many_questions_is_in_the_interval(name: str, folder: Path) -> None:
    wrong, compared, plain = wrong_answers(name, folder, MANY)
    assert wrong == []
    assert compared >= 25
    assert plain >= 3


@pytest.mark.parametrize("questions", [FEW, in_long(MANY)])
def test_answers_that_say_nothing_are_caught(
    folder: Path, monkeypatch: pytest.MonkeyPatch, questions: int
) -> None:
    """Positive control: without caveats and without what bins leave open, many are wrong."""
    monkeypatch.setattr(qualifying, "caveats", lambda _: ())
    monkeypatch.setattr(qualifying, "bias", lambda *_: 0.0)
    wrong, compared, _ = wrong_answers("adult", folder, questions)
    assert len(wrong) >= compared / 10


def test_an_average_of_midpoints_allows_for_its_bins(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hours of adult in six bins; positive control: the sentence alone does not help."""
    hours = raw_table("adult")[["hours"]]
    domain = eke.Domain(hours=eke.Binned([0, 20, 35, 40, 41, 60, 100], "never", "never"))
    session = eke.create(folder / "hours.eke", hours, domain, epsilon=1e9)

    def wrong() -> list[str]:
        found = asked_and_true(session, hours, "SELECT AVG(hours) AS x FROM t")
        assert found is not None
        return list(raw_questions.unexcused(*found))

    assert wrong() == []
    monkeypatch.setattr(qualifying, "bias", lambda *_: 0.0)
    assert len(wrong()) == 1
