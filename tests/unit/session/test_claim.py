"""Claims: how probable it is, by what was released, that the true answers lie somewhere."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import pytest

import eke
from eke.errors import AccuracyError, EstimateError, QueryError
from eke.session.ask.claim import ClaimText, shown_probability

WOMEN = "SELECT COUNT(*) FROM people WHERE sex = 'Female'"
BY_CITY = "SELECT city, COUNT(*) AS n FROM people GROUP BY city"


@pytest.mark.parametrize(
    ("written", "text", "ends", "closed"),
    [
        ("> 10000", "> 10000", ("10000", None), False),
        (">=0.5", ">= 0.5", ("0.5", None), True),
        ("≥ 0.5", ">= 0.5", ("0.5", None), True),
        (" < -3e4 ", "< -3e4", (None, "-3e4"), False),
        ("<= 7", "<= 7", (None, "7"), True),
        ("10 to 20", "10 to 20", ("10", "20"), True),
        ("between 10 and 20", "10 to 20", ("10", "20"), True),
        ("> 2013-06-30 12:00", "> 2013-06-30 12:00", ("2013-06-30 12:00", None), False),
        ("05:00 to 06:00", "05:00 to 06:00", ("05:00", "06:00"), True),
    ],
)
def test_a_claim_is_read(
    written: str, text: str, ends: tuple[str | None, str | None], *, closed: bool
) -> None:
    claim = ClaimText.read(written)
    assert (claim.text, (claim.low, claim.high), claim.closed) == (text, ends, closed)


BAD = [
    "",
    ">",
    "10",
    "= 10",
    "10,000",
    "> 10,000",
    "> 5 %",
    "> x",
    "> nan",
    "> inf",
    "3 to",
    "to 3",
]


@pytest.mark.parametrize("written", [*BAD, "1 to 2 to 3", "> " + "1" * 200, "> 1\0", "<> 3", None])
def test_what_is_no_claim_is_refused_and_told_how(session: eke.Session, written: str) -> None:
    session.ask(WOMEN, within=60)
    before = len(session.ledger_entries())
    with pytest.raises(AccuracyError, match=r"> 10000'|10000 or 0\.25"):
        session.claim(WOMEN, written)
    assert len(session.ledger_entries()) == before


def test_the_probability_is_that_of_the_answer(session: eke.Session) -> None:
    answer = session.ask(WOMEN, within=60)
    for low, high in ((100.0, None), (None, 120.0), (90.0, 150.0)):
        text = f"> {low}" if high is None else f"< {high}" if low is None else f"{low} to {high}"
        claim = session.claim(WOMEN, text)
        assert claim.probability == pytest.approx(answer.probability(above=low, below=high))
    assert session.claim(WOMEN, f"> {answer.value}").probability == pytest.approx(0.5)
    low, high = answer.interval
    assert session.claim(WOMEN, f"{low} to {high}").probability == pytest.approx(0.95, abs=1e-6)


def test_of_a_table_each_row_has_its_own(session: eke.Session) -> None:
    answer = session.ask(BY_CITY, within=30)
    claim = session.claim(BY_CITY, "> 130")
    assert (claim.attributes, claim.keys) == (answer.attributes, answer.keys)
    for row, probability in enumerate(claim.probabilities):
        assert probability == pytest.approx(answer.belief(row, 1).probability(above=130))
    assert len({round(one or 0.0, 6) for one in claim.probabilities}) == 3
    with pytest.raises(QueryError, match="3 rows"):
        _ = claim.probability
    rows = claim.to_dict()["rows"]
    assert [one["probability"] for one in rows] == list(claim.probabilities)
    assert repr(claim) == "Claim(> 130, 3 rows of city)"


def test_a_formula_and_a_difference_have_claims(session: eke.Session) -> None:
    average = session.ask("SELECT AVG(age) FROM people", within=3)
    claim = session.claim("SELECT AVG(age) FROM people", "20 to 22")
    assert claim.probability == pytest.approx(average.probability(above=20, below=22), abs=0.02)
    session.ask(eke.marginal("sex"), within=60)
    difference = eke.count(sex="Male") - eke.count(sex="Female")
    assert session.claim(difference, "> 0").probability > 0.9
    opposite = session.claim(-difference, "< 0").probability
    assert opposite == pytest.approx(session.claim(difference, "> 0").probability)


def test_whole_steps_of_a_quantile_are_inside_or_outside(new: Callable[..., eke.Session]) -> None:
    session, median = new(epsilon=50.0), "SELECT MEDIAN(age) FROM people"
    answer = session.ask(median, within=2)
    at = answer.value
    strictly, also = (session.claim(median, f"{sign} {at}").probability for sign in (">", ">="))
    below = session.claim(median, f"< {at}").probability
    assert also > strictly
    assert also + below == pytest.approx(1.0)
    assert session.claim(median, f"{at} to {at}").probability == pytest.approx(also - strictly)


def test_dates_are_compared_with_dates(new: Callable[..., eke.Session]) -> None:
    days = pd.DataFrame({"day": pd.date_range("2013-01-01", periods=400).repeat(5)})
    domain = eke.Domain(day=eke.Date("2013-01-01", "2014-12-31"))
    session = new(data=days, domain=domain, epsilon=10.0)
    median = "SELECT MEDIAN(day) FROM people"
    session.ask(median, within="10 days")
    assert session.claim(median, "2013-07-01 to 2013-08-01").probability > 0.9
    assert session.claim(median, "> 2013-12-31").probability < 0.01
    with pytest.raises(AccuracyError, match="2013-01-31"):
        session.claim(median, "> 20")
    with pytest.raises(AccuracyError, match="not what an answer can be compared with"):
        session.claim("SELECT COUNT(*) FROM people WHERE day < DATE '2013-03-01'", "> soon")
    session.ask("SELECT COUNT(*) FROM people", within=60)
    with pytest.raises(AccuracyError, match="write a number plainly"):
        session.claim("SELECT COUNT(*) FROM people", "> 2013-03-01")


def test_it_is_free_and_leaves_no_trace(session: eke.Session) -> None:
    session.ask(WOMEN, within=60)
    before, spent = len(session.ledger_entries()), session.budget.spent
    session.claim(WOMEN, "> 1", analyst="ben")
    session.claim(f"{WOMEN} ERROR WITHIN 0.001 AT CONFIDENCE 0.99", "> 1")  # accuracy counts not
    session.claim(f"{WOMEN} SPEND 0.5", "> 1")
    for undetermined in (BY_CITY, "SELECT AVG(age) FROM people", "SELECT MEDIAN(age) FROM people"):
        with pytest.raises(EstimateError, match="ask the question first"):
            session.claim(undetermined, "> 1")
    assert (len(session.ledger_entries()), session.budget.spent) == (before, spent)


def test_a_claim_is_about_one_column_of_values(session: eke.Session) -> None:
    with pytest.raises(QueryError, match="has 2; select one of them"):
        session.claim("SELECT COUNT(*), SUM(age) FROM people", "> 1")
    with pytest.raises(QueryError, match="has 2"):
        session.claim(
            "SELECT city, COUNT(*), RANK() OVER (ORDER BY COUNT(*)) FROM people GROUP BY city",
            "> 1",
        )
    session.ask(WOMEN, within=60)
    with pytest.raises(AccuracyError, match="name the lower end first"):
        session.claim(WOMEN, "5 to 3")


def test_what_has_no_value_has_no_probability(session: eke.Session) -> None:
    asked = "SELECT city, AVG(CASE WHEN city = 'd' THEN age END) AS a FROM people GROUP BY city"
    session.ask(asked, spend=0.3)
    known = session.claim(asked, "> 1")
    assert sorted(one is None for one in known.probabilities) == [False, True, True]
    assert "not known" in {shown_probability(one) for one in known.probabilities}


@pytest.mark.parametrize(
    ("probability", "shown"),
    [
        *((0.0, "0"), (1e-9, "less than 0.001"), (0.0137, "0.0137"), (0.5, "0.5")),
        *((0.97349, "0.973"), (0.9999, "more than 0.999"), (1.0, "1"), (None, "not known")),
    ],
)
def test_nearly_sure_is_not_said_to_be_sure(probability: float | None, shown: str) -> None:
    assert shown_probability(probability) == shown
