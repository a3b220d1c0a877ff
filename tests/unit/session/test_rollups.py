"""ROLLUP, CUBE and GROUPING SETS, asked through a session."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from eke.errors import QueryError

SIZES = {("a", 1): 3000, ("a", 2): 1000, ("b", 1): 2000, ("b", 2): 500}
TOTAL = sum(SIZES.values())


@pytest.fixture
def session(tmp_path: Path) -> eke.Session:
    rows = [(*key, n % 10) for key, size in SIZES.items() for n in range(size)]
    domain = eke.Domain(k=eke.Categorical("a", "b"), j=eke.Integer(1, 2), x=eke.Integer(0, 9))
    frame = pd.DataFrame(rows, columns=["k", "j", "x"])
    return eke.create(tmp_path / "t.eke", data=frame, domain=domain, epsilon=20.0)


def test_every_row_is_as_accurate_as_asked_and_then_free(session):
    text = "SELECT k, j, COUNT(*) AS n FROM t GROUP BY ROLLUP (k, j)"
    paid = session.ask(text, within=40)
    assert not paid.free
    assert all((high - low) / 2 <= 40 for low, high in paid.intervals)
    assert paid.keys == (
        *SIZES,
        *(("a", None), ("b", None)),
        (None, None),
    )
    assert np.allclose(paid.values, [*SIZES.values(), 4000, 2500, TOTAL], atol=200)
    assert session.ask(text, within=40).free
    total = session.ask("SELECT COUNT(*) FROM t", within=40)
    assert total.free
    assert total.interval == pytest.approx(paid.intervals[-1])


def test_totals_are_not_bought_where_the_groups_give_them(session):
    session.ask("SELECT k, j, COUNT(*) FROM t GROUP BY k, j", within=20)
    text = "SELECT k, j, COUNT(*) AS n FROM t GROUP BY CUBE (k, j)"
    assert session.ask(text, within=60).free
    by_itself = session.preview("SELECT COUNT(*) FROM t WHERE x > 4", within=20)
    narrower = session.preview(text, within=20)
    assert 0.0 < narrower.cost < 3 * by_itself.cost  # three groupings, each of them in part


def test_rows_are_chosen_by_what_grouping_says(session):
    text = (
        "SELECT k, GROUPING(k) AS is_total, COUNT(*) AS n FROM t GROUP BY ROLLUP (k) "
        "HAVING GROUPING(k) = 1 OR COUNT(*) > 3000 ORDER BY is_total DESC, n DESC"
    )
    answer = session.ask(text, within=50)
    assert [row[:2] for row in answer.rows] == [(None, 1), ("a", 0)]
    assert list(answer.to_pandas()["is_total"]) == [1, 0]
    sentence = "Rows without a value of k may be totals over all of its values"
    assert any(sentence in caveat for caveat in answer.caveats)
    plain = session.ask("SELECT k, COUNT(*) FROM t GROUP BY k", within=50)
    assert not any(sentence in caveat for caveat in plain.caveats)


def test_averages_and_medians_of_totals(session):
    means = session.ask("SELECT k, AVG(x) AS m FROM t GROUP BY ROLLUP (k)", within=0.5)
    assert means.values == pytest.approx([4.5] * 3, abs=1.5)
    medians = session.ask("SELECT j, MEDIAN(x) AS m FROM t GROUP BY ROLLUP (j)", within=2)
    assert all(low <= 5 and high >= 4 for low, high in medians.intervals)


def test_a_window_looks_at_totals_as_it_looks_at_groups(session):
    text = (
        "SELECT k, j, COUNT(*) / SUM(COUNT(*)) OVER (PARTITION BY GROUPING(k, j)) AS s FROM t "
        "GROUP BY ROLLUP (k, j)"
    )
    answer = session.ask(text, within=0.05)
    shares = [*(size / TOTAL for size in SIZES.values()), 4000 / TOTAL, 2500 / TOTAL, 1.0]
    assert answer.values == pytest.approx(shares, abs=0.1)


def test_groups_that_a_condition_leaves_empty_are_not_shown(session):
    answer = session.ask("SELECT k, COUNT(*) FROM t WHERE k = 'a' GROUP BY ROLLUP (k)", within=99)
    assert answer.keys == (("a",), (None,))


def test_too_many_groups_are_refused_for_free(session):
    text = "SELECT COUNT(*) FROM t GROUP BY CUBE (k, j), CUBE (x, x % 2, x % 3, x % 4, x % 5)"
    with pytest.raises(QueryError, match="at most 512 can be asked at once"):
        session.ask(text, within=99)
    assert session.remaining == 20.0
