"""Answers, budgets and histories as people look at them."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import eke
from eke.errors import AccuracyError, EstimateError, QueryError

TAGS = {
    *("div", "b", "br", "span", "small", "svg", "text", "polygon", "polyline"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text += data


def read_html(text: str) -> _Reader:
    """What a browser sees; only our own tags, and nothing that runs."""
    reader = _Reader()
    reader.feed(text)
    assert reader.tags <= TAGS
    assert not any(name.startswith("on") or name in ("src", "href") for name in reader.attributes)
    return reader


def test_one_answer_as_data(session):
    answer = session.ask(eke.count(sex="Female"), within=60)
    frame = answer.to_pandas()
    assert isinstance(frame, pd.DataFrame)
    assert frame.loc[0, "value"] == answer.value
    table = answer.to_arrow()
    assert isinstance(table, pa.Table)
    assert table.column("low")[0].as_py() == answer.interval[0]
    document = json.loads(answer.to_json())
    assert document == answer.to_dict()
    assert document["source"] == "paid"
    assert "posterior" not in repr(answer)


def test_a_table_as_data(session):
    answer = session.ask(eke.marginal("sex", "city"), within=60)
    frame = answer.to_pandas()
    assert list(frame.columns) == ["sex", "city", "value", "low", "high"]
    assert list(frame["value"]) == list(answer.values)
    table = answer.to_arrow()
    assert table.column_names == ["sex", "city", "value", "low", "high"]
    assert table.column("city")[0].as_py() == "<script>alert(1)</script>"


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        ("SELECT sex AS n_low, COUNT(*) AS n", ["n_low", "n", "n_low_2", "n_high"]),
        (
            "SELECT sex, COUNT(*) AS n, COUNT(age) AS n_high",
            ["sex", "n", "n_low", "n_high_2", "n_high", "n_high_low", "n_high_high"],
        ),
        (
            "SELECT sex AS n_low, COUNT(age) AS n_low_2, COUNT(*) AS n",
            ["n_low", "n_low_2", "n_low_2_low", "n_low_2_high", "n", "n_low_3", "n_high"],
        ),
    ],
)
def test_ends_of_intervals_take_no_name_of_a_column(session, asked, names):
    """Before, a column was lost in Arrow and JSON, and a file could not be written."""
    answer = session.ask(f"{asked} FROM people GROUP BY sex", within=200)
    assert answer.flat_columns == names
    assert list(answer.to_pandas().columns) == names
    assert answer.to_arrow().schema.names == names
    assert [list(row) for row in answer.to_dict()["rows"]] == [names] * 2
    assert answer.to_dict()["rows"][0][names[0]] == "Female"


def test_names_and_categories_are_escaped(new, people):
    hostile = '"><img src=x onerror=alert(1)>'
    session = new(
        domain=eke.Domain({hostile: eke.Categorical("<script>alert(1)</script>", "b & c", "d")}),
        data=people.rename(columns={"city": hostile}),
        analyst="<b onclick=x>ann</b>",
    )
    answer = session.ask(eke.count({hostile: "<script>alert(1)</script>"}), within=60)
    table = session.ask(eke.marginal(hostile), within=60)
    preview = session.preview(eke.count({hostile: "b & c"}), within=1)
    shown = [answer, table, preview, session.budget, session.history]
    for thing in shown:
        reader = read_html(thing._repr_html_())
        assert "<script" not in thing._repr_html_()
        assert "<img" not in thing._repr_html_()
        assert reader.text
    assert "<script>alert(1)</script>" in read_html(table._repr_html_()).text


def test_long_tables_are_cut_in_notebooks(session):
    answer = session.ask(eke.marginal("sex", "age", "city"), within=60)
    assert len(answer) == 60
    assert "10 more rows" in read_html(answer._repr_html_()).text


def test_an_answer_is_drawn(session):
    answer = session.ask(eke.count(), within=60)
    assert {"svg", "polygon", "polyline"} <= read_html(answer._repr_html_()).tags
    assert "paid" in answer._repr_html_()
    assert "free" in session.ask(eke.count(), within=60)._repr_html_()


def test_intervals_that_hold_together(session):
    one = session.ask(eke.count(sex="Female"), within=60)
    two = session.ask(eke.count(age=17), within=60)
    joint = eke.simultaneous([one, two], 0.95)
    for answer, (low, high) in zip((one, two), joint, strict=True):
        assert low < answer.interval[0]
        assert high > answer.interval[1]
        assert (low, high) == answer.posterior.interval(0.975)
    table = session.ask(eke.marginal("city"), within=60)
    together = table.simultaneous(0.9)
    assert len(together) == 3
    np.testing.assert_allclose(together[0], table.belief(0, 1).interval(1 - 0.1 / 3))


@pytest.mark.parametrize("confidence", [0, 1, -1, 2, float("nan")])
def test_bad_confidences_of_joint_intervals(session, confidence):
    answer = session.ask(eke.count(), within=60)
    with pytest.raises(AccuracyError):
        eke.simultaneous([answer], confidence)
    with pytest.raises(AccuracyError):
        eke.simultaneous([], 0.95)


def test_the_budget(session):
    budget = session.budget
    assert (budget.limit, budget.spent, budget.remaining) == (1.0, 0.0, 1.0)
    assert budget.epsilon() == 0.0
    answer = session.ask(eke.count(), within=60)
    budget = session.budget
    assert budget.spent == answer.cost
    assert budget.spent + budget.remaining == pytest.approx(1.0)
    assert budget.to_pandas().loc[0, "spent"] == budget.spent
    assert budget.to_arrow().column("limit")[0].as_py() == 1.0
    assert str(budget) in read_html(budget._repr_html_()).text
    assert str(budget) in repr(session)


def test_the_history(session):
    assert len(session.history) == 0
    assert "No measurement" in session.history._repr_html_()
    session.ask(eke.count(sex="Female"), within=60)
    session.ask(eke.marginal("city"), within=60, analyst="bob")
    history = session.history
    assert len(history) == 2
    assert [m.analyst for m in history] == ["ann", "bob"]
    frame = history.to_pandas()
    assert list(frame["cells"]) == [1, 3]
    assert list(frame["question"]) == ["count where sex = Female", "count by city"]
    assert history.to_arrow().num_rows == 2
    assert history[0].values[0] == frame.loc[0, "value"]
    assert history[:1] == (history[0],)
    read_html(history._repr_html_())


def test_estimates_from_history_are_free(session):
    session.ask(eke.marginal("sex"), within=60)
    spent = session.budget.spent
    history = session.history
    assert history.determines(eke.count())
    assert not history.determines(eke.count(age=17))
    assert history.estimate(eke.count()).value == pytest.approx(sum(history[0].values))
    for method in ("exact", "chebyshev", "convolution", "monte_carlo", "product"):
        assert history.estimate(eke.count(), posterior=method).variance > 0
    with pytest.raises(EstimateError, match="ask the question"):
        history.estimate(eke.count(age=17))
    with pytest.raises(QueryError, match="one question at a time"):
        history.estimate(eke.marginal("sex"))
    assert session.budget.spent == spent


def test_losses_by_cell(session):
    session.ask(eke.count(sex="Female"), within=60)
    session.ask(eke.total("age", sex="Male"), within=5000)
    losses = session.history.cell_losses()
    assert losses.shape == session.domain.shape
    assert losses.max() == pytest.approx(session.budget.spent)
    assert losses[0, 0, 0] == pytest.approx(np.log(20) / 60, rel=1e-4)
    assert losses[1, 9, 0] == pytest.approx(26 * np.log(20) / 5000, rel=1e-3)


def test_a_report_is_one_harmless_page(session, folder):
    answer = session.ask(eke.count(city="<script>alert(1)</script>"), within=60)
    table = session.ask(eke.marginal("city"), within=60)
    path = eke.write_report(session, folder / "report.html", [answer, table], title="<b>x</b>")
    page = path.read_text("utf-8")
    assert "<script" not in page
    assert "<b>x</b>" not in page
    assert "http" not in page.replace("http-equiv", "")
    assert "paid" in page
