"""How users write questions: arithmetic, texts and mistakes."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from eke import query as package
from eke.domain import Binned, Boolean, Categorical, Domain, Integer
from eke.errors import QueryError
from eke.query import Expression, constant, count, marginal, moment, table, total
from tests import oracle

DOMAIN = Domain(
    age=Integer(17, 22),
    sex=Categorical("F", "M"),
    hours=Binned([0, 20, 40], null="bucket"),
    married=Boolean(),
)
loose: Any = package  # the same package, for calls that type checkers rightly refuse


def values(asked):
    return oracle.written_out(asked.on(DOMAIN))


def expected(coefficient):
    return [coefficient(cell) for cell in oracle.cells(DOMAIN)]


def midpoint(cell):
    return {(0, 20): 10, (20, 40): 30, None: 0}[cell["hours"]]


@pytest.mark.parametrize(
    ("asked", "coefficient"),
    [
        (count(), lambda _: 1),
        (count({"age": 20}, sex="F"), lambda c: c["age"] == 20 and c["sex"] == "F"),
        (total("age"), lambda c: c["age"]),
        (total("hours", sex="M"), lambda c: midpoint(c) * (c["sex"] == "M")),
        (total("hours", {"sex": "M"}), lambda c: midpoint(c) * (c["sex"] == "M")),
        (total("age", age=(19, None)), lambda c: c["age"] * (c["age"] >= 19)),
        (total("married"), lambda c: int(c["married"])),
        (moment(age=2), lambda c: c["age"] ** 2),
        (moment({"age": 1}, hours=2), lambda c: c["age"] * midpoint(c) ** 2),
        (moment(age=4, where={"married": True}), lambda c: c["age"] ** 4 * c["married"]),
        (table("sex", [3, -1]), lambda c: 3 if c["sex"] == "F" else -1),
        (
            table(["married", "sex"], np.array([[1, 2], [3, 4]])),
            lambda c: 1 + (c["sex"] == "M") + 2 * c["married"],
        ),
        (
            2 * count() + 3 * total("age") - count(sex="F"),
            lambda c: 2 + 3 * c["age"] - (c["sex"] == "F"),
        ),
        (5 - count(sex="F"), lambda c: -(c["sex"] == "F")),
        (-(count() / 4), lambda _: Fraction(-1, 4)),
        (np.float64(0.5) * count(), lambda _: Fraction(1, 2)),
        (loose.count() * np.int64(3), lambda _: 3),
        (np.int64(3) * loose.count(), lambda _: 3),
        (sum([count(sex="F"), count(sex="M")]), lambda _: 1),
        (count(hours=None), lambda c: c["hours"] is None),
        (count(hours=(None, None)), lambda c: c["hours"] is not None),
    ],
)
def test_coefficients_are_as_written(asked, coefficient):
    assert isinstance(asked, Expression)
    assert values(asked) == expected(coefficient)


def test_table_axes_may_come_in_any_order():
    entries = np.arange(12).reshape(2, 6)
    assert table(["sex", "age"], entries).on(DOMAIN) == table(["age", "sex"], entries.T).on(DOMAIN)


def test_attributes_named_like_arguments_can_be_asked_about():
    domain = Domain(where=Integer(0, 3), powers=Integer(0, 3), of=Boolean())
    assert count({"where": 2}).on(domain).attributes == ("where",)
    assert count(where={"where": 2}).on(domain).attributes == ("where",)
    assert moment(powers=2).on(domain).attributes == ("powers",)
    assert moment({"where": 1}).on(domain).attributes == ("where",)
    assert total("where", powers=1).on(domain).attributes == ("where", "powers")


def test_one_expression_serves_many_domains():
    asked = total("x")
    assert asked.on(Domain(x=Integer(0, 3))).extremes()[1] == 3
    assert asked.on(Domain(x=Integer(0, 9), y=Boolean())).extremes()[1] == 9


def test_expressions_do_not_see_later_changes_of_their_arguments():
    where = {"sex": "F"}
    coefficients = np.array([1.0, 2.0])
    asked = [
        count(where),
        total("age", where),
        moment(age=1, where=where),
        table("sex", coefficients),
    ]
    before = [one.on(DOMAIN) for one in asked]
    where["sex"] = "M"
    coefficients[:] = 7
    assert [one.on(DOMAIN) for one in asked] == before


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        (count(), "count"),
        (count(sex="F", age=(1, 2)), "count where sex = 'F' and age = (1, 2)"),
        (total("age"), "sum of age"),
        (moment(age=2, hours=1), "sum of age^2 * hours"),
        (2 * count() - 5, "2 * (count) - (5)"),
        (count() / 3, "(count) / 3"),
        (-count(), "-1 * (count)"),
        (table(["a", "b"], [[1]]), "table over a, b"),
        (marginal("sex", "age", where={"married": True}), "count where married = True by sex, age"),
    ],
)
def test_texts_repeat_what_was_written(asked, text):
    assert str(asked) == text


@pytest.mark.parametrize(
    ("asked", "advice"),
    [
        (count(income=1), "no attribute 'income'; the domain has age, sex, hours, married"),
        (loose.count({1: 2}), "no attribute 1; the domain has"),
        (total("income"), "no attribute 'income'"),
        (total("age", income=1), "no attribute 'income'"),
        (moment(age=1, income=1), "no attribute 'income'"),
        (table("income", [1]), "no attribute 'income'"),
        (marginal("income"), "no attribute 'income'"),
        (marginal("sex", where={"income": 1}), "no attribute 'income'"),
        (marginal(), "at least one attribute"),
        (marginal("sex", of=count() + 1), "cannot carry a constant"),
        (total("sex"), "'sex': this attribute has no numbers"),
        (count(sex="X"), "'sex': 'X' is not a declared value"),
        (count(sex=("F", "M")), "'sex': the ends of a range must be numbers"),
        (count(hours=(0, 30)), "'hours': 30 cuts through a bin; the nearest edges are 20 and 40"),
        (table("sex", [1, 2, 3]), "must have shape \\(2,\\), not \\(3,\\)"),
        (table(["sex", "age"], np.ones((6, 2))), "must have shape \\(2, 6\\)"),
    ],
)
def test_mistakes_that_show_on_a_domain(asked, advice):
    with pytest.raises(QueryError, match=advice):
        asked.on(DOMAIN)


@pytest.mark.parametrize(
    ("act", "advice"),
    [
        (lambda: count() * True, "not True or False"),
        (lambda: loose.count() * "2", "must be a number, not str"),
        (lambda: loose.count() * count(), "must be a number, not Expression"),
        (lambda: count() + float("nan"), "finite"),
        (lambda: count() - float("inf"), "finite"),
        (lambda: loose.count() + None, "must be a number"),
        (lambda: count() / 0, "divided by zero"),
        (lambda: count() / 0.0, "divided by zero"),
        (lambda: count() / float("nan"), "finite"),
        (lambda: constant(True), "not True or False"),
        (lambda: loose.constant("1"), "must be a number"),
        (lambda: loose.count("sex"), "a mapping of attribute names"),
        (lambda: count({"sex": "F"}, sex="M"), "keep one each: sex"),
        (moment, "at least one attribute and its power"),
        (lambda: moment({"age": 1}, age=2), "keep one each: age"),
        (lambda: loose.moment(age=0), "whole number from 1 to 4"),
        (lambda: loose.moment(age=5), "whole number from 1 to 4"),
        (lambda: loose.moment(age=1.0), "whole number from 1 to 4"),
        (lambda: loose.moment(age=True), "whole number from 1 to 4"),
        (lambda: table([], 3), "one axis for each"),
        (lambda: table(["a"], [[1]]), "one axis for each"),
        (lambda: table(["a", "a"], [[1]]), "each named once"),
        (lambda: table("ab", [[1], [1, 2]]), "rows of equal length"),
        (lambda: table("a", [True, False]), "not True or False"),
        (lambda: table("a", ["x"]), "must be a number"),
        (lambda: table("a", [1, np.nan]), "finite"),
        (lambda: table("a", [1j]), "must be a number"),
        (lambda: table("a", np.zeros(65_537)), "at most 65,536 cells"),
        (lambda: marginal("a", of=count(), where={"b": 1}), "either `of` or `where`"),
    ],
)
def test_mistakes_that_show_at_once(act, advice):
    with pytest.raises(QueryError, match=advice):
        act()


def test_empty_sums_and_zero_weights_are_zero_questions():
    assert (0 * count(sex="F")).on(DOMAIN).is_zero
    assert table("sex", [0, 0]).on(DOMAIN).is_zero
    assert (count(sex="F", age=20) - count(age=20, sex=["F"])).on(DOMAIN).is_zero
