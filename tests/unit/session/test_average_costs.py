"""What averages cost: about what they need, and no more than their previews say is likely."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eke
from benchmarks.averages import everything_known
from tests.parts import in_long

DOMAIN = eke.Domain(g=eke.Integer(0, 3), x=eke.Integer(0, 100))
ALL = "SELECT AVG(x) AS mean FROM t"
GROUPS = "SELECT g, AVG(x) AS mean FROM t GROUP BY g"


def table(rows: int, groups: int, mean: float) -> pd.DataFrame:
    draw = np.random.default_rng(rows)
    values = np.clip(draw.normal(mean, 15.0, rows).round(), 0, 100).astype(int)
    return pd.DataFrame({"g": np.arange(rows) % groups, "x": values})


def made(place: Path, data: pd.DataFrame, measure: str, limit: float) -> eke.Session:
    if measure == "rho":
        return eke.create(place, data, DOMAIN, rho=limit)
    return eke.create(place, data, DOMAIN, epsilon=limit)


@pytest.mark.parametrize("measure", ["epsilon", "rho"])
@pytest.mark.parametrize("limit", [in_long(1.0), 100.0])
def test_the_cost_does_not_follow_the_limit(folder: Path, measure: str, limit: float) -> None:
    """Before, the first look cost a percent of the limit: with 100, 500 times what is needed.

    The noise decides how lucky looks are: of three runs the middle one counts.
    """
    data = table(100_000, 1, 40.0)
    least, times, steps = everything_known(data, measure, 1.0), [], []
    for run in range(3):
        answer = made(folder / f"{run}.eke", data, measure, limit).ask(ALL, within=1.0)
        low, high = answer.interval
        assert high - low <= 2.0
        assert abs(answer.value - data.x.mean()) < 4.0
        times.append(answer.cost / least)
        steps.append(answer.receipt.steps)
    assert sorted(times)[1] <= 2.2
    assert max(times) <= 8.0
    assert max(steps) <= 7


@pytest.mark.parametrize("measure", ["epsilon", "rho"])
@pytest.mark.parametrize(
    ("rows", "groups", "mean", "within"),
    [
        (3000, 1, 5.0, 6.0),
        (40_000, 4, 90.0, 0.5),
        pytest.param(3000, 1, 5.0, 0.5, marks=pytest.mark.long),
        pytest.param(40_000, 4, 90.0, 6.0, marks=pytest.mark.long),
    ],
)
def test_it_costs_what_is_likely_or_less(
    folder: Path, measure: str, rows: int, groups: int, mean: float, within: float
) -> None:
    """Before anything is known, for 1,000 records; after an answer, for as many as there are."""
    session = made(folder / "t.eke", table(rows, groups, mean), measure, 20.0)
    asked = ALL if groups == 1 else GROUPS
    for at in (within, 0.6 * within):
        preview = session.preview(asked, within=at)
        assert preview.likely is not None
        assert preview.records is not None
        assert preview.first_step
        assert preview.cost <= preview.likely <= preview.most
        said = f"{preview.likely:.3g} or less where each average is one of {preview.records:,}"
        assert said in preview.explain()
        fewer = rows / groups < preview.records
        cost = session.ask(asked, within=at).cost
        assert fewer or cost <= preview.likely
    told = session.preview(asked, within=0.3 * within).records
    assert told is not None
    assert told > 0.7 * rows / groups, "history tells how many there are"


def test_what_is_likely_is_for_so_many_that_the_budget_pays(folder: Path) -> None:
    session = made(folder / "t.eke", table(1000, 1, 40.0), "epsilon", 1.0)
    small, large = (session.preview(ALL, within=within) for within in (1.0, 0.1))
    assert (small.records, large.records) == (1000, 10_000)
    assert session.preview(ALL + " WHERE g = 1", within=1e-12).likely is None
    assert "likely" not in eke.session.preview_document(
        session.preview("SELECT SUM(x * x) / SUM(x) FROM t", within=5)
    )


def test_a_likely_price_that_is_too_low_would_be_found(folder: Path) -> None:
    """The control: a tenth of what is said is not enough."""
    data = table(1000, 1, 95.0)
    session = made(folder / "t.eke", data, "epsilon", 50.0)
    preview = session.preview(ALL, within=1.0)
    assert preview.records == 1000
    assert preview.likely is not None
    assert session.ask(ALL, within=1.0).cost > 0.1 * preview.likely


def test_columns_beside_averages_are_paid_for_with_them(folder: Path) -> None:
    data = table(20_000, 4, 40.0)
    session = made(folder / "t.eke", data, "epsilon", 5.0)
    asked = "SELECT g, COUNT(*) AS n, AVG(x) AS mean, AVG(x) * 2 + 1 AS more FROM t GROUP BY g"
    answer = session.ask(asked, within=2)
    _, _, mean, _ = answer.rows[0]
    assert (mean.high - mean.low) / 2 <= 1.0
