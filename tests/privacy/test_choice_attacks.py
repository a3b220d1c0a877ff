"""Chosen quantiles under attack: NumPy's settings, odd numbers, and a plan that fails half-way."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eke
from eke.engine.checked import checked_choice, checked_query
from eke.errors import EkeError, PrivacyError
from eke.history import RankChoice
from eke.mechanism import choose_among_runs
from eke.mechanism.choice import quick_run
from eke.planning import Plan
from eke.privacy.law import DiscreteLaplace
from eke.query import Marginal, Query, Term, count
from eke.session.ask.aim import Aim

ROWS = 1500
DOMAIN = eke.Domain(pay=eke.Integer(0, 4095), sex=eke.Categorical("F", "M"))


def table(rows: int = ROWS) -> pd.DataFrame:
    pay = [20 + 7 * place % 4000 for place in range(rows)]
    return pd.DataFrame({"pay": pay, "sex": ["FM"[place % 2] for place in range(rows)]})


def opened(folder: Path, rows: int = ROWS) -> eke.Session:
    return eke.create(folder / "people.eke", table(rows), DOMAIN, epsilon=4.0, analyst="ann")


class Half(int):
    """The 2 of a half; in products with numbers of records it is a million times as much."""

    def __mul__(self, other: int) -> int:
        return int(self) * other * 10**6


class One(int):
    """The 1 of a half, which says itself what it is divided by."""

    @property
    def numerator(self) -> Any:
        return self

    @property
    def denominator(self) -> Any:
        return Half(2)


class Itself(int):
    """A whole number that is its own numerator."""

    @property
    def numerator(self) -> Any:
        return self


class Name(str):
    """A text that may say anything when it is compared."""

    __slots__ = ()


def plan_of(people: eke.Session, **asked: Any) -> tuple[Any, Plan]:
    vault = people._answering._vault
    request = people._request(eke.median("pay").chosen(), Aim(**asked), policy=None)
    plan = request.decide(vault.facts()).plan
    assert plan is not None
    return vault, plan


@pytest.mark.parametrize("setting", ["warn", "raise", "print", "call"])
@pytest.mark.parametrize("rows", [10, ROWS])
def test_settings_of_numpy_do_not_tell_how_many_records_there_are(
    tmp_path: Path, rows: int, setting: Any
) -> None:
    """So many records make chances underflow; fewer do not (the control below)."""
    people, told = opened(tmp_path, rows), []
    with np.errstate(all=setting, call=lambda *what: told.append(what)), warnings.catch_warnings():
        warnings.simplefilter("error")
        people.ask(eke.median("pay").chosen(), spend=1.0)
        people.ask("SELECT COUNT(*) FROM people WHERE pay < 3000", spend=0.1)
        people.release(people.plan([["pay"]], budget=0.5))  # many draws at once
    assert told == []


def test_chances_do_underflow_where_many_records_stand() -> None:
    """Positive control: without settings of its own, the mechanism would fail here."""
    widths, scores = [1, 1], [0, 10**6]
    with np.errstate(under="raise"):
        assert quick_run(widths, scores, Fraction(1), 2**63) == 0
        with pytest.raises(FloatingPointError):
            quick_run.__wrapped__(widths, scores, Fraction(1), 2**63)  # type: ignore[attr-defined]


def test_a_second_choice_that_fails_leaves_a_ledger_that_can_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = opened(tmp_path)
    vault, small = plan_of(people, spend=0.001)
    _, large = plan_of(people, spend=1.0)
    loss = small.later_loss + large.later_loss
    both = Plan((), later_loss=loss, choices=small.choices + large.choices)
    drawn: list[int] = []

    def first_only(*given: Any) -> int:
        drawn.append(choose_among_runs(*given))
        if len(drawn) > 1:
            raise MemoryError
        return drawn[0]

    monkeypatch.setattr("eke.engine.adaptive.choose_among_runs", first_only)
    with pytest.raises(EkeError):
        vault.release(both, analyst="ann", key="both", digest="d", answer=lambda *_: "drawn")
    again = eke.open(tmp_path / "people.eke", data=table())
    assert again.budget.spent_nano == loss
    assert again.ask(eke.count(), within=60).value
    assert again.verify().intact


def refused_or_own(copied: Any) -> bool:
    """Whether making a copy is refused, or every number in it is Python's own."""
    try:
        numbers: Sequence[Fraction] = copied()
    except PrivacyError:
        return True
    return all(type(n.numerator) is int and type(n.denominator) is int for n in numbers)


def test_numbers_of_a_plan_are_the_junctions_own() -> None:
    """A Fraction may hold whatever says that it is an int."""
    share = Fraction(One(1))
    assert type(share) is Fraction
    choice = RankChoice(count().on(DOMAIN), "pay", share, DiscreteLaplace(10, 0))
    assert refused_or_own(lambda: [checked_choice(choice, DOMAIN).share])
    vectors = count(sex="F").on(DOMAIN).terms[0].vectors
    odd = Query(DOMAIN, (Term(Fraction(Itself(1)), vectors),), Fraction(0))
    shifted = Query(DOMAIN, count(sex="F").on(DOMAIN).terms, Fraction(Itself(1)))
    for query in (odd, shifted):

        def numbers(asked: Query = query) -> list[Fraction]:
            copy = checked_query(asked, DOMAIN)
            assert isinstance(copy, Query)
            return [copy.constant, *(term.weight for term in copy.terms)]

        assert refused_or_own(numbers)
    assert not refused_or_own(lambda: [share])  # the control


def test_names_of_a_plan_are_plain_texts() -> None:
    vectors = tuple((Name(name), one) for name, one in count(sex="F").on(DOMAIN).terms[0].vectors)
    inside = Query(DOMAIN, (Term(Fraction(1), vectors),), Fraction(0))
    with pytest.raises(PrivacyError, match="plain text"):
        checked_query(inside, DOMAIN)
    with pytest.raises(PrivacyError, match="plain text"):
        checked_query(Marginal((Name("sex"),), count().on(DOMAIN)), DOMAIN)


def test_the_share_that_a_question_names_is_made_of_plain_numbers(tmp_path: Path) -> None:
    """Else the least of all values is chosen at the price of a median."""
    people = opened(tmp_path)
    share: Any = Fraction(One(1))
    with pytest.raises(EkeError, match="plain integers"):
        people.ask(eke.quantile("pay", share).chosen(), spend=0.1)
    assert people.budget.spent == 0


def test_nothing_known_has_the_variance_of_the_whole_column(tmp_path: Path) -> None:
    answer = opened(tmp_path).ask(eke.median("pay").chosen(), spend=0.1)
    assert answer.interval == (0, 4095)
    assert answer.variance == pytest.approx(4096**2 / 12)


@pytest.mark.parametrize("share", ["1/0", "nan", None, "1e300000000", "1/2/3", "٣/٤"])
def test_an_odd_share_in_a_ledger_is_refused_by_name(share: object) -> None:
    law = DiscreteLaplace(10, 0)
    document = RankChoice(count().on(DOMAIN), "pay", Fraction(1, 2), law).to_document()
    with pytest.raises(EkeError):
        RankChoice.from_document(DOMAIN, {**document, "share": share})
