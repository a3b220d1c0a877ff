"""Equivalent spellings meet in the canonical form, so the second one is answered free."""

import pytest

from eke.domain import Domain, Integer
from eke.sql import parse
from tests.sql_adult import compact_domain

DOMAIN = compact_domain()
WIDE = Domain({f"a{i}": Integer(0, 9) for i in range(12)})

SPELLINGS = [
    ["age > 40", "NOT age <= 40", "age >= 41", "age BETWEEN 41 AND 80", "40 < age", "age > 40.2"],
    ["age <> 40", "NOT age = 40", "age < 40 OR age > 40", "age NOT IN (40)", "age != 40.0"],
    ["age > 40", "2 * age - 1 > 79", "age * age > 1600", "-age < -40", "age - 40 > 0"],
    ["sex = 'Male'", "sex <> 'Female'", "sex LIKE 'M%'", "sex IN ('Male')", "'Male' = sex"],
    [
        "workclass <> 'Private'",
        "NOT workclass = 'Private'",
        "workclass IS NOT NULL AND NOT workclass IN ('Private')",
        "(workclass = 'Private') IS FALSE",
    ],
    [
        "sex = 'Male' OR age > 40",
        "NOT (sex = 'Female' AND age <= 40)",
        "age > 40 OR (age <= 40 AND sex = 'Male')",
        "CASE WHEN sex = 'Male' THEN TRUE ELSE age > 40 END",
    ],
    [
        "married AND gain >= 1 OR married AND hours < 40",
        "married AND (hours < 40 OR NOT gain < 1)",
        "(gain >= 1 OR hours < 40) AND married IS TRUE",
    ],
    ["age > education_num", "education_num < age", "age - education_num > 0"],
    ["tier = 1 OR tier = 3", "tier IN (3, 1)", "NOT tier = 2", "tier <> 2"],
]
WIDE_SPELLINGS = [
    ["a0 = 1 OR a1 = 2 OR a2 = 3 OR a3 = 4 OR a4 = 5 OR a5 = 6",
     "NOT (a5 <> 6 AND a4 <> 5 AND a3 <> 4 AND a2 <> 3 AND a1 <> 2 AND a0 <> 1)",
     "(a0 = 1 OR a5 = 6) OR ((a1 = 2 OR a4 = 5) OR (a3 = 4 OR a2 = 3))"],
    ["a0 > 3 AND (a1 < 5 OR a2 = 1) AND (a3 > 1 OR a4 = 2) AND a5 > 2 AND a6 < 3 AND a7 = 1",
     ("a7 = 1 AND NOT a6 >= 3 AND 2 < a5 AND NOT (a4 <> 2 AND a3 <= 1) AND a0 > 3 AND "
      "(a2 IN (1) OR a1 < 5)")],
    ["(a0 = 1 AND a1 = 1 AND a2 = 1) OR (a3 = 1 AND a4 = 1 AND a5 = 1)",
     ("(a5 = 1 AND a4 = 1 AND a3 = 1) OR (a2 = 1 AND a1 = 1 AND a0 = 1) OR "
      "(a0 = 1 AND a1 = 1 AND a2 = 1 AND a5 = 1)")],
]  # fmt: skip


@pytest.mark.parametrize("conditions", SPELLINGS, ids=lambda c: c[0])
@pytest.mark.parametrize("what", ["COUNT(*)", "SUM(hours)", "AVG(age)"])
def test_conditions(conditions, what):
    asked = {parse(f"SELECT {what} FROM t WHERE {c}", DOMAIN).blocks for c in conditions}
    assert len(asked) == 1


@pytest.mark.parametrize("conditions", WIDE_SPELLINGS, ids=lambda c: c[0])
def test_conditions_over_supports_that_no_table_can_hold(conditions):
    asked = {parse(f"SELECT COUNT(*) FROM t WHERE {c}", WIDE).blocks for c in conditions}
    assert len(asked) == 1


@pytest.mark.parametrize(
    "texts",
    [
        ["SELECT COUNT(*) FROM t WHERE age > 40",
         "SELECT COUNT(*) FILTER (WHERE age > 40) FROM t",
         "SELECT SUM(CASE WHEN age > 40 THEN 1 ELSE 0 END) FROM t",
         "SELECT COUNT(CASE WHEN age > 40 THEN sex END) FROM t",
         "SELECT COUNT(*) - COUNT(*) FILTER (WHERE age <= 40) FROM t",
         "SELECT COUNT(*) FROM (SELECT sex FROM t WHERE age > 40)",
         "WITH x AS (SELECT age - 40 AS y FROM t) SELECT COUNT(*) FROM x WHERE y > 0"],
        ["SELECT SUM(age * 2 + 1) FROM t", "SELECT 2 * SUM(age) + COUNT(*) FROM t",
         "SELECT SUM(age + age) + SUM(1) FROM t"],
        ["SELECT sex, COUNT(*) FROM t GROUP BY sex", "select SEX, count(1) from T group by 1",
         "WITH x AS (SELECT sex AS s FROM t) SELECT s, COUNT(s) FROM x GROUP BY s"],
        ["SELECT AVG(age) FROM t", "SELECT SUM(age) / COUNT(age) FROM t",
         "SELECT SUM(age) / COUNT(*) FROM t"],
    ],
    ids=range(4),
)  # fmt: skip
def test_statements(texts):
    assert len({parse(text, DOMAIN).blocks for text in texts}) == 1


def test_other_questions_do_not_meet():
    """Positive control."""
    texts = ["age > 40", "age > 41", "age >= 40", "age > 40 AND sex = 'Male'", "gain >= 1"]
    asked = {parse(f"SELECT COUNT(*) FROM t WHERE {c}", DOMAIN).blocks for c in texts}
    assert len(asked) == len(texts)
