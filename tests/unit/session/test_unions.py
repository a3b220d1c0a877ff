"""Several SELECTs in one question: one plan, one accuracy, and answers as if asked one by one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke

DOMAIN = eke.Domain(
    age=eke.Integer(0, 99), sex=eke.Categorical("F", "M"), race=eke.Categorical("a", "b", "c")
)
BOTH = "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex UNION ALL SELECT 'all', COUNT(*) FROM t"


@pytest.fixture
def session(tmp_path: Path) -> eke.Session:
    rng = np.random.default_rng(3)
    rows = pd.DataFrame(
        {
            "age": rng.integers(0, 100, 4000),
            "sex": rng.choice(["F", "M"], 4000),
            "race": rng.choice(["a", "b", "c"], 4000),
        }
    )
    return eke.create(tmp_path / "t.eke", rows, DOMAIN, epsilon=20.0)


def test_each_select_is_free_afterwards_and_says_the_same(session: eke.Session) -> None:
    together = session.ask(BOTH, within=40)
    assert together.cost > 0
    groups = session.ask("SELECT sex, COUNT(*) AS n FROM t GROUP BY sex", within=40)
    total = session.ask("SELECT COUNT(*) FROM t", within=40)
    assert (groups.cost, total.cost) == (0, 0)
    values = together.to_pandas()["n"].tolist()
    assert values == [*groups.to_pandas()["n"].tolist(), total.value]
    assert together.to_pandas()["sex"].tolist() == ["F", "M", "all"]


def test_it_costs_no_more_than_one_by_one(session: eke.Session) -> None:
    price = session.preview(BOTH, within=40).cost
    groups = session.preview("SELECT sex, COUNT(*) AS n FROM t GROUP BY sex", within=40).cost
    total = session.preview("SELECT COUNT(*) FROM t", within=40).cost
    assert price < 0.999 * (groups + total)


def test_every_row_is_as_accurate_as_asked(session: eke.Session) -> None:
    text = (
        "SELECT sex, AVG(age) AS m FROM t GROUP BY sex "
        "UNION ALL SELECT race, AVG(age) FROM t GROUP BY race"
    )
    shown = session.ask(text, within=3).to_pandas()
    assert shown["sex"].tolist() == ["F", "M", "a", "b", "c"]
    assert (shown["m_high"] - shown["m_low"] <= 6.0 + 1e-6).all()


def test_quantiles_of_several_selects(session: eke.Session) -> None:
    text = (
        "SELECT sex, MEDIAN(age) AS m FROM t GROUP BY sex "
        "UNION ALL SELECT 'all', MEDIAN(age) FROM t"
    )
    shown = session.ask(text, within=5).to_pandas()
    assert ((shown["m_low"] <= 50) & (shown["m_high"] >= 48)).all()


def test_rows_of_the_same_answers_are_equal(session: eke.Session) -> None:
    once = "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex"
    assert len(session.ask(f"{once} UNION {once}", within=40).to_pandas()) == 2
    assert len(session.ask(f"{once} UNION ALL {once}", within=40).to_pandas()) == 4
    assert session.ask(f"{once} INTERSECT {once}", within=40).to_pandas()["sex"].tolist() == [
        "F",
        "M",
    ]
    men = f"{once} EXCEPT SELECT sex, COUNT(*) FROM t WHERE sex = 'F' GROUP BY sex"
    assert session.ask(men, within=40).to_pandas()["sex"].tolist() == ["M"]


def test_having_is_about_the_rows_of_its_select(session: eke.Session) -> None:
    text = (
        "SELECT sex, COUNT(*) AS n FROM t GROUP BY sex HAVING COUNT(*) > 1000000 "
        "UNION ALL SELECT race, COUNT(*) FROM t GROUP BY race HAVING COUNT(*) > 0 "
        "UNION ALL SELECT 'all', COUNT(*) FROM t"
    )
    assert session.ask(text, within=40).to_pandas()["sex"].tolist() == ["a", "b", "c", "all"]


def test_explanations_and_first_rows_do_not_count_the_selects(session: eke.Session) -> None:
    session.ask(BOTH, within=40)
    assert "rows of all SELECTs" in str(session.explain(BOTH))
    first = session.ask(f"{BOTH} ORDER BY n LIMIT 1", within=40)
    assert first.first is not None
    assert all(key in (("F",), ("M",), ("all",)) for key in first.first.others)
