"""Sentences for queries: any spelling of a question reads the same."""

from fractions import Fraction

import pytest

from eke.domain import Binned, Boolean, Categorical, Decimal, Domain, Integer
from eke.query import constant, count, marginal, moment, table, total

DOMAIN = Domain(
    age=Integer(17, 90),
    hours=Binned([0, 10, 20, 30]),
    sex=Categorical("F", "M"),
    race=Categorical(*"abcdefgh", null="bucket"),
    married=Boolean(null="bucket"),
    debt=Integer(-3, -1),
    kids=Integer(0, 9, null="bucket"),
)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (count(), "count"),
        (3 * count(), "3 × count"),
        (-count(), "-count"),
        (count() / 8, "0.125 × count"),
        (count() / 3, "0.33333333 × count"),
        (0.1 * count(), "0.1 × count"),
        (1e12 * count(), "1000000000000 × count"),
        (1e-9 * count(), "1e-09 × count"),
        (count(sex="F"), "count where sex = F"),
        (count(sex="F", married=True), "count where sex = F and married = True"),
        (count(married=None), "count where married = missing"),
        (count(age=42), "count where age = 42"),
        (count(age=(20, 29)), "count where age 20–29"),
        (count(age=[20, 30]), "count where age = 20 or 30"),
        (count(age=(80, None)), "count where age 80–90"),
        (count(kids=(None, None)), "count where kids 0–9"),
        (count(kids=[9, None]), "count where kids = 9 or missing"),
        (count(hours=(0, 10)), "count where hours = [0, 10)"),
        (count(hours=(0, 20)), "count where hours in [0, 20)"),
        (count(hours=(10, 30)), "count where hours in [10, 30]"),
        (count(hours=(20, 30)), "count where hours = [20, 30]"),
        (count(race=["a", "c"]), "count where race = a or c"),
        (count(race=["a", None]), "count where race = a or missing"),
        (count(race=list("abcdefg")), "count where race ≠ h or missing"),
        (count(race=list("abcd")), "count where race = a or b or c or d"),
        (count(age=[17, 19, 21, 23, 25, 27]), "count where age = 17 or 19 or 21 or 23 or 2 more"),
        (total("age"), "sum(age)"),
        (2000 * total("hours"), "2000 × sum(hours)"),
        (total("hours") / 2, "0.5 × sum(hours)"),
        (total("debt"), "sum(debt)"),
        (-5 * total("debt"), "-5 × sum(debt)"),
        (total("kids"), "sum(kids)"),
        (total("married"), "count where married = True"),
        (total("age", age=(20, 30)), "sum(age) where age 20–30"),
        (total("age", sex="F"), "sum(age) where sex = F"),
        (7 * moment(age=2, hours=3), "7 × sum(age^2 · hours^3)"),
        (moment(age=4), "sum(age^4)"),
        (moment(kids=2, where={"kids": (2, 4)}), "sum(kids^2) where kids 2–4"),
        (count(sex="F") - count(sex="M"), "sum(weights of sex {F: 1, M: -1})"),
        (table("age", [x * x % 7 for x in range(74)]), "sum(weights of age)"),
        (table("hours", [1, 0, 4]), "sum(weights of hours {[0, 10): 1, [20, 30]: 4})"),
        (table("hours", [1, 0, 5]), "0.2 × sum(hours) where hours = [0, 10) or [20, 30]"),
        (total("age") + total("hours"), "sum(age) + sum(hours)"),
        (total("age") - total("hours") + 7, "sum(age) - sum(hours) + 7"),
        (2 * total("age") + 3 * count(), "2 × sum(age) + 3 × count"),
        (total("debt") / 4 - count(), "0.25 × sum(debt) - count"),
        (total("kids") + total("age"), "sum(age) + sum(kids)"),
        (
            count(age=(20, 30)) + count(hours=(10, 20)),
            "count where age 20–30 + count where hours = [10, 20)",
        ),
        (count() - count(sex="F", married=True), "-count where sex = F and married = True + count"),
        (
            total("age", sex="F") + 3 * total("hours", sex="M"),
            "sum(age) where sex = F + 3 × sum(hours) where sex = M",
        ),
        (
            sum((i * count(race=r, sex="F") for i, r in enumerate("bdf", 2)), constant(0))
            + sum((count(race=r, age=20 + i) for i, r in enumerate("aceg")), constant(0)),
            None,
        ),
        (constant(0), "0"),
        (constant(-2.5), "-2.5"),
        (constant(Fraction(1, 3)), "0.33333333"),
        (2000 * count(sex="M") - 10000, "2000 × count where sex = M - 10000"),
        (count(sex="M") + 0.5, "count where sex = M + 0.5"),
        (marginal("sex", "age"), "count by age, sex"),
        (marginal("sex", of=total("age", married=True)), "sum(age) where married = True by sex"),
    ],
)
def test_sentences(asked, text):
    sentence = asked.on(DOMAIN).description
    if text is None:
        assert sentence.endswith(" more terms")
        assert sentence.count(" + ") == 4
    else:
        assert sentence == text


def test_values_that_look_like_signs_are_left_alone():
    domain = Domain(x=Categorical("a + -b", "c", "d", "e"))
    assert count(x="a + -b").on(domain).description == "count where x = a + -b"


def test_another_spelling_reads_the_same():
    one = 2 * count(age=(20, 29), sex="F") + 4
    other = count(age=(20, 24), sex="F") * 2 - 2 * (constant(-2) - count(sex="F", age=(25, 29)))
    assert one.on(DOMAIN).description == other.on(DOMAIN).description


def test_huge_numbers_have_a_text():
    assert ((count() * 2**300).on(DOMAIN)).description == f"{2**300} × count"
    assert ((count() + Fraction(10**100, 3)).on(DOMAIN)).description.startswith("count + 3333")


WIDE = Domain(
    paid=Decimal(0, 10_000_000, 2, null="bucket"),
    balance=Integer(-(10**11), 10**11),
    sex=Categorical("F", "M"),
)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (count(paid=(1234.56, None)), "count where paid 1234.56–10000000"),
        (count(paid=5), "count where paid = 5"),
        (count(paid=[1, 2.5, 2.51]), "count where paid = 1 or 2.5–2.51"),
        (count(paid=[1, 3, 5, 7, 9, 11]), "count where paid = 1 or 3 or 5 or 7 or 2 more"),
        (count(paid=None), "count where paid = missing"),
        (count() - count(paid=5), "count where paid 0–4.99 or 5.01–10000000 or missing"),
        (total("balance"), "sum(balance)"),
        (total("balance", balance=(0, 10), sex="F"), "sum(balance) where balance 1–10 and sex = F"),
        (total("balance") + 7 * count(), "sum(balance) + 7 × count"),
        (moment({"balance": 2}, where={"balance": (-5, 1000)}),
         "sum(balance^2) where balance -5–1000"),
    ],
)  # fmt: skip
def test_questions_about_wide_columns_read_as_those_about_narrow_ones(asked, text) -> None:
    assert asked.on(WIDE).description == text
