"""Keys that follow from one another: two of one column, and what is selected of a key.

DuckDB gets the same text, as in `test_sql_values.py`. Groups that cannot be are not shown at all.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import eke
from eke.question import GroupKey
from eke.question.groupings import Following
from eke.question.groups import grouped
from eke.sql import parse
from tests.parts import parts
from tests.property.test_sql_values import compare
from tests.sql_adult import Adult

STATEMENTS = 300
PARTS = 5
OF_ONE = {
    "age": ("age", "age + 1", "FLOOR(age / 10)", "CAST(age AS VARCHAR)", "age % 3", "-age"),
    "sex": ("sex", "UPPER(sex)", "sex || '!'", "CASE WHEN sex = 'Male' THEN 1 ELSE 0 END"),
    "tier": ("tier", "CAST(tier AS VARCHAR)", "tier = 1", "CASE WHEN tier = 2 THEN 'b' END"),
    "education_num": ("education_num", "education_num + 0", "education_num IS NULL"),
}
OF_TWO = ("sex || income", "UPPER(sex) || LOWER(income)", "CASE WHEN tier = 1 THEN sex END")
# Of as many labels as the first of their columns has values, some of which are False or 0.
TRUTHS = (
    "sex = 'Male' OR income = '>50K'",
    "sex = 'Male' AND income = '>50K'",
    "NOT (sex = 'Male') OR tier = 1",
    "CASE WHEN sex = 'Female' AND income = '>50K' THEN 0 ELSE 1 END",
    "CASE WHEN sex = 'Female' AND tier < 3 THEN '' ELSE 'x' END",
    "CAST(sex = 'Male' OR income = '>50K' AS INTEGER)",
    "GREATEST(CAST(sex = 'Male' AS INTEGER), CAST(income = '>50K' AS INTEGER))",
    "IF(income = '>50K', TRUE, sex = 'Male')",
    "married OR sex = 'Male'",
    "CASE WHEN tier = 1 AND sex = 'Male' THEN 0 WHEN tier = 2 THEN 1 ELSE 2 END",
    "CASE WHEN age < 99 THEN 'u' ELSE 'v' END",
)


@pytest.fixture(scope="module")
def adult() -> Adult:
    return Adult()


def statement(chance: np.random.Generator) -> str:
    """Two or three keys, at least two of them of one column, in any order."""
    column = str(chance.choice([*OF_ONE]))
    keys = list(chance.choice(OF_ONE[column], 2, replace=False))
    others = [*OF_TWO, *(one for name in OF_ONE if name != column for one in OF_ONE[name])]
    if chance.random() < 0.4:
        keys.append(str(chance.choice(others)))
    chance.shuffle(keys)
    selected = ", ".join(f"{key} AS k{place}" for place, key in enumerate(keys))
    where = " WHERE age < 40 AND sex = 'Male'" if chance.random() < 0.3 else ""
    by = ", ".join(str(place + 1) for place in range(len(keys)))
    return f"SELECT {selected}, COUNT(*) AS n, SUM(age) AS s FROM adult{where} GROUP BY {by}"


@pytest.mark.parametrize("part", parts(PARTS))
def test_two_keys_of_one_column(adult: Adult, part: int) -> None:
    """N = 60 generated statements, 300 with the long ones."""
    chance = np.random.default_rng([31, part])
    for _ in range(STATEMENTS // PARTS):
        text = statement(chance)
        assert compare(adult, text) is None, text


@pytest.mark.parametrize("truth", TRUTHS)
def test_keys_that_are_true_or_false(adult: Adult, truth: str) -> None:
    for others in ((), ("sex",), ("income",), ("UPPER(income)", "tier"), ("FLOOR(age / 20)",)):
        keys = [truth, *others]
        selected = ", ".join(f"{key} AS k{place}" for place, key in enumerate(keys))
        by = ", ".join(str(place + 1) for place in range(len(keys)))
        text = f"SELECT {selected}, COUNT(*) AS n, SUM(age) AS s FROM adult GROUP BY {by}"
        assert compare(adult, text) is None, text


def test_a_condition_that_is_taken_for_its_first_column_is_noticed(
    adult: Adult, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control."""
    text = f"SELECT {TRUTHS[0]} AS k, COUNT(*) AS n FROM adult GROUP BY 1"
    assert compare(adult, text) is None
    monkeypatch.setattr("eke.sql.grouping._renamed_column", lambda *_: "sex")
    assert compare(adult, text) is not None


@pytest.mark.parametrize(
    ("first", "second"),
    [("age >= 30", "age > 29"), ("sex", "UPPER(sex)"), ("tier", "COALESCE(tier, 9)")],
)
def test_keys_of_the_same_values_are_rolled_up_by_themselves(
    adult: Adult, first: str, second: str
) -> None:
    """GROUPING tells the rows apart, which otherwise have the same keys."""
    for how in ("ROLLUP (x, y)", "CUBE (x, y)", "GROUPING SETS ((x), (y), (x, y))"):
        text = (
            f"SELECT GROUPING(x) AS gx, GROUPING(y) AS gy, {first} AS x, {second} AS y, "
            f"COUNT(*) AS n FROM adult GROUP BY {how}"
        )
        assert compare(adult, text) is None, text


def test_what_follows_from_the_keys(adult: Adult) -> None:
    for selected, keys in (
        ("UPPER(sex) AS k, sex", "sex"),
        ("sex, income, sex || '/' || income AS k", "sex, income"),
        ("age + 1 AS k, age", "age"),
        ("CASE WHEN tier = 1 THEN sex END AS k, LOWER(sex) AS m, tier, sex", "tier, sex"),
        ("education_num + 1 AS k, education_num", "education_num"),
        ("sex, sex || '!' AS k, COUNT(*) FILTER (WHERE age > 30) AS m", "ROLLUP (1, 2)"),
        ("-age AS k, age, FLOOR(age / 10) AS m, CAST(age AS VARCHAR) AS t", "2, 1, 3, 4"),
    ):
        text = f"SELECT {selected}, COUNT(*) AS n FROM adult GROUP BY {keys}"
        assert compare(adult, text) is None, text


def test_a_label_that_does_not_follow_is_noticed(
    adult: Adult, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control."""
    text = "SELECT sex AS k, UPPER(sex) AS m, COUNT(*) AS n FROM adult GROUP BY 1, 2"
    assert compare(adult, text) is None
    monkeypatch.setattr(Following, "label", lambda self, _: self.labels[0])
    assert compare(adult, text) is not None


def test_a_column_may_be_two_axes() -> None:
    """Whoever makes such keys by hand has the groups that cannot be, with nobody in them."""
    keys = [GroupKey.of_column(DOMAIN, "b"), GroupKey("again", "b", ("X", "Y", None))]
    block = grouped(eke.count().on(DOMAIN), keys)
    queries = list(block.queries())
    assert [query.is_zero for query in queries] == [place % 4 != 0 for place in range(9)]
    assert queries[4] == eke.count(b="y").on(DOMAIN)


DOMAIN = eke.Domain(a=eke.Integer(0, 5), b=eke.Categorical("x", "y", null="bucket"))
KEYS = {
    "a": lambda a, _: a,
    "a + 1": lambda a, _: a + 1,
    "FLOOR(a / 2)": lambda a, _: a // 2,
    "a % 2": lambda a, _: a % 2,
    "CASE WHEN a > 3 THEN 'high' ELSE b END": lambda a, b: "high" if a > 3 else b,
    "b": lambda _, b: b,
    "UPPER(b)": lambda _, b: b and b.upper(),
}


@pytest.mark.parametrize("keys", [k for k in product(KEYS, repeat=2) if k[0] != k[1]])
def test_groups_that_cannot_be_are_not_there(keys: tuple[str, str]) -> None:
    """The slow twin goes through all cells; what is of several columns may show some more."""
    text = f"SELECT {keys[0]} AS k, {keys[1]} AS m, COUNT(*) FROM t GROUP BY 1, 2"
    question = parse(text, DOMAIN)
    cells = product(range(6), ("x", "y", None))
    reached = {tuple(KEYS[key](a, b) for key in keys) for a, b in cells}
    labels = question.keys()
    shown = {labels[place] for place in question.places}
    is_of_two = any("CASE" in key for key in keys)
    assert shown >= reached if is_of_two else shown == reached
