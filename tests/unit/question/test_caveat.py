"""Caveats: what rules and bins leave open of a question, said once and in plain words."""

from __future__ import annotations

import pytest

import eke
from eke.question import Question, bias, caveats
from eke.sql import parse

FAITHFUL = eke.Domain(
    age=eke.Integer(0, 99, null="never", outside="never"),
    hours=eke.Integer(0, 99, null="bucket", outside="never"),
    sex=eke.Categorical("F", "M", null="never", outside="never"),
)


def read(text: str, **attributes: eke.domain.Attribute) -> Question:
    domain = eke.Domain({**dict(FAITHFUL.attributes), **attributes})
    return parse(f"SELECT {text}", domain)


def test_a_domain_that_leaves_nothing_open_needs_no_words():
    asked = "sex, AVG(age), SUM(hours), COUNT(*) FROM t WHERE age > 3 GROUP BY sex"
    assert caveats(read(asked)) == ()


def test_records_that_are_not_counted_are_named_in_every_answer():
    drop = eke.Integer(0, 99, outside="never")
    assert caveats(read("COUNT(*) FROM t", age=drop)) == (
        "Records whose age is missing are not counted.",
    )
    both = caveats(read("COUNT(*) FROM t", age=drop, sex=eke.Categorical("F"), hours=drop))
    (sentence,) = both
    assert sentence == (
        "Records whose sex is missing or not declared, or whose age or hours is missing, "
        "are not counted."
    )
    many = {f"x{k}": drop for k in range(9)}
    assert "x5 or 3 more columns is missing" in caveats(read("COUNT(*) FROM t", **many))[0]


@pytest.mark.parametrize(
    ("attribute", "sentence"),
    [
        (
            eke.Integer(0, 99, "never", "clamp"),
            "Undeclared values of age count as the declared value next to them.",
        ),
        (eke.Integer(0, 99, "never", "bucket"), "Undeclared values of age count as missing."),
        (eke.Integer(0, 99, "never", eke.Replace(7)), "Undeclared values of age count as 7."),
        (eke.Integer(0, 99, eke.Replace(7), "never"), "Where age is missing, it counts as 7."),
    ],
)
def test_rules_are_named_where_the_column_is_read(attribute, sentence):
    for asked in ("AVG(age) FROM t", "COUNT(*) FROM t WHERE age >= 0", "COUNT(age) FROM t"):
        assert caveats(read(asked, age=attribute)) == (sentence,)
    for asked in ("age, COUNT(*) FROM t GROUP BY 1", "FLOOR(age / 10), COUNT(*) FROM t GROUP BY 1"):
        assert caveats(read(asked, age=attribute)) == (sentence,)
    assert caveats(read("COUNT(*) FROM t", age=attribute)) == ()


BINS = eke.Binned([0, 20, 50, 99], null="never", outside="never")


@pytest.mark.parametrize(
    ("formula", "off"),
    [
        ("AVG(age)", 24.5),
        ("2 * AVG(age) - 5", 49.0),
        ("AVG(age) / 2", 12.25),
        ("AVG(age) - AVG(hours)", 24.5),
        ("100 * AVG(3 - 2 * age)", 4900.0),
        ("COUNT(*)", 0.0),
        ("SUM(hours) / COUNT(*)", 0.0),
        ("SUM(age)", None),
        ("VARIANCE(age)", None),
        ("SUM(age) / SUM(hours)", None),
        ("SUM(hours) / SUM(age)", None),
        ("AVG(age) * AVG(hours)", None),
        ("SQRT(AVG(age))", None),
        ("1 / AVG(age)", None),
    ],
)
def test_how_far_bins_put_a_column_off(formula, off):
    question = read(f"{formula} FROM t", age=BINS)
    assert bias(question, question.columns[0].formula) == off


def test_the_bins_that_a_condition_leaves_decide():
    question = read("AVG(age) FROM t WHERE age < 20", age=BINS)
    assert bias(question, question.columns[0].formula) == 10.0
    mean = eke.mean("age", age=(0, 20)).on(question.domain)
    assert bias(mean, mean.columns[0].formula) == 10.0


def test_bins_are_said_to_be_allowed_for_or_not():
    (average,) = caveats(read("AVG(age) FROM t", age=BINS))
    assert average.startswith("age is known only to within ±24.5, because")
    assert "; the intervals allow for that." in average
    (total,) = caveats(read("SUM(age) FROM t", age=BINS))
    assert "a sum may be off by that much for each record" in total
    (both,) = caveats(read("SUM(age), AVG(age) FROM t", age=BINS))
    assert "of averages allow for that, and those of sums do not." in both
