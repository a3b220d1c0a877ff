"""A free answer is told again as it was, until the ledger moves on."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import eke
from eke.session.ask import free_texts
from eke.session.ask.request import Request

COUNT = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
AVERAGE = "SELECT sex, AVG(age) AS x FROM people GROUP BY sex"


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The questions whose answers were worked out."""
    texts: list[str] = []
    write = Request.text

    def counted(self: Request, *arguments: object) -> str:
        texts.append(self.question.text)
        return write(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Request, "text", counted)
    return texts


@pytest.mark.parametrize("asked", [COUNT, AVERAGE])
def test_the_same_question_is_worked_out_once(
    new: Callable[..., eke.Session], written: list[str], asked: str
) -> None:
    session = new(epsilon=10.0)
    paid = session.ask(asked, within=4)
    free = [session.ask(asked, within=4, analyst=who) for who in ("ann", "bob", "eve")]
    assert len(written) == 2  # the paid one, and the first free one
    assert [one.rows for one in free] == [paid.rows] * 3
    assert [one.cost for one in free] == [0.0] * 3
    session.ask(asked, within=5)
    session.ask(asked, within=4, confidence=0.9)
    assert len(written) == 4


def test_a_charge_or_a_new_limit_makes_it_another_answer(
    new: Callable[..., eke.Session], written: list[str]
) -> None:
    session = new(epsilon=10.0)
    session.ask(COUNT, within=4)
    first = session.ask(COUNT, within=4).receipt.spent_nano
    session.ask("SELECT COUNT(*) FROM people WHERE age < 20", within=2)
    assert first < session.budget.spent * 1e9
    second = session.ask(COUNT, within=4).receipt.spent_nano
    assert second == round(session.budget.spent * 1e9)
    session.change_limit(20.0)
    assert session.ask(COUNT, within=4).receipt.limit_nano == 20 * 10**9
    assert written.count(COUNT) == 4


def test_a_key_keeps_the_free_answer_as_before(new: Callable[..., eke.Session]) -> None:
    session = new(epsilon=10.0)
    session.ask(COUNT, within=4)
    session.ask(COUNT, within=4)
    entries = len(session.ledger_entries())
    first = session.ask(COUNT, within=4, key="mine")
    assert len(session.ledger_entries()) == entries + 1
    assert session.ask(COUNT, within=4, key="mine").rows == first.rows


def test_there_is_an_end_to_what_is_kept(
    new: Callable[..., eke.Session], written: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    session = new(epsilon=10.0)
    session.ask(COUNT, within=4)
    monkeypatch.setattr(free_texts, "_MOST_CHARACTERS", 100)
    for _ in range(3):
        session.ask(COUNT, within=4)
        session.ask(COUNT, within=5)
    assert len(written) == 1 + 6
